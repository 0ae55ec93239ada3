# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write a report: `report.html` and `metrics.json`, each atomically."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.section import Section
from aerotwin_report.html import render_page
from aerotwin_report.metrics import metrics_document


def write_report(
    folder: str | Path,
    *,
    title: str,
    sections: Sequence[Section],
    configuration: Mapping[str, Any],
    warnings: Sequence[str] = (),
    seed: int | None = None,
    world: Mapping[str, str] | None = None,
    summary: str = "",
    created: datetime | None = None,
) -> Path:
    """Write `report.html` and `metrics.json` into a folder and return the path of the former.

    Parameters
    ----------
    folder : path
        Created if missing.
    title, summary : str
        Heading, and one or two sentences below it.
    sections : sequence of Section
        In the order of the page; all headlines are at its top.
    configuration : mapping
        Everything needed to repeat the run.
    warnings : sequence of str
        Reasons why the run is partial or not repeatable: shown in a banner before all numbers.
    seed : int, optional
        Of the run; `configuration["seed"]` by default.
    world : mapping, optional
        `name`, `attribution` and `licence` of the world.
    created : datetime, optional
        With time zone; now by default.

    Raises
    ------
    ValueError
        If two sections have one name, or a picture contains scripts or external references.
    """
    page, document = report_page(
        title=title,
        sections=sections,
        configuration=configuration,
        warnings=warnings,
        seed=seed,
        world=world,
        summary=summary,
        created=created,
    )
    folder = Path(folder)
    text = json.dumps(document, indent=2, sort_keys=True, allow_nan=False) + "\n"
    write_text_atomically(folder / "metrics.json", text)
    write_text_atomically(folder / "report.html", page)
    return folder / "report.html"


def report_page(
    *,
    title: str,
    sections: Sequence[Section],
    configuration: Mapping[str, Any],
    warnings: Sequence[str] = (),
    seed: int | None = None,
    world: Mapping[str, str] | None = None,
    summary: str = "",
    created: datetime | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the page of a report, and its document for JSON; parameters as `write_report`."""
    created = created or datetime.now(UTC).astimezone()
    provided = configuration.get("seed")
    seed = provided if seed is None and isinstance(provided, int) else seed
    document = metrics_document(
        title=title,
        summary=summary,
        created=created.isoformat(timespec="seconds"),
        sections=sections,
        configuration=configuration,
        warnings=warnings,
        seed=seed,
        world=world,
    )
    page = render_page(document, sections=sections, summary=summary, created=created)
    return page, document
