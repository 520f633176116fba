"""Pure numbers: intervals and order statistics. Imports no other room."""
