# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Configuration of the documentation site, which `make docs` builds into build/docs."""

import sys
from pathlib import Path

from aerotwin_core.version import version_line

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "aerotwin"
author = "aerotwin contributors"
project_copyright = "2026 aerotwin contributors"
release = version = version_line().split()[1].rstrip(",")

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "code_reference"]
# Generated pages that another page includes; a working document that goes.
exclude_patterns = ["extensions", "reference/generated/included"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# A single backtick in a docstring is a name: a link where the name is documented here.
default_role = "py:obj"
highlight_language = "text"

autodoc_typehints = "none"  # numpydoc tells the types, with their shapes and units
autodoc_class_signature = "separated"
numpydoc_show_class_members = False
# The same parameter name explained twice is no error.
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = f"aerotwin {release}"
html_copy_source = False
html_show_sphinx = False
