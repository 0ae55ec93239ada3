# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Submaps: the part of a cloud around each vertex of a path, as a robot there uses it."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.submaps.cropping import (
        CroppedSubmaps,
        crop_submaps,
        submap_holders,
        visible_from,
    )
    from aerotwin_teach_repeat.submaps.grid_cloud import GridCloud, SubmapProtocol
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
