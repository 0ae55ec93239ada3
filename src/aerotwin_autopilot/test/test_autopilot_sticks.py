# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight by sticks: what a ground station sends, what the vehicle does, and the loss of them."""

import math

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_autopilot.manual_control import shaped, sticks_from_axes
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.px4_modes import Mode

GROUND = 2  # the link of a ground station
HELD_M = 0.5
"""A hover's error: GNSS noise of some seconds, and the wind is calm."""
TILT_ERROR_DEG = 2.0
FAST_TILT_ERROR_DEG = 3.0  # between two decisions the velocity loop brakes against drag
SPEED_ERROR = 0.1
"""Of the full speed: the estimate, and the drag."""


class Station:
    """A ground station that sends its joystick 25 times a second, as QGroundControl does."""

    def __init__(self, flight):
        self.flight, self.server = flight, MavlinkServer(flight.autopilot)
        self._packer = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
        self.axes = 0, 0, 500, 0
        self.sends = True
        self._n = 0
        flight.each = self._on_step

    def _on_step(self):
        self._n += 1
        if self.sends and self._n % 10 == 0:
            self.send(mavlink.MAVLink_manual_control_message(1, *self.axes, 0))

    def send(self, message):
        self.server.on_datagram(GROUND, message.pack(self._packer))

    def set_mode(self, main):
        command = mavlink.MAV_CMD_DO_SET_MODE
        self.send(mavlink.MAVLink_command_long_message(1, 1, command, 0, 1, main, 0, 0, 0, 0, 0))

    def arm(self):
        command = mavlink.MAV_CMD_COMPONENT_ARM_DISARM
        self.send(mavlink.MAVLink_command_long_message(1, 1, command, 0, 1, 0, 0, 0, 0, 0, 0))


@pytest.fixture
def station(flight):
    return Station(flight)


def hover(station, mode, main):
    """Take off to 2.5 m, and change to a stick mode with the sticks in the centre."""
    station.flight.take_off()
    station.flight.wait(2.0)
    station.set_mode(main)
    assert station.flight.modes.mode is mode, station.flight.said


def body(flight):
    return flight.vehicle.body.state


def tilt_deg(flight):
    return math.degrees(math.acos(flight.vehicle.body.R_map_body[2, 2]))


@pytest.mark.parametrize("expo", [0.0, 0.6, 1.0])
def test_a_stick_is_shaped_as_px4_documents_it(expo):
    """MPC_HOLD_DZ, MPC_XY_MAN_EXPO: 0 is linear, 1 cubic, both reach the full stick."""
    sticks = np.linspace(-1.0, 1.0, 41)
    rest = np.sign(sticks) * np.maximum(np.abs(sticks) - 0.1, 0.0) / 0.9
    expected = (1.0 - expo) * rest + expo * rest**3
    assert [shaped(stick, 0.1, expo) for stick in sticks] == pytest.approx(expected, abs=1e-12)


def test_no_stick_goes_beyond_its_end():
    assert sticks_from_axes(0, 0, -1000, 0).throttle == sticks_from_axes(0, 0, 0, 0).throttle == -1
    assert sticks_from_axes(0, 0, 1000, 0).throttle == 1
    assert sticks_from_axes(0, 0, 1001, 0) is None


def test_it_takes_off_by_the_throttle_stick_and_lands_by_it(station):
    flight = station.flight
    flight.make_ready()
    station.set_mode(3)
    station.arm()
    assert flight.modes.is_armed, flight.said
    flight.wait(2.0)
    assert flight.modes.is_landed, "the stick is in its centre"
    station.axes = 0, 0, 1000, 0
    flight.wait(4.0)
    assert flight.vehicle.body.state.v_map_body[2] == pytest.approx(3.0, rel=SPEED_ERROR)
    station.axes = 0, 0, 0, 0
    flight.run(lambda: not flight.modes.is_armed, 30.0)
    assert flight.vehicle.body.is_on_ground and not flight.vehicle.body.is_crashed


def test_position_mode_reaches_the_full_speed_and_released_sticks_hold_the_position(station):
    flight = station.flight
    hover(station, Mode.POSITION, 3)
    flight.wait(3.0)
    start = body(flight).p_map_body.copy()
    flight.wait(5.0)
    assert np.linalg.norm(body(flight).p_map_body - start) < HELD_M
    station.axes = 1000, 0, 500, 0
    flight.wait(7.0)
    assert body(flight).v_map_body[1] == pytest.approx(10.0, rel=SPEED_ERROR), "its nose is north"
    assert abs(body(flight).v_map_body[0]) < 1.0
    station.axes = 0, 0, 500, 0
    flight.wait(6.0)
    here = body(flight).p_map_body.copy()
    flight.wait(5.0)
    assert np.linalg.norm(body(flight).p_map_body - here) < HELD_M
    station.axes = 0, -1000, 500, 0
    flight.wait(3.0)
    assert body(flight).v_map_body[0] < -5.0, "the stick to the left flies west"


def test_the_yaw_stick_turns_to_the_right(station):
    flight = station.flight
    hover(station, Mode.POSITION, 3)
    station.axes = 0, 0, 500, 1000
    flight.wait(3.0)
    rate = math.degrees(body(flight).omega_map_body_in_body[2])
    assert rate == pytest.approx(-50.0, rel=0.1)


def test_altitude_mode_tilts_by_the_stick_and_holds_the_height(station):
    flight = station.flight
    hover(station, Mode.ALTITUDE, 2)
    height_m = flight.height
    station.axes = 1000, 0, 500, 0
    flight.wait(1.5)
    assert tilt_deg(flight) == pytest.approx(35.0, abs=FAST_TILT_ERROR_DEG)
    station.axes = 0, 0, 500, 0
    flight.wait(2.0)
    assert tilt_deg(flight) < TILT_ERROR_DEG
    assert body(flight).v_map_body[1] > 3.0, "it drifts on: only the height is held"
    assert flight.height == pytest.approx(height_m, abs=1.0)


def test_stabilised_mode_tilts_to_the_angle_of_the_stick(station):
    flight = station.flight
    hover(station, Mode.STABILIZED, 7)
    flight.wait(0.5)
    station.axes = 0, 1000, 700, 0
    flight.wait(1.0)
    assert tilt_deg(flight) == pytest.approx(35.0, abs=TILT_ERROR_DEG)
    assert body(flight).v_map_body[0] > 3.0, "the stick to the right flies east"
    station.axes = 500, 0, 700, 0
    flight.wait(1.0)
    assert tilt_deg(flight) == pytest.approx(17.5, abs=TILT_ERROR_DEG)


def test_a_stick_mode_needs_sticks(station):
    flight = station.flight
    station.sends = False
    flight.take_off()
    station.set_mode(3)
    assert flight.modes.mode is Mode.HOLD
    flight.wait(0.1)
    assert "Mode POSITION denied: no manual control" in flight.said
    flight.modes.disarm(force=True)
    station.set_mode(3)
    station.arm()
    assert not flight.modes.is_armed


@pytest.mark.parametrize(("action", "mode"), [(1, Mode.HOLD), (2, Mode.RETURN), (3, Mode.LAND)])
def test_lost_sticks_hold_and_then_do_what_the_parameter_says(station, action, mode):
    flight = station.flight
    assert flight.modes.settings.set("NAV_RCL_ACT", action)
    hover(station, Mode.POSITION, 3)
    station.axes = 500, 0, 500, 0
    flight.wait(3.0)
    station.sends = False
    flight.wait(0.45)
    assert flight.modes.mode is Mode.POSITION
    flight.wait(0.15)
    assert flight.modes.mode is Mode.HOLD and "Manual control lost: holding" in flight.said
    flight.wait(4.8)
    assert flight.modes.mode is Mode.HOLD
    flight.wait(0.4)
    assert flight.modes.mode is mode


def test_sticks_that_come_back_in_time_fly_on(station):
    flight = station.flight
    hover(station, Mode.POSITION, 3)
    station.sends = False
    flight.wait(2.0)
    station.sends = True
    flight.wait(0.2)
    assert flight.modes.mode is Mode.POSITION and "Manual control regained" in flight.said


def test_a_pilot_who_took_over_without_a_position_and_is_lost_lands_blind(station):
    flight = station.flight
    flight.modes.settings.set("MIS_TAKEOFF_ALT", 8.0)
    flight.take_off()
    flight.has_fixes = False
    flight.run(lambda: flight.modes.mode is Mode.LAND, 6.0)
    station.set_mode(7)
    flight.wait(0.5)
    assert flight.modes.mode is Mode.STABILIZED
    station.sends = False
    flight.wait(1.0)
    assert flight.modes.mode is Mode.LAND
    assert flight.said.count("Manual control lost: holding") == 1
    assert flight.said.count("Position lost: landing where the drift goes") == 2


def test_radio_channels_are_sticks_and_those_of_others_are_not(station):
    flight = station.flight
    station.sends = False
    sticks = flight.modes.manual
    centre, rest = (1500, 1500, 1500, 1500), [0] * 14
    station.send(mavlink.MAVLink_rc_channels_override_message(1, 1, 1400, 2000, *centre[2:], *rest))
    assert (sticks.sticks.roll, sticks.sticks.pitch) == (-0.2, 1.0)
    before = sticks.sticks
    station.send(mavlink.MAVLink_rc_channels_override_message(1, 1, 65535, *centre[1:], *rest))
    station.send(mavlink.MAVLink_manual_control_message(9, 100, 0, 500, 0, 0))
    station.send(mavlink.MAVLink_manual_control_message(1, 100, 0x7FFF, 500, 0, 0))
    assert sticks.sticks is before
