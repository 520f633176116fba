"""Recipes that build artifacts and their manifest."""
