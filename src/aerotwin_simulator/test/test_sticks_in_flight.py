# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The embedded autopilot, and PX4 where it is, flown by the joystick of a ground station."""

import os
import socket

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.frames import rotation_from_quaternion
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import layout
from aerotwin_simulator import Simulation, SimulatorParameters

INSTANCE = 72
GROUND_PORT = 18570 + INSTANCE
READY_LIMIT_S = 90.0
PERIOD_S = 0.04  # QGroundControl's 25 Hz
POSITION_MODE = 1.0, 3.0, 0.0  # POSCTL
FULL_STICK_M_S = 10.0  # MPC_VEL_MANUAL
HOVER_M = 0.5
LONGEST_SILENCE_S = 20.0  # COM_RC_LOSS_T, which PX4's start-up multiplies by the expected speed
HELD_S = 5.0  # COM_FAIL_ACT_T
CENTRE = 0, 0, 500, 0


class Flight:
    """A vehicle in the air, and a ground station with a joystick or a radio beside it."""

    def __init__(self, folder, world, kind):
        values = {
            "controller.kind": kind, "camera.is_rendered": False, "fleet.instance": INSTANCE,
            "mission.file": "none",
        }  # fmt: skip
        self.simulation = Simulation(replaced(SimulatorParameters(), values), world, folder, [])
        self.vehicle = self.simulation.vehicles[0]
        self.backend = self.vehicle.backend
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._packer = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
        self.simulation.start()

    def close(self):
        self._socket.close()
        self.simulation.close()

    @property
    def mode(self):
        return self.backend.autopilot_state.common_mode_name

    def run(self, seconds, axes=None):
        """Fly on, sending the axes of a joystick, or, without, nothing."""
        end_ns = self.simulation.stamp_ns + round(seconds * 1e9)
        due_ns = self.simulation.stamp_ns
        while self.simulation.stamp_ns < end_ns:
            if axes is not None and self.simulation.stamp_ns >= due_ns:
                due_ns += round(PERIOD_S * 1e9)
                message = mavlink.MAVLink_manual_control_message(INSTANCE + 1, *axes, 0)
                self._socket.sendto(message.pack(self._packer), ("127.0.0.1", GROUND_PORT))
            self.simulation.advance()

    def until_mode(self, name, limit_s):
        end_ns = self.simulation.stamp_ns + round(limit_s * 1e9)
        while self.mode != name:
            assert self.simulation.stamp_ns < end_ns, self.mode
            self.simulation.advance()

    def take_off(self):
        state = self.backend.autopilot_state
        while not state.can_fly and self.simulation.stamp_ns < READY_LIMIT_S * 1e9:
            self.simulation.advance()
        self.backend.arm(True)
        self.run(0.5)
        self.backend.take_off(4.0)
        self.run(10.0)

    def enter_position_mode(self):
        self.run(1.0, CENTRE)
        self.backend.client.link.send_command(mavlink.MAV_CMD_DO_SET_MODE, *POSITION_MODE)
        self.run(2.0, CENTRE)
        assert self.mode == "POSITION"


@pytest.fixture
def fly(tmp_path, flat_world):
    flights = []

    def make(kind):
        flights.append(Flight(tmp_path, flat_world, kind))
        return flights[-1]

    yield make
    for flight in flights:
        flight.close()


@pytest.mark.parametrize(
    "kind",
    [
        "embedded",
        pytest.param(
            "px4",
            marks=pytest.mark.skipif(
                "PX4_DIR" not in os.environ, reason="real PX4 not present: set PX4_DIR"
            ),
        ),
    ],
)
def test_a_joystick_flies_in_position_mode_released_it_holds_and_lost_it_returns(fly, kind):
    flight = fly(kind)
    flight.take_off()
    flight.enter_position_mode()
    start = flight.vehicle.truth.copy()
    flight.run(8.0, (1000, 0, 500, 0))
    speed = np.linalg.norm(flight.vehicle.truth[layout.VELOCITY][:2])
    assert speed == pytest.approx(FULL_STICK_M_S, rel=0.1)
    travelled = flight.vehicle.p_map_body - start[layout.POSITION]
    assert travelled @ rotation_from_quaternion(start[layout.QUATERNION])[:, 0] > 30.0
    flight.run(8.0, CENTRE)
    here = flight.vehicle.p_map_body.copy()
    flight.run(4.0, CENTRE)
    assert np.linalg.norm(flight.vehicle.p_map_body - here) < HOVER_M
    flight.until_mode("HOLD", LONGEST_SILENCE_S)  # the joystick is unplugged
    held_ns = flight.simulation.stamp_ns
    flight.until_mode("RETURN", 2.0 * HELD_S)
    assert (flight.simulation.stamp_ns - held_ns) * 1e-9 == pytest.approx(HELD_S, abs=0.5)


def test_a_radio_flies_the_embedded_autopilot(fly):
    flight = fly("embedded")
    flight.take_off()
    flight.enter_position_mode()
    for _ in range(30):
        flight.backend.sticks.set([0.0, 0.0, 1.0, 0.0])
        flight.run(0.1)
    assert flight.vehicle.truth[layout.VELOCITY][2] == pytest.approx(3.0, rel=0.1)
    assert flight.mode == "POSITION"
