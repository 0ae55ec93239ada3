# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ground station of one vehicle: heartbeats, and an operator's orders on its link.

References
----------
MAVLink common.xml, MAV_CMD.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan, radians
from typing import Protocol

import numpy as np
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.parameters import parameter
from aerotwin_px4_bridge.dialects import PX4, Dialect
from aerotwin_px4_bridge.messages import yaw_ned_from_map
from aerotwin_px4_bridge.onboard import OnboardLink

SECOND_NS = 1_000_000_000
GIVE_UP_NS = 10 * SECOND_NS
FARTHEST_M = 1e5
FORCE = 21196.0
"""Disarm in the air: MAV_CMD_COMPONENT_ARM_DISARM, parameter 2."""
Command = tuple[int, tuple[float, ...]]


class OperatorOrder(Protocol):
    """What an operator wants of a vehicle."""

    def command(self, plane: LocalTangentPlane, dialect: Dialect) -> Command:
        """Return MAV_CMD and its parameters; `plane` is the map frame."""


@dataclass(frozen=True, kw_only=True)
class SetMode:
    """Change to a mode of PX4; ArduPilot's are BRAKE, AUTO, RTL and LAND."""

    mode: str = parameter(text="the mode", choices=("HOLD", "MISSION", "RETURN", "LAND"))

    def command(self, plane: LocalTangentPlane, dialect: Dialect) -> Command:
        """Return it."""
        modes = dialect.hold, dialect.mission, dialect.return_home, dialect.land
        chosen = dict(zip(("HOLD", "MISSION", "RETURN", "LAND"), modes, strict=True))[self.mode]
        return mavlink.MAV_CMD_DO_SET_MODE, dialect.set_mode_values(chosen)


@dataclass(frozen=True, kw_only=True)
class GoTo:
    """Fly to a place and hold there."""

    east_m: float = parameter(text="in map", unit="m", minimum=-FARTHEST_M, maximum=FARTHEST_M)
    north_m: float = parameter(text="in map", unit="m", minimum=-FARTHEST_M, maximum=FARTHEST_M)
    up_m: float = parameter(text="in map", unit="m", minimum=-FARTHEST_M, maximum=FARTHEST_M)
    speed_m_s: float = parameter(
        -1.0, text="on the way; -1 = as it is", unit="m/s", minimum=-1.0, maximum=20.0
    )
    yaw_deg: float | None = parameter(None, text="heading from east; none = as it flies")

    def command(self, plane: LocalTangentPlane, dialect: Dialect) -> Command:
        """Return it; position and altitude as a COMMAND_LONG has them."""
        place = np.array([self.east_m, self.north_m, self.up_m])
        latitude_deg, longitude_deg, altitude_m = plane.to_geodetic(place)
        yaw = nan if self.yaw_deg is None else yaw_ned_from_map(radians(self.yaw_deg))
        return mavlink.MAV_CMD_DO_REPOSITION, (
            self.speed_m_s, 1.0, 0.0, yaw, latitude_deg, longitude_deg, altitude_m,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Terminate:
    """Stop the rotors, wherever the vehicle is."""

    def command(self, plane: LocalTangentPlane, dialect: Dialect) -> Command:
        """Return it."""
        return mavlink.MAV_CMD_COMPONENT_ARM_DISARM, (0.0, FORCE)


ORDERS: dict[str, type] = {"set_mode": SetMode, "go_to": GoTo, "terminate": Terminate}
"""By the names that scenario files use."""


@dataclass(slots=True)
class _Pending:
    """A command that was not answered yet."""

    name: str
    command: int
    parameters: tuple[float, ...]
    begin_ns: int
    due_ns: int = 0
    n_sent: int = 0

    def note_sent(self, stamp_ns: int) -> None:
        """Note that it was sent; it is due again after a second."""
        self.due_ns, self.n_sent = stamp_ns + SECOND_NS, self.n_sent + 1


class GroundStation:
    """Sends the heartbeats of a ground station, and orders until they are answered.

    It depends on simulated time and received messages alone. `delay_s` returns how much later what
    it sends at an instant [ns] leaves [s], None if it is lost; `refusals` say which orders were not
    followed, and why.
    """

    def __init__(
        self,
        plane: LocalTangentPlane,
        instance: int,
        delay_s: Callable[[int], float | None],
        dialect: Dialect = PX4,
    ) -> None:
        self._plane, self._delay_s = plane, delay_s
        self._link = OnboardLink(plane, instance, is_ground_station=True, dialect=dialect)
        self._heartbeat_due_ns = 0
        self._pending: list[_Pending] = []
        self.refusals: list[str] = []

    def give_order(self, name: str, order: OperatorOrder, stamp_ns: int) -> None:
        """Send an order from now on until it is answered."""
        command, parameters = order.command(self._plane, self._link.state.dialect)
        self._link.acks.pop(command, None)
        self._pending.append(_Pending(name, command, parameters, stamp_ns))

    def poll(self, stamp_ns: int) -> None:
        """Read received messages and send what is due; never block."""
        link = self._link
        link.delay(self._delay_s(stamp_ns))
        link.poll_datagrams(stamp_ns)
        if stamp_ns >= self._heartbeat_due_ns:
            self._heartbeat_due_ns = stamp_ns + SECOND_NS
            link.send_heartbeat()
        self._pending = [each for each in self._pending if not self._is_done(each, stamp_ns)]
        for each in self._pending:
            if stamp_ns >= each.due_ns:
                send = link.send_command
                if each.command == mavlink.MAV_CMD_DO_REPOSITION:
                    send = link.send_place_command
                send(each.command, *each.parameters, confirmation=each.n_sent)
                each.note_sent(stamp_ns)

    def _is_done(self, pending: _Pending, stamp_ns: int) -> bool:
        """Return whether an order was answered or is given up; note why it was not followed."""
        result = self._link.acks.pop(pending.command, None) if pending.n_sent else None
        if result == mavlink.MAV_RESULT_ACCEPTED:
            return True
        if result is not None:
            known = mavlink.enums["MAV_RESULT"].get(result)
            answer = known.name.removeprefix("MAV_RESULT_") if known else f"result {result}"
            said = f" ({' | '.join(self._link.texts)})" if self._link.texts else ""
            self.refusals.append(f"{pending.name}: the autopilot answered {answer}{said}")
            return True
        if stamp_ns - pending.begin_ns >= GIVE_UP_NS:
            self.refusals.append(f"{pending.name}: no answer for {GIVE_UP_NS // SECOND_NS} s")
            return True
        return False

    def close(self) -> None:
        """Free its port."""
        self._link.close()
