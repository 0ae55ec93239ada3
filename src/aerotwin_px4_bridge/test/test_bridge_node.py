# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The bridge as a node: conversions, a step with a stand-in autopilot, its ends."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate
from aerotwin_px4_bridge.mavlink2 import HIL_GPS, HIL_SENSOR, FrameReader
from aerotwin_px4_bridge.messages import (
    ActuatorControls,
    pack_heartbeat,
    pack_hil_actuator_controls,
    parse_hil_gps,
    parse_hil_sensor,
)
from aerotwin_px4_bridge.px4_files import read_parameter_file
from aerotwin_px4_bridge.ros import conversions as convert
from aerotwin_px4_bridge.ros.flight import BridgeFlight
from aerotwin_px4_bridge.ros.parameters import BridgeParameters

INSTANCE = 171
STEP_NS = 4_000_000
FLOAT32 = 1e-6
FORCE, RATE = (0.1, 0.2, 9.8), (0.01, 0.02, 0.03)
PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass


def test_sensor_messages_become_values():
    imu = messages.imu_message(
        5, "imu_link", FORCE, RATE, specific_force_std=0.1, angular_velocity_std=0.1
    )
    assert convert.vector_from_message(imu.linear_acceleration) == FORCE
    assert convert.vector_from_message(imu.angular_velocity) == RATE
    pressure = messages.fluid_pressure_message(5, "base_link", 95000.0, 2.0)
    assert convert.pressure_from_message(pressure) == 95000.0
    fix = messages.nav_sat_fix_message(5, "base_link", 47.0, 8.0, 500.0, (0.3, 0.3, 0.5))
    found = convert.fix_from_message(fix)
    assert (found.latitude_deg, found.longitude_deg, found.altitude_m) == (47.0, 8.0, 500.0)
    assert (found.eph_m, found.epv_m, found.fix_type) == (pytest.approx(0.3), pytest.approx(0.5), 3)


def test_a_receiver_without_a_fix_is_no_place():
    fix = messages.nav_sat_fix_message(5, "base_link", 47.0, 8.0, float("nan"), (0.3, 0.3, 0.5))
    assert convert.fix_from_message(fix).fix_type == 0


@pytest.mark.parametrize("pressure_pa", [0.0, -1.0, float("nan")])
def test_impossible_values_are_refused(pressure_pa):
    with pytest.raises(ValueError, match="above 0 Pa"):
        convert.pressure_from_message(SimpleNamespace(fluid_pressure=pressure_pa))
    with pytest.raises(ValueError, match="finite"):
        convert.vector_from_message(SimpleNamespace(x=0.0, y=float("nan"), z=0.0))


def test_the_air_is_that_of_the_standard():
    """ISO 2533, table 5: 281.65 K at 898.75 hPa (1000 m)."""
    assert convert.temperature_of_standard_air(89875.0) == pytest.approx(281.65, abs=0.01)


def test_an_answer_becomes_rotor_speeds():
    controls = (0.0, 0.5, 1.0, -0.2, *(0.0,) * 12)
    armed = ActuatorControls(1, controls, True)
    assert convert.rotor_speeds(armed, 4, 100.0, 1000.0) == [100.0, 600.0, 1100.0, 100.0]
    disarmed = ActuatorControls(1, controls, False)
    assert convert.rotor_speeds(disarmed, 4, 100.0, 1000.0) == [0.0] * 4


def test_commands_and_estimates_come_back_from_their_messages():
    cdr = convert.BridgeMessages(4).rotors(7, [1.0, 2.0, 3.0, 4.0])
    command = messages.deserialize(cdr, "sensor_msgs/msg/JointState")
    assert messages.stamp_ns(command) == 7
    assert command.name[0] == "rotor_0" and list(command.velocity) == [1.0, 2.0, 3.0, 4.0]
    quarter_turn = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # nose north
    estimate = AutopilotEstimate(
        stamp_ns=9,
        p_map=np.array([1.0, 2.0, 3.0]),
        v_map=np.array([4.0, 0.0, 0.0]),  # east: to the right of the nose
        q_map_body=quarter_turn,
    )
    odometry = messages.deserialize(
        convert.BridgeMessages.odometry(estimate), "nav_msgs/msg/Odometry"
    )
    v = odometry.twist.twist.linear
    assert (v.x, v.y, v.z) == pytest.approx((0.0, -4.0, 0.0), abs=1e-12)
    assert odometry.pose.pose.position.z == 3.0


def test_px4_parameters_are_read_from_a_file(tmp_path):
    path = tmp_path / "px4.yaml"
    path.write_text("CA_ROTOR0_PX: 0.13\nCA_ROTOR_COUNT: 4\n")
    assert read_parameter_file(str(path)) == {"CA_ROTOR0_PX": 0.13, "CA_ROTOR_COUNT": 4.0}
    assert read_parameter_file("") == {}
    path.write_text("CA_ROTOR0_PX: far\n")
    with pytest.raises(ParameterError, match="CA_ROTOR0_PX: expected a number"):
        read_parameter_file(str(path))


Answer = Callable[[int], bytes]


class StandIn:
    """An autopilot that answers each HIL_SENSOR and keeps what it was sent."""

    def __init__(self, port: int) -> None:
        self.sensors, self.fixes = [], []
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.sendall(
            pack_heartbeat(mav_type=2, autopilot=12, system_id=INSTANCE + 1, component_id=1)
        )
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        reader = FrameReader()
        with self._socket as link, contextlib.suppress(OSError):  # the link may end at any time
            while data := link.recv(4096):
                for frame in reader.feed_bytes(data):
                    if frame.message_id == HIL_GPS:
                        self.fixes.append(parse_hil_gps(frame.payload))
                    elif frame.message_id == HIL_SENSOR:
                        sensor = parse_hil_sensor(frame.payload)
                        self.sensors.append(sensor)
                        answer = pack_hil_actuator_controls(
                            sensor.time_us, [0.5] * 4, is_armed=True, system_id=INSTANCE + 1
                        )
                        link.sendall(answer)

    def leave(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)


@contextmanager
def flight(**changes) -> Iterator[tuple[BridgeFlight, StandIn]]:
    parameters = BridgeParameters(autopilot="external", instance=INSTANCE, **changes)
    bridge = BridgeFlight(parameters)
    try:
        autopilot = StandIn(bridge.link.port)
        bridge.start(lambda: None)
        yield bridge, autopilot
    finally:
        bridge.close()


def test_a_step_takes_along_what_has_come_since_the_last_one():
    with flight() as (bridge, autopilot):
        bridge.on_magnetic_field((1e-5, 2e-5, 3e-5))
        bridge.on_pressure(95000.0)
        fix = convert.GnssFix(
            latitude_deg=47.0, longitude_deg=8.0, altitude_m=500.0, eph_m=0.3, epv_m=0.5, fix_type=3
        )
        bridge.on_gnss_fix(1, fix)
        k = 0
        while not bridge.link.is_in_step:  # a stand-in for PX4: the link runs free at first
            k += 1
            assert bridge.step(k * STEP_NS, FORCE, RATE)
        assert autopilot.fixes == [], "a fix waits for its velocity"
        bridge.on_velocity(1, (1.0, 2.0, 3.0))
        assert bridge.step((k + 1) * STEP_NS, FORCE, RATE)
        first, last = autopilot.sensors[0], autopilot.sensors[-1]
        assert first.specific_force_body == pytest.approx(FORCE, rel=FLOAT32)
        assert first.magnetic_field_body_tesla == pytest.approx((1e-5, 2e-5, 3e-5), rel=FLOAT32)
        assert first.pressure_pa == pytest.approx(95000.0, rel=FLOAT32)
        assert last.magnetic_field_body_tesla is None and last.pressure_pa is None
        assert autopilot.fixes[0].v_map == pytest.approx((1.0, 2.0, 3.0))
        assert autopilot.fixes[0].fix_type == 3
        assert bridge.speeds == [600.0] * 4


def test_a_sample_that_comes_twice_is_no_step():
    with flight() as (bridge, _):
        assert bridge.step(STEP_NS, FORCE, RATE)
        assert not bridge.step(STEP_NS, FORCE, RATE)
        assert (bridge.counters.n_steps, bridge.counters.n_repeated) == (1, 1)


def test_a_clock_may_begin_anywhere_but_not_jump():
    epoch_ns = 1_700_000_000 * 10**9
    with flight() as (bridge, _):
        assert bridge.step(epoch_ns, FORCE, RATE)
        with pytest.raises(ValueError, match=r"is 10 s or more after the last, 1700000000\.000 s"):
            bridge.step(epoch_ns + 11 * 10**9, FORCE, RATE)
        assert bridge.step(epoch_ns + STEP_NS, FORCE, RATE)


def test_the_requested_time_ends_the_flight():
    with flight(duration_s=0.008) as (bridge, _):
        bridge.step(STEP_NS, FORCE, RATE)
        assert bridge.outcome is None
        bridge.step(2 * STEP_NS, FORCE, RATE)
        assert bridge.outcome == "0.008 s are over"


def test_an_autopilot_that_leaves_ends_the_flight_with_one_line():
    with flight() as (bridge, autopilot):
        bridge.step(STEP_NS, FORCE, RATE)
        autopilot.leave()
        with pytest.raises(UserError, match="closed the HIL link"):
            for k in range(2, 200):
                bridge.step(k * STEP_NS, FORCE, RATE)


def test_an_autopilot_that_never_comes_is_one_line():
    parameters = BridgeParameters(autopilot="external", instance=INSTANCE, autopilot_wait_s=0.2)
    bridge = BridgeFlight(parameters)
    try:
        with pytest.raises(UserError, match=r"no autopilot connected to TCP port \d+ within 0.2 s"):
            bridge.start(lambda: None)
    finally:
        bridge.close()
