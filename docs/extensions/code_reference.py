# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: writes the reference pages from the code before Sphinx reads the sources.

Pages go to docs/reference/generated, which git ignores. A page is written only when its text
changed, so that a second build reads only what is new.
"""

from pathlib import Path
from typing import Any

from parameter_pages import parameter_pages
from python_pages import escape_bars, python_pages
from reference_tables import launch_page, metrics_page, packages_table, topics_page
from verb_page import verb_page

GENERATED = "reference/generated"


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", escape_bars)
    return {"version": "1", "parallel_read_safe": True}


def write_reference(app: Any) -> None:
    """Write all generated pages, and remove those whose package is no more."""
    root = Path(app.srcdir).parent
    pages = {
        "included/verbs.md": verb_page(),
        "included/launch_files.md": launch_page(root / "launch"),
        "included/packages.md": packages_table(root / "src"),
        "included/topics.md": topics_page(root / "src"),
        "included/metrics.md": metrics_page(root / "src"),
        **{f"parameters/{name}.md": text for name, text in parameter_pages(root / "src").items()},
        **{f"api/{name}.rst": text for name, text in python_pages(root / "src").items()},
    }
    folder = Path(app.srcdir) / GENERATED
    for path in folder.rglob("*.*"):
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
