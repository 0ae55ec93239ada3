# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the page of topics and services, as a reader of the documentation gets them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
COLUMNS = ["topic", "type", "frame", "QoS", "rate [Hz]", "from", "only with"]
_CAPITALS = re.compile(r"[A-Z]+")


@dataclass(frozen=True)
class DocumentedTopic:
    """One row: a topic of one publisher."""

    name: str
    msgtype: str
    frame: str
    qos: str
    rate_hz: float | None
    node: str
    only_with: str

    def matched(self, name: str) -> dict[str, str] | None:
        """Return what the words in capitals stand for in a topic's full name; None if not it."""
        names = _CAPITALS.findall(self.name)
        pattern = _CAPITALS.sub(lambda m: f"(?P<{m[0]}>[a-z][a-z0-9_]*)", self.name.lstrip("/"))
        found = re.fullmatch(f"/{pattern}", name)
        return None if found is None else {n: found[n] for n in names}

    def frames(self, found: dict[str, str]) -> tuple[str, ...]:
        """Return the frame, and the child frame if there is one."""
        frame = self.frame
        for word, name in found.items():
            frame = frame.replace(word, name)
        return tuple(frame.split(" -> ")) if frame else ()


def page_of_topics() -> str:
    """Return the page with what is generated into it."""
    made = _generated("from reference_tables import topics_page as made")
    return (DOCS / "reference" / "topics.md").read_text("utf-8") + made


def page_of_parameters(package: str) -> str:
    """Return the generated page of the parameters of a package."""
    return _generated(
        f"import parameter_pages\nmade = lambda s: parameter_pages.parameter_pages(s)['{package}']"
    )


def _generated(imports: str) -> str:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        f"from pathlib import Path\n{imports}\nprint(made(Path(sys.argv[2])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(DOCS / "extensions"), str(DOCS.parent / "src")],
        capture_output=True, text=True, check=True, timeout=120.0,
    )  # fmt: skip
    return done.stdout


def rows_below(page: str, columns: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (heading, cells) of the rows of the tables with these columns, without backticks."""
    heading, is_inside = "", False
    for line in page.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if not line.startswith("|"):
            is_inside = False
            continue
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if cells == columns:
            is_inside = True
        elif is_inside and not set("".join(cells)) <= set("- "):
            yield heading, cells


def documented_topics(page: str, headings: set[str]) -> list[DocumentedTopic]:
    """Return the rows of all tables of topics below these headings."""
    rows = []
    for heading, (name, msgtype, frame, qos, rate, node, only_with) in rows_below(page, COLUMNS):
        if heading in headings:
            hz = float(rate) if rate else None
            rows.append(DocumentedTopic(name, msgtype, frame, qos, hz, node, only_with))
    return rows
