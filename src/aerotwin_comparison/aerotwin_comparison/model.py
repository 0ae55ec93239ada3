# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference model of maps."""

from dataclasses import dataclass

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_map_evaluation import MapProtocol
from aerotwin_map_evaluation.inputs import reference_of
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_voxel_cloud import load_map


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model; `origin` is its geodetic origin where known, `notes` list problems of its file."""

    reference: MapReference
    origin: GeodeticPoint | None
    notes: tuple[str, ...] = ()


def load_model(
    spec: str,
    protocol: MapProtocol,
    *,
    unit: str = "",
    unit_option: str = "",
    drop_invalid: bool = False,
) -> Model:
    """Return the model of a world, mesh, tileset, cloud, binvox or bag.

    The protocol sets the size of its voxels; unit, unit_option and drop_invalid are those of
    `aerotwin_voxel_cloud.load_map`.

    Raises
    ------
    UserError
        If there is no such source, or it is damaged or empty.
    """
    provided = load_map(spec, unit=unit, unit_option=unit_option, drop_invalid=drop_invalid)
    surface, points = reference_of(provided, None)
    reference = MapReference.of(surface, points, protocol, edge_m=provided.edge_m)
    notes = tuple(f"{spec}: {note}" for note in provided.notes)
    return Model(reference=reference, origin=provided.origin, notes=notes)
