# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings as data sets for SLAMs made by others, and such data sets as recordings."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_datasets.formats import Exported, export_bag, export_settings, import_dataset
    from aerotwin_datasets.recording import ImuNoise, Recording
    from aerotwin_datasets.recording_reader import read_recording
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
