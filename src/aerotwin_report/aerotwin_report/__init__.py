# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sections of results as one offline HTML file and one JSON file with a written schema.

It knows nothing of what is reported: every package describes its own result as a `Section`.
"""

from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_report.metrics import SCHEMA_VERSION, metrics_document, schema, versions
from aerotwin_report.writing import write_report

__all__ = [
    "SCHEMA_VERSION",
    "Figure",
    "Headline",
    "Section",
    "Table",
    "metrics_document",
    "schema",
    "versions",
    "write_report",
]
