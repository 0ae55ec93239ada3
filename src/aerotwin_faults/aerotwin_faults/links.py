# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the links to the autopilot: from a companion computer, from the ground station."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from aerotwin_core.parameters import parameter
from aerotwin_faults.fault import COMPANION, GROUND_STATION, Fault, Moment


class LinkEffect(Protocol):
    """What a fault at place `companion` or `ground_station` does."""

    def delay_s(self, moment: Moment) -> float | None:
        """Return how much later messages arrive [s]; None if they are lost."""


@dataclass(frozen=True, kw_only=True)
class CompanionLoss(Fault):
    """Nothing of the companion computer reaches the autopilot: set-points, poses, heartbeats."""

    place: ClassVar[str] = COMPANION

    def delay_s(self, moment: Moment) -> float | None:
        """Return that it is lost."""
        return None


@dataclass(frozen=True, kw_only=True)
class CompanionDelay(Fault):
    """What the companion computer sends reaches the autopilot later."""

    place: ClassVar[str] = COMPANION
    seconds: float = parameter(0.2, text="delay", unit="s", minimum=0.0, maximum=5.0)

    def delay_s(self, moment: Moment) -> float | None:
        """Return the delay, which grows by the ramp."""
        return moment.level * self.seconds


@dataclass(frozen=True, kw_only=True)
class GroundStationLoss(Fault):
    """Nothing of the ground station reaches the autopilot: heartbeats, commands."""

    place: ClassVar[str] = GROUND_STATION

    def delay_s(self, moment: Moment) -> float | None:
        """Return that it is lost."""
        return None
