# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The model that maps are measured against."""

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_map_evaluation import MapProtocol
from aerotwin_map_evaluation.inputs import reference_of
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_voxel_cloud import load_map


def load_model(spec: str, protocol: MapProtocol) -> tuple[MapReference, GeodeticPoint | None]:
    """Return a model and, where it is known, the place on Earth of its origin.

    Parameters
    ----------
    spec : str
        World, mesh, tileset, cloud, binvox or bag.
    protocol : MapProtocol
        Size of its voxels.

    Raises
    ------
    UserError
        If there is no such source, or it is damaged or empty.
    """
    given = load_map(spec)
    surface, points = reference_of(given, None)
    return MapReference.of(surface, points, protocol, edge_m=given.edge_m), given.origin
