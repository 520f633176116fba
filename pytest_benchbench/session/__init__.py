"""The pytest side of a run."""
