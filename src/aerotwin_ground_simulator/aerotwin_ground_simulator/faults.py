# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a drive: the lidar is silent, its view is blocked, the robot is moved."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.angles import wrap_deg
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters, parameter


@dataclass(frozen=True, kw_only=True)
class LidarSilence:
    """Scans that end within a time are lost."""

    from_s: float = parameter(text="beginning", unit="s", minimum=0.0)
    until_s: float = parameter(text="end", unit="s", minimum=0.0)


@dataclass(frozen=True, kw_only=True)
class BlockedSector:
    """No returns from a sector of azimuth, as from behind mud or a covered window."""

    from_s: float = parameter(text="beginning", unit="s", minimum=0.0)
    until_s: float = parameter(text="end", unit="s", minimum=0.0)
    azimuth_deg: float = parameter(
        0.0, unit="deg", minimum=-360.0, maximum=360.0, text="middle, from x towards y of the lidar"
    )
    width_deg: float = parameter(
        180.0, text="width of the sector", unit="deg", minimum=0.0, maximum=360.0
    )


@dataclass(frozen=True, kw_only=True)
class Kidnapping:
    """The robot is lifted and placed elsewhere, at rest; its wheels do not notice."""

    at_s: float = parameter(text="when", unit="s", minimum=0.0)
    ahead_m: float = parameter(0.0, text="moved ahead", unit="m", minimum=-1e4, maximum=1e4)
    left_m: float = parameter(0.0, text="moved to the left", unit="m", minimum=-1e4, maximum=1e4)
    turn_deg: float = parameter(
        0.0, text="turned to the left", unit="deg", minimum=-360.0, maximum=360.0
    )

    @property
    def T_base_moved(self) -> np.ndarray:
        """The move in axes of the robot, (4, 4)."""
        angle = math.radians(self.turn_deg)
        T = np.eye(4)
        T[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        T[:2, 3] = self.ahead_m, self.left_m
        return T


@dataclass(frozen=True, kw_only=True)
class GroundFaults:
    """The faults of one drive; times count from its start."""

    silences: tuple[LidarSilence, ...] = parameter((), text="times without scans")
    blocked: tuple[BlockedSector, ...] = parameter((), text="times with a blocked view")
    kidnappings: tuple[Kidnapping, ...] = parameter((), text="moves of the robot")

    def is_silent(self, time_s: float) -> bool:
        """Return whether a scan that ends at a time [s] is lost."""
        return any(fault.from_s <= time_s < fault.until_s for fault in self.silences)

    def seen(self, points: np.ndarray, time_s: float) -> np.ndarray | None:
        """Return which points (n, 3) of a scan that ends at a time [s] are returned; None: all."""
        acting = [fault for fault in self.blocked if fault.from_s <= time_s < fault.until_s]
        if not acting:
            return None
        azimuth = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
        away = [np.abs(wrap_deg(azimuth - f.azimuth_deg)) for f in acting]
        return np.all([a > 0.5 * f.width_deg for a, f in zip(away, acting)], axis=0)


NO_FAULTS = GroundFaults()

FAULT_TEXTS = """\
silent:FROM:SECONDS               the sensor is silent
blocked:FROM:SECONDS[:RIGHT:LEFT] nothing comes back between two azimuths [deg], 0 = ahead, left
                                  positive; without them from nowhere
kidnapped:AT:AHEAD[:LEFT[:TURN]]  it is put down elsewhere: metres, degrees to the left
"""
"""How faults are written in a command; times are seconds since the start."""


def faults_of(tokens: Sequence[str]) -> GroundFaults:
    """Return the faults of tokens such as `silent:20:5`; see `FAULT_TEXTS`.

    Raises
    ------
    aerotwin_core.errors.UserError
        If a token is no fault.
    aerotwin_core.errors.ParameterError
        If a value is out of range.
    """
    found: dict[str, list] = {name: [] for name, _, _ in _KINDS.values()}
    for token in tokens:
        kind, *cells = token.split(":")
        try:
            name, cls, read = _KINDS[kind]
            values = read(*(float(cell) for cell in cells))
        except (KeyError, TypeError, ValueError):
            forms = ", ".join(
                line.split()[0] for line in FAULT_TEXTS.splitlines() if line[0] != " "
            )
            raise UserError(f"--fault {token}: must be one of {forms}; see --help") from None
        found[name].append(load_parameters(cls, values, where=f"--fault {token}"))
    return GroundFaults(**{name: tuple(faults) for name, faults in found.items()})


def _silent(start: float, duration: float) -> dict[str, float]:
    return {"from_s": start, "until_s": start + duration}


def _blocked(start: float, duration: float, *between: float) -> dict[str, float]:
    right, left = between or (-180.0, 180.0)
    sector = {"azimuth_deg": 0.5 * (right + left), "width_deg": left - right}
    return _silent(start, duration) | sector


def _kidnapped(at: float, ahead: float, left: float = 0.0, turn: float = 0.0) -> dict[str, float]:
    return {"at_s": at, "ahead_m": ahead, "left_m": left, "turn_deg": turn}


_KINDS: dict[str, tuple[str, type, Callable[..., dict[str, float]]]] = {
    "silent": ("silences", LidarSilence, _silent),
    "blocked": ("blocked", BlockedSector, _blocked),
    "kidnapped": ("kidnappings", Kidnapping, _kidnapped),
}
