# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The model that maps are measured against."""

import numpy as np

from aerotwin_map_evaluation import SurfaceReference


def load_model(source: str) -> tuple[SurfaceReference | None, np.ndarray | None]:
    """Return the surface of a world, mesh or tileset, or the points (m, 3) of a cloud or binvox.

    One of the two is None.

    Raises
    ------
    UserError
        If there is no such source, or it is damaged or empty.
    """
    from aerotwin_voxel_cloud import Surface
    from aerotwin_voxel_cloud.sources import load_reference

    found = load_reference(source)
    if isinstance(found, Surface):
        return SurfaceReference(found.vertices, found.triangles), None
    return None, found
