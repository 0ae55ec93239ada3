# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The border between PX4 and ArduPilot as a MAVLink client sees them: modes, take-off, streams.

Everything in which the two differ for a mission, a ground station or a listener stands here.

References: PX4 v1.14 px4_custom_mode.h; ArduPilot ArduCopter/mode.h (numbers of the modes),
ArduCopter/GCS_MAVLink_Copter.cpp (take-off above home, in GUIDED, once armed).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

NO_MODE = "NONE"


class FlightMode(NamedTuple):
    """A flight mode: its name, and `custom_mode` of its HEARTBEAT."""

    name: str
    number: int


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one autopilot is commanded.

    Attributes
    ----------
    offboard, hold, land, mission, return_home : FlightMode
        Flies set-points; hovers here; lands here; flies uploaded items; goes home and lands.
    names : mapping
        Names of its modes by `custom_mode`.
    has_sub_modes : bool
        Whether a mode has a main and a sub number, as PX4's.
    arms_first : bool
        Whether it takes off in `offboard`, armed, to a height above home. Else it takes off to an
        altitude above sea level, and is armed after the command.
    speaks_first : bool
        Whether it sends to a client's port, which then answers the sender; else the client begins.
    odometry_frame : int
        MAV_FRAME of the pose in an ODOMETRY, whose axes are north, east, down under either name.
    takes_odometry_without_velocity : bool
        Else a pose without one is sent as VISION_POSITION_ESTIMATE.
    takes_places_as_integers : bool
        Whether it obeys MAV_CMD_DO_REPOSITION as COMMAND_INT only, not as COMMAND_LONG.
    is_nowhere_first : bool
        Whether latitude and longitude are 0 until it knows its position.
    levelling : FlightMode or None
        Holds no position: forgets how it leans into the wind, which may keep it from noticing that
        it stands. None if it always notices.
    """

    name: str
    offboard: FlightMode
    hold: FlightMode
    land: FlightMode
    mission: FlightMode
    return_home: FlightMode
    names: Mapping[int, str]
    has_sub_modes: bool
    arms_first: bool
    speaks_first: bool
    odometry_frame: int
    takes_odometry_without_velocity: bool
    takes_places_as_integers: bool
    is_nowhere_first: bool
    levelling: FlightMode | None

    def mode_name(self, custom_mode: int) -> str:
        """Return the name of a mode; of one that is not known its numbers.

        >>> PX4.mode_name(5 << 24 | 4 << 16), PX4.mode_name(1 << 24 | 9 << 16), PX4.mode_name(0)
        ('RETURN', 'MODE_9_1', 'NONE')
        >>> ARDUPILOT.mode_name(4), ARDUPILOT.mode_name(99)
        ('GUIDED', 'MODE_99')
        """
        if (name := self.names.get(custom_mode)) is not None:
            return name
        if not self.has_sub_modes:
            return f"MODE_{custom_mode}"
        main, sub = custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF
        return f"MODE_{main}_{sub}" if main else NO_MODE

    def common_mode_name(self, custom_mode: int) -> str:
        """Return PX4's name of a mode that both have, or its own name.

        >>> ARDUPILOT.common_mode_name(6), ARDUPILOT.common_mode_name(5)
        ('RETURN', 'LOITER')
        """
        shared = zip(_shared_modes(self), _shared_modes(PX4), strict=True)
        for own, common in shared:
            if custom_mode == own.number:
                return common.name
        return self.mode_name(custom_mode)

    def set_mode_values(self, mode: FlightMode) -> tuple[float, ...]:
        """Return the parameters of MAV_CMD_DO_SET_MODE.

        >>> PX4.set_mode_values(PX4.land), ARDUPILOT.set_mode_values(ARDUPILOT.land)
        ((1.0, 4.0, 6.0), (1.0, 9.0))
        """
        if not self.has_sub_modes:
            return 1.0, float(mode.number)
        return 1.0, float(mode.number >> 16 & 0xFF), float(mode.number >> 24 & 0xFF)

    def take_off_values(self, altitude_amsl_m: float, above_home_m: float) -> tuple[float, ...]:
        """Return the parameters of MAV_CMD_NAV_TAKEOFF to an altitude that is so high over home."""
        if self.arms_first:
            return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, above_home_m
        return nan, 0.0, 0.0, nan, nan, nan, altitude_amsl_m


def _shared_modes(dialect: Dialect) -> tuple[FlightMode, ...]:
    one = dialect
    return one.offboard, one.hold, one.land, one.mission, one.return_home


def px4_mode(main: int, sub: int) -> int:
    """Return the `custom_mode` of PX4 for a main and a sub mode."""
    return main << 16 | sub << 24


_PX4_NAMES = {
    (1, 0): "MANUAL",
    (2, 0): "ALTITUDE",
    (3, 0): "POSITION",
    (3, 1): "ORBIT",
    (4, 1): "READY",
    (4, 2): "TAKEOFF",
    (4, 3): "HOLD",
    (4, 4): "MISSION",
    (4, 5): "RETURN",
    (4, 6): "LAND",
    (4, 8): "FOLLOW",
    (4, 9): "PRECLAND",
    (5, 0): "ACRO",
    (6, 0): "OFFBOARD",
    (7, 0): "STABILIZED",
    (10, 0): "TERMINATION",
}
_ARDUPILOT_NAMES = {
    0: "STABILIZE",
    1: "ACRO",
    2: "ALT_HOLD",
    3: "AUTO",
    4: "GUIDED",
    5: "LOITER",
    6: "RTL",
    7: "CIRCLE",
    9: "LAND",
    16: "POSHOLD",
    17: "BRAKE",
    20: "GUIDED_NOGPS",
    21: "SMART_RTL",
}

PX4 = Dialect(
    name="PX4",
    offboard=FlightMode("OFFBOARD", px4_mode(6, 0)),
    hold=FlightMode("HOLD", px4_mode(4, 3)),
    land=FlightMode("LAND", px4_mode(4, 6)),
    mission=FlightMode("MISSION", px4_mode(4, 4)),
    return_home=FlightMode("RETURN", px4_mode(4, 5)),
    names={px4_mode(*numbers): name for numbers, name in _PX4_NAMES.items()},
    has_sub_modes=True,
    arms_first=False,
    speaks_first=False,
    odometry_frame=1,  # LOCAL_NED
    takes_odometry_without_velocity=True,
    takes_places_as_integers=False,
    is_nowhere_first=False,
    levelling=None,
)
"""PX4, and the embedded autopilot, which speaks as it does."""
ARDUPILOT = Dialect(
    name="ArduPilot",
    offboard=FlightMode("GUIDED", 4),
    hold=FlightMode("BRAKE", 17),  # LOITER flies by the sticks of a radio
    land=FlightMode("LAND", 9),
    mission=FlightMode("AUTO", 3),
    return_home=FlightMode("RTL", 6),
    names=_ARDUPILOT_NAMES,
    has_sub_modes=False,
    arms_first=True,
    speaks_first=True,
    odometry_frame=20,  # LOCAL_FRD
    takes_odometry_without_velocity=False,
    takes_places_as_integers=True,
    is_nowhere_first=True,
    levelling=FlightMode("ALT_HOLD", 2),
)
"""ArduCopter."""
