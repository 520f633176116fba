"""Unmarked sources."""
