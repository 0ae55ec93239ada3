# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A study: many runs of several methods on several sequences, including failed runs."""

from aerotwin_comparison.study.protocol import PRESETS, StudyProtocol, load_study_protocol
from aerotwin_comparison.study.results import Study, evaluate_study
from aerotwin_comparison.study.runs import StudyRun, load_study, runs_of_folders
from aerotwin_comparison.study.section import study_section

__all__ = [
    "PRESETS",
    "Study",
    "StudyProtocol",
    "StudyRun",
    "evaluate_study",
    "load_study",
    "load_study_protocol",
    "runs_of_folders",
    "study_section",
]
