# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A study: many runs of several methods on several sequences, including failed runs."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_comparison.study.protocol import PRESETS, StudyProtocol, load_study_protocol
    from aerotwin_comparison.study.results import Study, evaluate_study
    from aerotwin_comparison.study.runs import StudyRun, load_study, runs_of_folders
    from aerotwin_comparison.study.section import study_section
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
