# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sections of results as one offline HTML file and one JSON file with a schema.

It is independent of the results: every package describes its own result as a `Section`.
"""

from aerotwin_core.section import (
    Figure,
    Headline,
    PathLayer,
    PointLayer,
    ReportLink,
    ReportScene,
    Section,
    Table,
)
from aerotwin_report.comparison import comparison_section, write_comparison
from aerotwin_report.metrics import SCHEMA_VERSION, metrics_document, schema, schema_of
from aerotwin_report.runs import Run, load_run, load_runs
from aerotwin_report.schema_check import faults, measures
from aerotwin_report.writing import write_report

__all__ = [
    "SCHEMA_VERSION",
    "Figure",
    "Headline",
    "PathLayer",
    "PointLayer",
    "ReportLink",
    "ReportScene",
    "Run",
    "Section",
    "Table",
    "comparison_section",
    "faults",
    "load_run",
    "load_runs",
    "measures",
    "metrics_document",
    "schema",
    "schema_of",
    "write_comparison",
    "write_report",
]
