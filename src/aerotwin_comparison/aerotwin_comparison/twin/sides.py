# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The two sides of a twin: a SLAM's map, its path, and its camera."""

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_comparison.run_folder import RunFolder
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.trajectory import Trajectory
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
    `aerotwin_voxel_cloud.load_map`. Raises UserError if there is no such source, or it is damaged
    or empty.
    """
    provided = load_map(spec, unit=unit, unit_option=unit_option, drop_invalid=drop_invalid)
    surface, points = reference_of(provided, None)
    reference = MapReference.of(surface, points, protocol, edge_m=provided.edge_m)
    notes = tuple(f"{spec}: {note}" for note in provided.notes)
    return Model(reference=reference, origin=provided.origin, notes=notes)


KINDS = ("simulated", "real")


@dataclass(frozen=True, kw_only=True)
class SensingConditions:
    """Table I of Beam et al. (2024); None where unknown.

    `field_of_view_deg` is across the width, between the centres of the outer pixels' outer edges;
    width and height are in px; `rate_hz` is frames per second of simulated (or recorded) time.
    """

    field_of_view_deg: float | None = None
    width: int | None = None
    height: int | None = None
    rate_hz: float | None = None
    n_frames: int | None = None

    def plain(self) -> dict[str, float | int | None]:
        """Return the numbers for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class TwinSide:
    """One side of a twin; `label` is its name in tables and legends.

    Attributes
    ----------
    points_odom : (n, 3) array
        All points of the map, in its own frame [m].
    trajectory : Trajectory or None
        Path of the body in the same frame.
    kind : str or None
        One of `KINDS`; None if unknown.
    T_reference_odom : (4, 4) array or None
        Known pose of that frame in the model's: the start of the alignment.
    origin : GeodeticPoint or None
        Geodetic origin of that frame, for maps that have one.
    source, notes : str, tuple of str
        File or folder, and its problems.
    settings : dict
        Parts of its configuration to compare: wind, camera preset, seed.
    """

    label: str
    points_odom: np.ndarray
    trajectory: Trajectory | None = None
    kind: str | None = None
    T_reference_odom: np.ndarray | None = None
    origin: GeodeticPoint | None = None
    sensing: SensingConditions = field(default_factory=SensingConditions)
    source: str = ""
    notes: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)


_SETTINGS = (
    *("world", "mission.file", "seed", "slam"),
    *("camera.preset", "camera.noise", "camera.baseline_m"),
    *("wind.east_m_s", "wind.north_m_s", "wind.turbulence_m_s"),
)


def side_of_run(run: RunFolder, label: str) -> TwinSide:
    """Return a side from a run folder; its alignment starts at the true start of the flight.

    Raises
    ------
    UserError
        If the run holds no map or no path.
    """
    info, stamps_ns = run.camera_infos()
    return TwinSide(
        label=label,
        points_odom=run.map_points(),
        trajectory=run.estimate(),
        kind="simulated" if run.is_flight else None,
        T_reference_odom=run.start_pose(),
        sensing=_sensing(info, stamps_ns),
        source=str(run.path),
        settings=_settings(run),
    )


def _settings(run: RunFolder) -> dict[str, Any]:
    """Return the parameters to compare; files by their names."""
    found = {name: run.parameters[name] for name in _SETTINGS if name in run.parameters}
    return {
        name: Path(value).name if isinstance(value, str) and "/" in value else value
        for name, value in found.items()
    }


def side_of_files(
    cloud: str | Path,
    label: str,
    *,
    trajectory: str | None = None,
    unit: str = "",
    drop_invalid: bool = False,
) -> TwinSide:
    """Return a side from a cloud file and, optionally, a trajectory in the same frame.

    Parameters
    ----------
    cloud : path
        Any cloud, or topic of a bag, that `aerotwin_voxel_cloud.load_map` reads.
    trajectory : str, optional
        TUM, KITTI or EuRoC file, bag, or ``BAG:TOPIC``; always in metres.
    unit : str
        Of the cloud: one of `aerotwin_voxel_cloud.METRES_PER_UNIT`, or metres; "": as in the file.
    drop_invalid : bool
        Leave out and count points that are NaN or infinite, instead of an error.
    """
    from aerotwin_voxel_cloud import load_map

    provided = load_map(cloud, unit=unit, drop_invalid=drop_invalid)
    path = None if trajectory is None else read_path(trajectory)
    return TwinSide(
        label=label,
        points_odom=provided.points.astype(np.float64),
        trajectory=path,
        origin=provided.origin,
        source=str(cloud),
        notes=tuple(f"{cloud}: {note}" for note in provided.notes),
    )


def read_path(spec: str) -> Trajectory:
    """Return a trajectory of a file, of a bag, or of ``BAG:TOPIC``."""
    from aerotwin_trajectory_evaluation import read_trajectory

    path, colon, topic = spec.partition(":")
    if not colon or Path(spec).exists():
        return read_trajectory(spec)
    if not Path(path).exists():
        raise UserError(f"{path}: no such file; give a trajectory, a bag or BAG:TOPIC")
    return read_trajectory(path, topic=topic)


def _sensing(info: Any, stamps_ns: np.ndarray) -> SensingConditions:
    if info is None or len(stamps_ns) < 2:
        return SensingConditions()
    return SensingConditions(
        field_of_view_deg=_field_of_view_deg(info),
        width=int(info.width),
        height=int(info.height),
        rate_hz=1e9 / float(np.median(np.diff(np.sort(stamps_ns)))),
        n_frames=len(stamps_ns),
    )


def _field_of_view_deg(info: Any) -> float | None:
    """Return the angle across the width; None where distortion changes it."""
    focal_px, centre_px = float(info.k[0]), float(info.k[2])
    if not focal_px > 0.0 or np.any(np.asarray(info.d) != 0.0):
        return None
    left, right = centre_px + 0.5, info.width - 0.5 - centre_px
    return math.degrees(math.atan(left / focal_px) + math.atan(right / focal_px))
