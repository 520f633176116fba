"""A policy applied to evidence."""
