# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which clusters a view may see, the nearest first."""

import numpy as np

from aerotwin_rendering.rasteriser.clusters import Clusters
from aerotwin_rendering.rasteriser.cull_kernels import Visible, find_visible
from aerotwin_rendering.rasteriser.lens import Lens
from aerotwin_rendering.rasteriser.views import CameraView


def pose_record(T_map_optical: np.ndarray) -> np.ndarray:
    """Return R_optical_map row by row and p_map_optical in one array (12,)."""
    T = np.asarray(T_map_optical, np.float64)
    return np.concatenate([T[:3, :3].T.ravel(), T[:3, 3]])


def visible_clusters(clusters: Clusters, view: CameraView, lens: Lens) -> Visible:
    """Return the clusters that a view may see, in its rows and the adjacent ones; nearest first."""
    first, last = view.row_range
    visible = find_visible(
        clusters,
        pose_record(view.T_map_optical),
        lens,
        float(view.near_m),
        float(view.far_m),
        max(first - 1, 0),
        min(last + 1, view.camera.height),
    )
    order = np.argsort(-visible.inverse_depth, kind="stable")
    return Visible(*(np.ascontiguousarray(array[order]) for array in visible))
