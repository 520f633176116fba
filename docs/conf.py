"""How Sphinx builds the documentation."""

from pytest_benchbench import __version__

project = "pytest-benchbench"
author = "the pytest-benchbench developers"
project_copyright = f"2026, {author}"
release = version = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build", "baselines/**"]  # reports as they were made, no pages
nitpicky = True

myst_heading_anchors = 3

html_theme = "furo"
html_title = f"{project} {release}"
html_extra_path = ["schema"]
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
