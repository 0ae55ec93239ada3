# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages to PX4 on its simulator link besides IMU, barometer, magnetometer and GNSS."""

from collections.abc import Iterator

from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.hil_extras import (
    pack_differential_pressure,
    pack_distance_sensor,
    pack_hil_state,
    pack_optical_flow,
    pack_rc_channels,
)
from aerotwin_px4_bridge.sticks import Sticks
from aerotwin_sensor_models import Airspeed, OpticalFlow
from aerotwin_simulator.extra_sensors import ExtraReading
from aerotwin_simulator.readings import Readings
from aerotwin_simulator.truth import TruthStep

TRUTH_PERIOD_NS = 20_000_000
"""At this interval PX4 v1.14 logs the true position (logged_topics.cpp); more is not saved."""
RANGE = "sensor_msgs/msg/Range"


class SimulatorLink:
    """Packs due messages of truth, further sensors and radio control."""

    def __init__(self, plane: LocalTangentPlane, sticks: Sticks) -> None:
        self._plane, self._sticks = plane, sticks
        self._truth_due_ns = 0

    def frames(self, readings: Readings) -> Iterator[bytes]:
        """Return the frames of a step, to be sent before its HIL_SENSOR."""
        now_ns = readings.step.end_ns
        for reading in readings.extra:
            yield from self._sensor_frames(reading)
        if self._sticks.is_frame_due(now_ns):
            yield from radio_frames(self._sticks, now_ns)
        if now_ns >= self._truth_due_ns:
            self._truth_due_ns = now_ns + TRUTH_PERIOD_NS
            yield self._truth_frame(readings.step)

    def _truth_frame(self, step: TruthStep) -> bytes:
        state = step.end
        return pack_hil_state(
            step.end_ns // 1000,
            self._plane.to_geodetic(state[layout.POSITION]),
            state[layout.QUATERNION],
            state[layout.VELOCITY],
            state[layout.ANGULAR_VELOCITY],
            state[layout.ACCELERATION],
        )

    def _sensor_frames(self, reading: ExtraReading) -> Iterator[bytes]:
        """Return a sensor's frames for PX4; any range finder with a direction counts."""
        sensor, fields, time_us = reading.sensor, reading.fields, reading.stamp_ns // 1000
        direction = getattr(sensor, "direction_body", None)
        if isinstance(sensor, OpticalFlow):
            flow = sensor.reading
            yield pack_optical_flow(
                time_us, flow.interval_s, flow.flow_rad, flow.turn_rad, flow.quality
            )
        elif isinstance(sensor, Airspeed):
            yield pack_differential_pressure(time_us, float(fields["fluid_pressure"]))
        elif sensor.msgtype == RANGE and direction is not None:
            yield pack_distance_sensor(
                time_us,
                float(fields["range"]),
                least_m=float(fields["min_range"]),
                most_m=float(fields["max_range"]),
                direction_body=direction,
                std_m=float(fields.get("variance", 0.0)) ** 0.5,
            )


def radio_frames(sticks: Sticks, now_ns: int) -> list[bytes]:
    """Return the frame of a receiver that is due, if the transmitter is in range."""
    positions = sticks.positions
    return [] if positions is None else [pack_rc_channels(now_ns // 1000, positions)]
