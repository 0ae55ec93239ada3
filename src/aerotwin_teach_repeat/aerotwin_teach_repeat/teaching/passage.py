# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a vehicle cannot follow a path: too steep, too high a step, too narrow."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_teach_repeat.submaps import GridCloud, SubmapProtocol
from aerotwin_teach_repeat.teaching.ground import GroundGrid

SIDE_M = 2.5
"""Free room beside the vehicle is reported up to this [m]."""
FINE_M = 0.1
"""Several points in a cube of this edge count once: obstacles do not depend on density."""
FEWEST_POINTS = 2
"""Points of an obstacle: a single one is noise of a reconstruction."""


@dataclass(frozen=True, kw_only=True)
class VehicleOutline:
    """Outline and limits of a vehicle. The defaults are Clearpath's Warthog (data sheet 2021)."""

    length_m: float = parameter(1.52, text="Of the outline.", unit="m", minimum=0.1, maximum=20)
    width_m: float = parameter(1.38, text="Of the outline.", unit="m", minimum=0.1, maximum=10)
    height_m: float = parameter(
        1.3, text="With its sensors; what hangs lower blocks it.", unit="m", minimum=0.1, maximum=10
    )
    max_slope_deg: float = parameter(
        25.0, text="Steepest ground in any direction.", unit="deg", minimum=1.0, maximum=60.0
    )
    max_step_m: float = parameter(
        0.2, text="Highest step, and lowest obstacle.", unit="m", minimum=0.01, maximum=2.0
    )
    min_clearance_m: float = parameter(
        0.2, text="Free room to both sides.", unit="m", minimum=0.0, maximum=SIDE_M
    )


@dataclass(frozen=True, kw_only=True)
class Obstruction:
    """A stretch of a path, from `from_m` to `to_m` along it [m], that exceeds a limit.

    `what` is "slope", "step" or "clearance", `worst` and `limit` are in `unit`, and `p_map` (3,) is
    the position of the worst value [m].
    """

    what: str
    from_m: float
    to_m: float
    worst: float
    limit: float
    unit: str
    p_map: np.ndarray

    @property
    def text(self) -> str:
        """The stretch as text."""
        x, y, z = self.p_map
        bound = "at least" if self.what == "clearance" else "at most"
        return (
            f"{self.from_m:.1f} to {self.to_m:.1f} m: {self.what} {self.worst:.2f} {self.unit}, "
            f"must be {bound} {self.limit:g} {self.unit}; worst at ({x:.1f}, {y:.1f}, {z:.1f}) m"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Traversability:
    """Demands of a path on a vehicle, at each of its n poses.

    Attributes
    ----------
    s_m, p_map : (n,) and (n, 3) arrays
        Path length and position [m].
    slope_deg, step_m : (n,) arrays
        Slope of the ground in its steepest direction, and largest difference of neighbouring
        heights under the outline, without the slope's share.
    clearance_m : (n,) array
        Free room beside the outline, on the narrower side; negative if something is inside,
        at most `SIDE_M`.
    """

    s_m: FloatArray
    p_map: FloatArray
    slope_deg: FloatArray
    step_m: FloatArray
    clearance_m: FloatArray
    vehicle: VehicleOutline

    @property
    def is_passable(self) -> np.ndarray:
        """Poses that the vehicle can pass, (n,) bool."""
        return ~np.any([excess > 0.0 for _, excess, *_ in self._criteria()], axis=0)

    @property
    def obstructions(self) -> tuple[Obstruction, ...]:
        """Every stretch that exceeds a limit, in the order of the path."""
        found = []
        for what, excess, values, limit, unit in self._criteria():
            for start, stop in _runs(excess > 0.0):
                worst = start + int(np.argmax(excess[start:stop]))
                found.append(
                    Obstruction(
                        what=what,
                        from_m=float(self.s_m[start]),
                        to_m=float(self.s_m[stop - 1]),
                        worst=float(values[worst]),
                        limit=limit,
                        unit=unit,
                        p_map=self.p_map[worst],
                    )
                )
        return tuple(sorted(found, key=lambda one: (one.from_m, one.what)))

    def metrics(self) -> dict[str, Any]:
        """Return the metrics as plain values."""
        return {
            "passable_share": float(self.is_passable.mean()),
            "max_slope_deg": float(self.slope_deg.max()),
            "max_step_m": float(self.step_m.max()),
            "min_clearance_m": float(self.clearance_m.min()),
            "obstructions": [
                {name: value for name, value in vars(one).items() if name != "p_map"}
                for one in self.obstructions
            ],
        }

    def _criteria(self) -> list[tuple[str, FloatArray, FloatArray, float, str]]:
        """Return name, excess over the limit, values, limit and unit of each criterion."""
        v, room = self.vehicle, self.clearance_m
        return [
            ("slope", self.slope_deg - v.max_slope_deg, self.slope_deg, v.max_slope_deg, "deg"),
            ("step", self.step_m - v.max_step_m, self.step_m, v.max_step_m, "m"),
            ("clearance", v.min_clearance_m - room, room, v.min_clearance_m, "m"),
        ]


def traversability(
    poses_map: FloatArray,
    s_m: FloatArray,
    points_map: np.ndarray,
    ground: GroundGrid,
    vehicle: VehicleOutline | None = None,
) -> Traversability:
    """Return the demands of a path through a cloud on a vehicle.

    `poses_map` (n, 4, 4) are T_map_base of a vehicle on the ground, `s_m` (n,) their path lengths,
    `points_map` (m, 3) the cloud from which `ground` was made [m]. Twigs, wires and high grass
    count as obstacles where the cloud shows them.
    """
    vehicle = VehicleOutline() if vehicle is None else vehicle
    return Traversability(
        s_m=s_m,
        p_map=poses_map[:, :3, 3],
        slope_deg=np.degrees(np.arccos(np.clip(poses_map[:, 2, 2], -1.0, 1.0))),
        step_m=_steps(poses_map, ground, vehicle),
        clearance_m=_clearances(poses_map, points_map, vehicle),
        vehicle=vehicle,
    )


def _steps(poses_map: FloatArray, ground: GroundGrid, vehicle: VehicleOutline) -> FloatArray:
    """Return the largest step between neighbouring cells under the outline at each pose [m]."""
    reach = float(np.hypot(vehicle.length_m, vehicle.width_m)) / 2.0
    offsets, heights = ground.patch(poses_map[:, :2, 3], reach)
    n = int(np.sqrt(heights.shape[1]))
    ahead = poses_map[:, :2, 0] / np.linalg.norm(poses_map[:, :2, 0], axis=1, keepdims=True)
    along = np.einsum("kma,ka->km", offsets, ahead)
    across = offsets[..., 1] * ahead[:, None, 0] - offsets[..., 0] * ahead[:, None, 1]
    inside = (np.abs(along) <= vehicle.length_m / 2.0) & (np.abs(across) <= vehicle.width_m / 2.0)
    normal = poses_map[:, :3, 2]
    plane = -np.einsum("kma,ka->km", offsets, normal[:, :2]) / normal[:, 2:]
    above = np.where(inside, heights - poses_map[:, 2, 3, None] - plane, np.nan).reshape(-1, n, n)
    steps = [np.abs(np.diff(above, axis=axis)).reshape(len(above), -1) for axis in (1, 2)]
    return np.max(np.nan_to_num(np.concatenate(steps, axis=1), nan=0.0), axis=1)


def _clearances(
    poses_map: FloatArray, points_map: np.ndarray, vehicle: VehicleOutline
) -> FloatArray:
    """Return the free room beside the outline at each pose [m]."""
    across = vehicle.width_m / 2.0 + SIDE_M
    protocol = SubmapProtocol(
        radius_m=float(np.hypot(vehicle.length_m / 2.0, across)),
        below_m=0.0,
        above_m=vehicle.height_m,
        voxel_m=FINE_M,
    )
    up = np.broadcast_to([0.0, 0.0, 1.0], np.shape(points_map))  # normals, which are not used
    cloud = GridCloud.of(points_map, up, near_map=poses_map[:, :3, 3], protocol=protocol)
    room = np.full(len(poses_map), SIDE_M)
    for k, T in enumerate(poses_map):
        x, y, z = cloud.crop(T, protocol)[0].T
        blocks = (np.abs(x) <= vehicle.length_m / 2.0) & (z > vehicle.max_step_m)
        beside = np.sort(np.abs(y[blocks])) - vehicle.width_m / 2.0
        if len(beside) >= FEWEST_POINTS:
            room[k] = min(float(beside[FEWEST_POINTS - 1]), SIDE_M)
    return room


def _runs(is_bad: np.ndarray) -> list[tuple[int, int]]:
    """Return (start, stop) of the stretches where a mask is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_bad.astype(np.int8), [0]])))
    return list(pairwise(edges.tolist()))[::2]
