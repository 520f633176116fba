"""Transforms with every parameter on record."""
