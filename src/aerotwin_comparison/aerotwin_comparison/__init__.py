# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons with confidence: a twin of two flights, a study of many runs.

`compare_twins` decides whether a SLAM maps a simulated place as well as the real one (Beam et al.
2024): both maps against one model, differences with intervals and a margin. `evaluate_study` scores
many runs of several methods on several sequences, failures included, with significance.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_comparison.run_folder import RunFolder, open_run_folder
    from aerotwin_comparison.study import (
        Study,
        StudyProtocol,
        StudyRun,
        evaluate_study,
        load_study,
        study_section,
    )
    from aerotwin_comparison.twin import (
        SensingConditions,
        TwinComparison,
        TwinProtocol,
        TwinSide,
        compare_twins,
        twin_section,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
