# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A real ArduCopter flies the iris by this bridge, where ARDUPILOT_DIR names a built one."""

import math
import os
import time
from contextlib import ExitStack

import numpy as np
import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from aerotwin_ardupilot_bridge import (
    ArduPilotHome,
    JsonLink,
    ardupilot_process,
    find_frame,
    json_port,
)
from aerotwin_ardupilot_bridge.process import PWM_FULL_US, PWM_OFF_US, RATE_HZ, frame_parameters
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import Multirotor, hover_command, load_airframe, standing_pose

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("ARDUPILOT_DIR"), reason="real ArduPilot not present: set ARDUPILOT_DIR"
    ),
]
POINT = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
PLANE = LocalTangentPlane(POINT)
STEP_S = 1.0 / RATE_HZ
FIRST_INSTANCE, CLIENT_PORT = 40, 14970
GUIDED, LAND = 4, 9
HEIGHT_M = 8.0
IMU_IS_CALIBRATED = {"INS_ACCOFFS_X": 0.001, "INS_ACCSCAL_X": 1.001, "FS_THR_ENABLE": 0}


class Flight:
    """An iris, its ArduCopter and a client that commands it, stepped together."""

    def __init__(self, stack, folder, instance=FIRST_INSTANCE):
        airframe = load_airframe("iris")
        frame = find_frame([(rotor.position_m, rotor.spin) for rotor in airframe.rotors])
        motor = airframe.motor
        offset = motor.armed_speed_rad_s / (motor.armed_speed_rad_s + motor.speed_per_command_rad_s)
        hover = offset + (1.0 - offset) * hover_command(airframe, altitude_m=POINT.altitude_m)
        parameters = frame_parameters(frame, hover_thrust=hover**2, speed_offset=offset)
        p, q = standing_pose(airframe, ground_point=(0.0, 0.0, 0.0), yaw_rad=math.pi / 2)
        self.body = Multirotor(
            airframe, p_map_body=p, q_map_body=q, origin_altitude_m=POINT.altitude_m
        )
        self._rotors = list(frame.rotors)
        home = ArduPilotHome(POINT, PLANE)
        port = CLIENT_PORT + instance
        self.client = mavutil.mavlink_connection(f"udpin:127.0.0.1:{port}", source_system=250)
        stack.callback(self.client.close)
        self.link = stack.enter_context(JsonLink(json_port(instance), home))
        self.process = stack.enter_context(
            ardupilot_process(
                "", instance, folder, home=home, client_port=port,
                parameters=parameters | IMU_IS_CALIBRATED,
            )
        )  # fmt: skip
        self.system, self.steps, self.outputs = instance + 1, 0, None
        self.is_ready = self.is_armed = self.was_armed = False
        self.mode = None

    @property
    def time_s(self):
        return self.steps * STEP_S

    def step(self):
        if self.outputs is None:
            self.outputs = self.link.accept(30.0, on_wait=lambda _: self.process.check())
        pwm = np.array(self.outputs.pwm_us[: len(self._rotors)])
        commands = np.zeros(len(self._rotors))
        commands[self._rotors] = np.clip((pwm - PWM_OFF_US) / (PWM_FULL_US - PWM_OFF_US), 0.0, 1.0)
        self.body.step(commands, STEP_S, is_armed=bool(pwm.max() > PWM_OFF_US))
        self.steps += 1
        state = self.body.state
        self.link.send(
            self.time_s,
            np.concatenate([state.p_map_body, state.q_map_body, state.v_map_body]),
            np.concatenate([state.specific_force_in_body, state.omega_map_body_in_body]),
        )
        self.outputs = self.link.answer(self.process.check)
        if self.steps % 50 == 0:
            self._listen()

    def _listen(self):
        while (message := self.client.recv_msg()) is not None:
            kind = message.get_type()
            if kind == "HEARTBEAT" and message.autopilot == mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA:
                self.mode = message.custom_mode
                self.is_armed = bool(message.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
                self.was_armed |= self.is_armed
            elif kind == "SYS_STATUS":
                health = message.onboard_control_sensors_health
                self.is_ready = bool(health & mavlink.MAV_SYS_STATUS_PREARM_CHECK)

    def until(self, condition, limit_s):
        end_s = self.time_s + limit_s
        while not condition():
            assert self.time_s < end_s, f"at {self.time_s:.1f} s in mode {self.mode}"
            self.step()

    def command(self, number, *values):
        padded = (*values, *(0.0,) * (7 - len(values)))
        self.client.mav.command_long_send(self.system, 1, number, 0, *padded)

    def ask(self, condition, number, *values):
        """Send a command each second until it has its effect."""
        for _ in range(60):
            self.command(number, *values)
            end_s = self.time_s + 1.0
            while self.time_s < end_s and not condition():
                self.step()
            if condition():
                return
        pytest.fail(f"command {number} had no effect within a minute")

    def take_off(self):
        self.until(lambda: self.steps > 2000, 3.0)
        self.command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, mavlink.MAVLINK_MSG_ID_SYS_STATUS, 5e5)
        self.until(lambda: self.is_ready, 60.0)
        self.ask(lambda: self.mode == GUIDED, mavlink.MAV_CMD_DO_SET_MODE, 1.0, GUIDED)
        self.ask(lambda: self.is_armed, mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)
        self.command(mavlink.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, HEIGHT_M)
        self.until(lambda: self.body.state.p_map_body[2] > HEIGHT_M - 0.5, 30.0)

    def land(self):
        self.ask(lambda: self.mode == LAND, mavlink.MAV_CMD_DO_SET_MODE, 1.0, LAND)
        self.until(lambda: not self.is_armed, 60.0)


@pytest.fixture
def fly(tmp_path):
    with ExitStack() as stack:
        yield lambda instance=FIRST_INSTANCE: Flight(stack, tmp_path, instance)


def test_it_takes_off_hovers_and_lands_where_it_started(fly, tmp_path):
    flight = fly()
    flight.take_off()
    end_s, heights = flight.time_s + 20.0, []
    while flight.time_s < end_s:
        flight.step()
        heights.append(flight.body.state.p_map_body)
    errors = np.array(heights)[5000:] - np.array([0.0, 0.0, HEIGHT_M])
    assert np.abs(errors).max() < 1.0
    flight.land()
    assert np.linalg.norm(flight.body.state.p_map_body[:2]) < 1.0
    counters = flight.link.counters
    assert counters.n_sent == counters.n_answered == flight.steps
    assert flight.outputs.frame_count == flight.steps
    assert counters.n_waits == counters.n_skipped == counters.n_refused == 0
    assert list(tmp_path.glob("ardupilot_40/logs/*.BIN"))


def test_no_step_is_lost_or_made_twice_when_outputs_are_sent_again(fly):
    flight = fly()
    for second in range(1, 4):
        flight.until(lambda until=second: flight.time_s >= 10.0 * until, 11.0)
        time.sleep(1.4)  # longer than ArduPilot waits
    flight.until(lambda: flight.time_s >= 31.0, 2.0)
    assert flight.link.counters.n_crossed >= 3
    assert flight.link.counters.n_sent == flight.steps == flight.outputs.frame_count
    assert flight.link.counters.n_skipped == 0


def test_two_fly_at_once(fly):
    first, second = fly(40), fly(41)
    for _ in range(5000):
        first.step()
        second.step()
    assert first.outputs.frame_count == second.outputs.frame_count == 5000


def test_one_that_is_killed_is_said_at_once(fly):
    flight = fly()
    flight.until(lambda: flight.time_s >= 2.0, 3.0)
    os.kill(flight.process.pid, 9)
    begin = time.monotonic()
    with pytest.raises(UserError, match="ArduPilot 40 was killed by SIGKILL"):
        flight.until(lambda: False, 10.0)
    assert time.monotonic() - begin < 2.0
