# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What happens without being asked for: battery, ground station, GNSS; and the kill commands."""

import math

import numpy as np
import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.session import Session
from aerotwin_px4_bridge.mavlink2 import BATTERY_STATUS

GROUND = 2
VOLTAGE_V = 14.0


def test_a_low_battery_warns_then_returns_then_lands(flight):
    flight.take_off()
    flight.modes.settings.set("RTL_RETURN_ALT", 4.0)
    flight.autopilot.on_battery(0.14, VOLTAGE_V, 10.0)
    flight.wait(0.1)
    assert flight.modes.mode is Mode.HOLD
    assert "Battery low (14%)" in flight.said
    flight.autopilot.on_battery(0.06, VOLTAGE_V, 10.0)
    flight.run(lambda: "Battery critical (6%): returning" in flight.said, 1.0)
    flight.autopilot.on_battery(0.04, VOLTAGE_V, 10.0)
    flight.run(lambda: not flight.modes.is_armed, 20.0)
    assert not flight.vehicle.body.is_crashed
    assert "battery low (4%, limit 15%)" in flight.modes.arm()


def test_an_emergency_battery_lands_at_once(flight):
    flight.take_off()
    flight.autopilot.on_battery(0.04, VOLTAGE_V, 10.0)
    flight.wait(0.1)
    assert flight.modes.mode is Mode.LAND
    assert "Battery at its end (4%): landing" in flight.said


@pytest.mark.parametrize(("action", "mode"), [(0, Mode.HOLD), (2, Mode.LAND), (3, Mode.RETURN)])
def test_what_a_critical_battery_does_can_be_chosen(flight, action, mode):
    flight.take_off()
    assert flight.modes.settings.set("COM_LOW_BAT_ACT", action)
    flight.modes.settings.set("RTL_RETURN_ALT", 20.0)
    flight.modes.go_to(flight.modes.position + np.array([3.0, 0.0, 0.0]), math.nan, 3.0)
    flight.wait(3.0)
    flight.autopilot.on_battery(0.06, VOLTAGE_V, 10.0)
    flight.wait(0.2)
    assert flight.modes.mode is mode


def test_an_unreported_battery_falls_to_one_half(flight):
    flight.modes.settings.set("SIM_BAT_DRAIN", 10.0)
    flight.take_off()
    flight.wait(15.0)
    assert flight.autopilot.battery_share == 0.5
    assert flight.modes.mode is Mode.HOLD


def test_the_battery_comes_over_the_hil_link(flight):
    session = Session(flight.autopilot.parameters, 0)
    encoder = common.MAVLink(None, srcSystem=1, srcComponent=200)
    cells = [3700, 3701, 3702, 3703, *[65535] * 6]
    message = common.MAVLink_battery_status_message(
        0, 0, 1, 2500, cells, 1234, 100, -1, 42, 0, 1
    )  # fmt: skip
    ((message_id, payload),) = session.frames(message.pack(encoder))
    assert message_id == BATTERY_STATUS
    session.on_message(message_id, payload)
    battery = session.autopilot.modes.battery
    assert session.autopilot.battery_share == pytest.approx(0.42)
    assert battery.voltage_v == pytest.approx(14.806)
    assert battery.current_a == pytest.approx(12.34)


def on_ground_station(flight) -> None:
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
    beat = common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3)
    MavlinkServer(flight.autopilot).on_datagram(GROUND, beat.pack(encoder))


def test_a_ground_station_that_falls_silent_brings_the_vehicle_home_when_so_set(flight):
    flight.take_off()
    assert flight.modes.settings.set("NAV_DLL_ACT", 2)
    flight.modes.settings.set("RTL_RETURN_ALT", 3.0)
    on_ground_station(flight)
    flight.wait(9.5)
    assert flight.modes.mode is Mode.HOLD
    flight.run(lambda: "Ground station lost: return" in flight.said, 1.5)
    flight.run(lambda: not flight.modes.is_armed, 30.0)


def test_by_default_and_without_a_station_nothing_happens(flight):
    flight.take_off()
    on_ground_station(flight)
    flight.wait(12.0)
    assert flight.modes.mode is Mode.HOLD
    flight.modes.settings.set("NAV_DLL_ACT", 3)
    flight.wait(0.1)
    assert flight.modes.mode is Mode.LAND


def test_without_gnss_the_vehicle_comes_down_level_and_slowly(flight):
    flight.take_off()
    flight.has_fixes = False
    flight.run(lambda: any("Position lost" in text for text in flight.said), 6.0)
    assert flight.modes.mode is Mode.LAND
    ratios = []
    while flight.modes.is_armed:
        flight.step()
        v, estimator = flight.vehicle.body.state.v_map_body, flight.autopilot.estimator
        ratios.append(np.abs(v[:2]).max() / estimator.standard_deviations()["velocity"])
        assert len(ratios) < 10_000
    assert not flight.vehicle.body.is_crashed
    # level flight by an estimate that knows how wrong it is: four sigma
    assert max(ratios[100:]) < 4.0
    assert "no GNSS fix for 5 s" in flight.modes.refusals()


def test_gnss_that_comes_back_stops_the_blind_descent_from_drifting(flight):
    flight.modes.settings.set("MIS_TAKEOFF_ALT", 8.0)
    flight.take_off()
    flight.has_fixes = False
    flight.run(lambda: flight.modes.mode is Mode.LAND, 6.0)
    flight.has_fixes = True
    flight.run(lambda: "Position regained" in flight.said, 2.0)
    flight.run(lambda: not flight.modes.is_armed, 40.0)
    assert not flight.vehicle.body.is_crashed


def test_flight_termination_stops_the_rotors(flight):
    flight.take_off()
    server = MavlinkServer(flight.autopilot)
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
    for first, is_armed in ((0.0, True), (1.0, False)):
        message = common.MAVLink_command_long_message(1, 1, 185, 0, first, 0, 0, 0, 0, 0, 0)
        server.on_datagram(GROUND, message.pack(encoder))
        assert flight.modes.is_armed == is_armed
    flight.step()
    assert set(flight.autopilot.commands) == {0.0}
