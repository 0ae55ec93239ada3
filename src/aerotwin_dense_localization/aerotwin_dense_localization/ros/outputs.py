# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Results as messages; pure functions."""

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from aerotwin_core.frames import transform_points
from aerotwin_core.ros.conversions import stamp_from_ns
from aerotwin_dense_localization.localization import ImageLocalization, Status
from aerotwin_dense_localization.mapping import StereoKeyframe

PREVIEW_STEP_PX = 8  # of a key-frame every n-th pixel of a row and of a column is shown
_LEVELS = {Status.RELOCALIZED: DiagnosticStatus.WARN, Status.LOST: DiagnosticStatus.ERROR}


def status_message(stamp_ns: int, found: ImageLocalization, node_name: str) -> DiagnosticArray:
    """Return how an image was localised: `tracked`, or `lost: why`, with its values."""
    values = {
        "status": str(found.status),
        "reason": found.reason,
        "correlation": f"{found.correlation:.3f}",
        "overlap": f"{found.overlap:.3f}",
    }
    status = DiagnosticStatus(
        level=_LEVELS.get(found.status, DiagnosticStatus.OK),
        name=node_name,
        message=f"{found.status}: {found.reason}" if found.reason else str(found.status),
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    message = DiagnosticArray(status=[status])
    message.header.stamp = stamp_from_ns(stamp_ns)
    return message


def preview_points(keyframe: StereoKeyframe) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) [m] in the map and grey values (n,) of some pixels of a key-frame."""
    some = np.s_[PREVIEW_STEP_PX // 2 :: PREVIEW_STEP_PX]
    depth = keyframe.depth[some, some]
    rows, columns = np.nonzero(np.isfinite(depth))
    pixels = np.column_stack([columns, rows]) * PREVIEW_STEP_PX + PREVIEW_STEP_PX // 2
    points = keyframe.camera.unproject(pixels, depth[rows, columns])
    grey = keyframe.grey[pixels[:, 1], pixels[:, 0]]
    return transform_points(keyframe.T_map_optical, points).astype(np.float32), grey
