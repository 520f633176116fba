"""Evidence summed into tables."""
