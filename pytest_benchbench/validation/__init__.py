"""Rules over a whole dataset: what a single row, sound by itself, cannot show."""
