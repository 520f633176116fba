"""Detectors of AI text behind a vendor's paid interface: what they have in common, and one module for each vendor."""
