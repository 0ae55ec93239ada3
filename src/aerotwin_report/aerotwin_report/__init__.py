# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sections of results as one offline HTML file and one JSON file with a schema.

It is independent of the results: every package describes its own result as a `Section`.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
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
    from aerotwin_report.writing import report_page, write_report
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
