"""The built-in suites: what a bare manifest runs."""
