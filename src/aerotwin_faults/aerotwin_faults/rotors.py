# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of rotors and battery."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from aerotwin_core.parameters import parameter
from aerotwin_faults.fault import BATTERY, ROTOR, Fault, Moment


class RotorHealth(NamedTuple):
    """Condition of a rotor; sound by default.

    Shares of the commanded speed and of the thrust at a speed, in [0, 1]; imbalance beside that of
    a sound one [kg m]; whether something holds it.
    """

    speed_share: float = 1.0
    thrust_share: float = 1.0
    imbalance_kg_m: float = 0.0
    is_jammed: bool = False


class RotorEffect(Protocol):
    """What a fault at place `rotor` does."""

    rotor: int

    def health(self, moment: Moment) -> RotorHealth:
        """Return the condition of the rotor."""


@dataclass(frozen=True, kw_only=True)
class MotorPower(Fault):
    """A motor loses power: at the same command it gives a share of the thrust."""

    place: ClassVar[str] = ROTOR
    rotor: int = parameter(text="number of the motor output, from 0", minimum=0, maximum=31)
    thrust_share: float = parameter(
        0.0, text="remaining thrust over that of a sound motor; 0 = off", minimum=0.0, maximum=1.0
    )

    def health(self, moment: Moment) -> RotorHealth:
        """Return its speed; thrust goes with the square of it."""
        share = 1.0 - moment.level * (1.0 - self.thrust_share)
        return RotorHealth(speed_share=math.sqrt(share))


@dataclass(frozen=True, kw_only=True)
class MotorJam(Fault):
    """A rotor is stopped within a step; the body takes over its angular momentum."""

    place: ClassVar[str] = ROTOR
    rotor: int = parameter(text="number of the motor output, from 0", minimum=0, maximum=31)

    def health(self, moment: Moment) -> RotorHealth:
        """Return that it is held."""
        return RotorHealth(speed_share=0.0, is_jammed=True)


@dataclass(frozen=True, kw_only=True)
class PropellerDamage(Fault):
    """A propeller lost a part of a blade: less thrust, and an imbalance that shakes the IMU."""

    place: ClassVar[str] = ROTOR
    rotor: int = parameter(text="number of the motor output, from 0", minimum=0, maximum=31)
    thrust_share: float = parameter(
        0.9, text="remaining thrust at the same speed", minimum=0.0, maximum=1.0
    )
    imbalance_kg_m: float = parameter(
        2e-5,
        text="mass times eccentricity; a whole 10-inch propeller has about 2e-6",
        unit="kg m",
        minimum=0.0,
        maximum=1e-2,
    )

    def health(self, moment: Moment) -> RotorHealth:
        """Return its thrust and imbalance."""
        return RotorHealth(
            thrust_share=1.0 - moment.level * (1.0 - self.thrust_share),
            imbalance_kg_m=moment.level * self.imbalance_kg_m,
        )


@dataclass(frozen=True, kw_only=True)
class BatteryCellLoss(Fault):
    """Cells of the battery are shorted: less voltage, slower motors. Needs a battery model."""

    place: ClassVar[str] = BATTERY
    cells: int = parameter(1, text="number of cells", minimum=1, maximum=20)

    def lost_cells(self, moment: Moment) -> float:
        """Return how many are lost."""
        return moment.level * self.cells
