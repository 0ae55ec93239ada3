# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of a MAVLink link over a few seconds, recorded for the diagnosis."""

import struct
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from pymavlink.dialects.v20 import ardupilotmega as mavlink

from aerotwin_doctor.events import EVENT_MESSAGE_ID, ArmingReasons
from aerotwin_px4_bridge.dialects import ARDUPILOT, PX4, Dialect
from aerotwin_px4_bridge.mavlink2 import HEADER_LENGTH, MAGIC

WARNING = mavlink.MAV_SEVERITY_WARNING
ANY_PARAMETER = ("MAV_SYS_ID", "MAV_SYSID", "SYSID_THISMAV")
"""One of them has every autopilot (PX4; ArduPilot since 4.7, before): after its reply, a parameter
without one does not exist."""
_DIALECTS = {mavlink.MAV_AUTOPILOT_PX4: PX4, mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA: ARDUPILOT}
MAG_BITS, BARO_BIT = 0x1C0, 0x200
HIGHEST_HPA = 2000.0
"""PX4 1.14 fills HIGHRES_IMU.abs_pressure in pascal, where the message says hPa."""
_SAVED_TEXTS = 20


@dataclass(frozen=True, slots=True)
class HighresImuSample:
    """One HIGHRES_IMU: FRD axes, m/s^2, rad/s, gauss, hPa; None for a value never received."""

    time_us: int
    specific_force: tuple[float, float, float]
    angular_velocity: tuple[float, float, float]
    field_gauss: tuple[float, float, float] | None
    pressure_hpa: float | None
    has_new_field: bool = True
    has_new_pressure: bool = True


@dataclass(slots=True)
class LinkRecord:
    """Messages of one autopilot, and the other system ids on its link.

    `counts` and `last` are by name of the message, `results` of commands by command, `others`
    counts the messages of other systems. `texts` are STATUSTEXTs with their severity.
    """

    system_id: int
    counts: Counter[str] = field(default_factory=Counter)
    last: dict[str, Any] = field(default_factory=dict)
    imu: list[HighresImuSample] = field(default_factory=list)
    texts: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=_SAVED_TEXTS))
    reasons: ArmingReasons = field(default_factory=ArmingReasons)
    parameters: dict[str, float] = field(default_factory=dict)
    results: dict[int, int] = field(default_factory=dict)
    others: Counter[int] = field(default_factory=Counter)
    first_ms: int | None = None  # its clock at the first message that carries it
    last_ms: int | None = None
    wall_s: float = 0.0  # duration of the recording

    @property
    def is_heard(self) -> bool:
        """Whether any message of the autopilot was received."""
        return bool(self.counts)

    @property
    def elapsed_s(self) -> float:
        """Time elapsed on its clock [s]."""
        if self.first_ms is None or self.last_ms is None:
            return 0.0
        return (self.last_ms - self.first_ms) * 1e-3

    @property
    def heartbeat(self) -> Any | None:
        """Its last HEARTBEAT."""
        return self.last.get("HEARTBEAT")

    @property
    def dialect(self) -> Dialect:
        """Of its last HEARTBEAT; PX4's before one, and of an unknown autopilot."""
        heartbeat = self.heartbeat
        return _DIALECTS.get(heartbeat.autopilot, PX4) if heartbeat is not None else PX4

    @property
    def is_ardupilot(self) -> bool:
        """Whether its last HEARTBEAT is of ArduPilot."""
        return self.dialect is ARDUPILOT

    @property
    def is_answered(self) -> bool:
        """Whether it has replied to a request for a parameter that it has."""
        return any(name in self.parameters for name in ANY_PARAMETER)

    @property
    def is_armed(self) -> bool:
        """Whether its last HEARTBEAT reported armed."""
        heartbeat = self.heartbeat
        return heartbeat is not None and bool(
            heartbeat.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED
        )

    def on_message(self, message: Any) -> None:
        """Record a message of any system."""
        if message.get_type() == "BAD_DATA":
            return
        if message.get_type().startswith("UNKNOWN_"):
            self._on_unknown(message)
            return
        if message.get_srcSystem() != self.system_id:
            self.others[message.get_srcSystem()] += 1
            return
        if message.get_type() == "HEARTBEAT" and message.autopilot == mavlink.MAV_AUTOPILOT_INVALID:
            return
        self.counts[message.get_type()] += 1
        self.last[message.get_type()] = message
        self._on_time(getattr(message, "time_boot_ms", None))
        take = _TAKERS.get(message.get_type())
        if take is not None:
            take(self, message)

    def _on_unknown(self, message: Any) -> None:
        """Record an EVENT, which pymavlink's dialect does not define."""
        data = bytes(message.data)
        if len(data) <= HEADER_LENGTH or data[0] != MAGIC or data[5] != self.system_id:
            return
        self.counts[message.get_type()] += 1
        if int.from_bytes(data[7:10], "little") == EVENT_MESSAGE_ID:
            self.reasons.on_event(data[HEADER_LENGTH : HEADER_LENGTH + data[1]])

    def _on_time(self, time_ms: int | None) -> None:
        if time_ms:
            self.first_ms = time_ms if self.first_ms is None else self.first_ms
            self.last_ms = time_ms

    def _on_imu_message(self, message: Any) -> None:
        field = (message.xmag, message.ymag, message.zmag)
        pressure = message.abs_pressure
        self._on_time(message.time_usec // 1000)
        self.imu.append(
            HighresImuSample(
                message.time_usec,
                (message.xacc, message.yacc, message.zacc),
                (message.xgyro, message.ygyro, message.zgyro),
                field if any(field) else None,
                _hpa(pressure) if pressure > 0.0 else None,
                bool(message.fields_updated & MAG_BITS),
                bool(message.fields_updated & BARO_BIT),
            )
        )

    def _on_text(self, message: Any) -> None:
        entry = (message.severity, message.text.strip())
        if entry not in self.texts:  # each link repeats it
            self.texts.append(entry)

    def _on_parameter(self, message: Any) -> None:
        value = float(message.param_value)
        if message.param_type == mavlink.MAV_PARAM_TYPE_INT32:  # the bits of an integer
            (value,) = struct.unpack("<i", struct.pack("<f", message.param_value))
        self.parameters[message.param_id] = float(value)

    def _on_result(self, message: Any) -> None:
        self.results[message.command] = message.result


def is_known(heartbeat: Any) -> bool:
    """Return whether a HEARTBEAT is of an autopilot whose modes are known."""
    return heartbeat.autopilot in _DIALECTS


def _hpa(pressure: float) -> float:
    return pressure if pressure < HIGHEST_HPA else 0.01 * pressure


_TAKERS = {
    "HIGHRES_IMU": LinkRecord._on_imu_message,
    "STATUSTEXT": LinkRecord._on_text,
    "PARAM_VALUE": LinkRecord._on_parameter,
    "COMMAND_ACK": LinkRecord._on_result,
}
