"""Unmarked sources: drawn by formula, or photographs with their provenance."""
