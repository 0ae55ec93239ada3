# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state machine in closed loop: what it refuses, what it does by itself."""

import math

import numpy as np
import pytest

from aerotwin_autopilot.arena import Arena
from aerotwin_autopilot.control.guidance import Guidance, guide
from aerotwin_autopilot.control.setpoint import SetpointVector
from aerotwin_autopilot.estimator.layout import N_OUTPUT
from aerotwin_autopilot.landing import GroundContact
from aerotwin_autopilot.offboard import OffboardStream, OffboardTarget
from aerotwin_autopilot.px4_modes import Mode, mode_from_numbers


def test_arming_is_refused_with_a_reason_until_the_estimate_is_good(flight):
    flight.step()
    assert "aligning" in flight.modes.arm()
    flight.has_fixes = False
    flight.run(lambda: flight.time_s > 2.0)
    assert "waiting for GNSS (0 of 5)" in flight.modes.arm()
    assert not flight.modes.is_armed
    flight.has_fixes = True
    flight.make_ready()
    assert flight.modes.arm() == ""
    assert "Ready for takeoff!" in flight.said


def test_takeoff_ends_in_hold_at_the_set_height_and_landing_disarms(flight):
    flight.take_off()
    assert "Takeoff complete: holding" in flight.said
    settling = 2.0
    flight.wait(settling)
    # 2.5 m by the autopilot's own estimate, whose height is as good as the GNSS (3 sigma)
    home = flight.modes.home[2]
    assert flight.modes.position[2] - home == pytest.approx(2.5, abs=0.2)
    assert flight.modes.state_of_landing() == 2
    assert flight.modes.disarm() == "Disarming denied: not landed"
    assert flight.modes.set_mode(Mode.LAND) == ""
    assert flight.modes.state_of_landing() == 4
    flight.run(lambda: not flight.modes.is_armed, 20.0)
    assert flight.vehicle.body.is_on_ground
    assert not flight.vehicle.body.is_crashed
    assert flight.modes.mode is Mode.HOLD


def test_an_armed_vehicle_that_does_not_take_off_disarms_itself(flight):
    flight.make_ready()
    flight.modes.arm()
    flight.wait(10.5)
    assert not flight.modes.is_armed
    assert flight.height < 0.1


def test_a_killed_vehicle_falls(flight):
    flight.take_off()
    assert flight.modes.disarm(force=True) == ""
    flight.wait(1.5)
    assert flight.height < 0.3


def test_offboard_is_refused_without_a_stream(flight):
    flight.take_off()
    assert "no set-points" in flight.modes.set_mode(Mode.OFFBOARD)
    assert flight.modes.mode is Mode.HOLD


def test_offboard_follows_and_holds_when_the_stream_stops(flight):
    flight.take_off()
    goal = flight.modes.position + np.array([2.0, 0.0, 0.0])

    def stream():
        if flight.vehicle.time_us % 100_000 == 0:
            flight.modes.offboard.on_target(OffboardTarget(position=tuple(goal)), flight.time_s)

    flight.each = stream
    flight.wait(0.5)
    assert flight.modes.set_mode(Mode.OFFBOARD) == ""
    flight.wait(5.0)
    assert flight.modes.mode is Mode.OFFBOARD
    assert flight.modes.position == pytest.approx(goal, abs=0.1)
    flight.each = None
    flight.wait(1.2)
    assert flight.modes.mode is Mode.HOLD
    assert "Offboard set-points lost: holding" in flight.said


def test_return_climbs_flies_home_and_lands(flight):
    flight.take_off()
    flight.modes.settings.set("RTL_RETURN_ALT", 5.0)
    place = flight.modes.position + np.array([4.0, 3.0, 0.0])
    assert flight.modes.go_to(place, math.nan, 3.0) == ""
    flight.wait(5.0)
    assert flight.modes.position == pytest.approx(place, abs=0.1)
    heights = []
    flight.modes.set_mode(Mode.RETURN)
    flight.each = lambda: heights.append(flight.height)
    flight.run(lambda: not flight.modes.is_armed, 40.0)
    start = flight.modes.home
    assert max(heights) > 4.0
    # home by the estimate: it wanders with the GNSS by less than a metre in this time
    assert np.hypot(*(flight.modes.position - start)[:2]) < 0.3


def test_reposition_is_refused_on_the_ground(flight):
    flight.make_ready()
    assert "not flying" in flight.modes.go_to(np.zeros(3), math.nan, -1.0)


def test_a_clock_that_goes_back_starts_the_autopilot_again(flight):
    flight.take_off()
    flight.vehicle.time_us = 0
    flight.step()
    assert not flight.autopilot.modes.is_armed
    assert not flight.autopilot.estimator.is_initialised


def test_set_points_move_on_between_messages():
    arena = Arena()
    guidance = Guidance(arena.record["guidance"])
    target = OffboardTarget(
        position=(1.0, 2.0, 3.0), velocity=(1.0, 0.0, 0.0), acceleration=(2.0, 0.0, 0.0), yaw=0.5
    )
    stream, setpoint = OffboardStream(), SetpointVector()
    stream.on_target(target, 10.0)
    stream.write(guidance)
    guide(setpoint.values, guidance.values, np.zeros(N_OUTPUT), 10.1, 0.004)
    assert setpoint.position == pytest.approx([1.11, 2.0, 3.0])
    assert setpoint.values[3:6] == pytest.approx([1.2, 0.0, 0.0])
    assert setpoint.values[9] == 0.5


def test_a_set_point_that_asks_for_nothing_is_no_stream():
    stream = OffboardStream()
    for k in range(5):
        stream.on_target(OffboardTarget(), 0.1 * k)
    assert not stream.is_alive(0.4, timeout_s=1.0)


def test_one_set_point_is_enough_until_it_is_too_old():
    """PX4 asks for one within COM_OF_LOSS_T; MAVSDK sends one, then starts."""
    stream = OffboardStream()
    stream.on_target(OffboardTarget(position=(0.0, 0.0, 3.0)), 0.0)
    assert stream.is_alive(1.0, timeout_s=1.0)
    assert not stream.is_alive(1.01, timeout_s=1.0)


@pytest.mark.parametrize(
    ("wish", "climb", "share", "stands"),
    [(-0.7, 0.0, 0.5, True), (0.0, 0.0, 0.5, False), (-0.7, -0.6, 0.5, False),
     (-0.7, 0.0, 1.0, False)],
)  # fmt: skip
def test_ground_is_felt_only_when_sinking_is_asked_for_and_nothing_gives(
    wish, climb, share, stands
):
    contact = GroundContact()
    assert any(contact.step(0.02, wish, climb, share) for _ in range(100)) == stands


def test_modes_carry_the_numbers_of_px4():
    """Custom modes as seen on a running PX4 v1.14.3."""
    assert Mode.TAKEOFF.custom_mode == 0x02040000
    assert Mode.HOLD.custom_mode == 0x03040000
    assert Mode.LAND.custom_mode == 0x06040000
    assert Mode.RETURN.custom_mode == 0x05040000
    assert Mode.OFFBOARD.custom_mode == 0x00060000
    assert Mode.POSITION.custom_mode == 0x00030000
    assert Mode.ORBIT.custom_mode == 0x01030000
    assert mode_from_numbers(4, 99) is None
