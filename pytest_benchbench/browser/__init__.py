"""The deployed extension as a scorer: a real browser, driven over its debugging protocol."""
