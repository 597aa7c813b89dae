# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration; built by make docs."""

import farfield

project = "Farfield"
copyright = "The Farfield authors"
version = release = farfield.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3  # links to headings, named as on the pages of a repository
exclude_patterns = ["_build", "requirements.lock"]
html_theme = "furo"
html_title = "Farfield"
