# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The states of a repeat: what leads from one to the next, and how far it drives blind."""

import math

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_teach_repeat.repeat import RepeatParameters, RepeatState

from .stage import NOTHING, Stage
from .vehicle import TestVehicle, poses

STANDS_M_S = 1e-3
EXTRAPOLATED_M = 0.1
"""Wheels are read every 0.1 s of a brake at 0.5 m/s^2, and for 0.4 s before the first time."""


def between(*spans):
    return lambda t: any(low <= t < high for low, high in spans)


def test_a_route_is_driven_from_start_to_end_and_every_change_says_why():
    stage = Stage()
    assert stage.run(1.0).state is RepeatState.IDLE
    stage.repeater.start()
    last = stage.run(60.0)
    assert stage.states == ["starting", "repeating", "finished"]
    assert all(t.reason for t in stage.repeater.transitions)
    assert last.progress == pytest.approx(1.0, abs=0.01) and last.v_m_s == 0.0
    assert abs(stage.vehicle.v) < STANDS_M_S
    end = stage.poses[-1, :2, 3]
    assert np.hypot(*(stage.vehicle.T_map_base[:2, 3] - end)) < 0.2
    assert max(abs(step.lateral_m) for step in stage.steps) < 0.03


def test_it_does_not_move_before_a_command():
    stage = Stage()
    stage.run(3.0)
    assert np.hypot(stage.vehicle.x, stage.vehicle.y) == 0.0
    assert "localize" not in stage.calls


def test_a_start_half_a_metre_and_ten_degrees_beside_is_corrected():
    stage = Stage(vehicle=TestVehicle(x=0.3, y=-0.4, theta=math.radians(10.0)))
    stage.repeater.start()
    last = stage.run(60.0)
    assert last.state is RepeatState.FINISHED
    assert abs(stage.steps[250].lateral_m) < 0.03


@pytest.mark.parametrize("k", [30, 60, 90])
def test_a_start_anywhere_searches_the_whole_route(k):
    """Also straight ahead of the start, beside which it is not."""
    stage = Stage()
    stage.put(stage.poses[k])
    stage.repeater.start(is_anywhere=True)
    stage.run(0.25)
    assert "relocalize" in stage.calls
    s_m = stage.tracker.route.vertex_s_m[k]
    assert stage.repeater.transitions[-1].reason == f"found at {s_m:.1f} m of the route"
    assert stage.steps[-1].s_m == pytest.approx(s_m, abs=0.05)
    assert stage.run(60.0).state is RepeatState.FINISHED


def test_a_wrong_start_is_searched_on_the_whole_route_after_some_tries():
    """The vehicle is said to stand at the start: nothing matches there, until all is searched."""
    stage = Stage()
    stage.lost = lambda t: stage.calls[-1] == "localize" and stage.calls.count("relocalize") == 0
    stage.vehicle.x = 6.0
    stage.repeater.start()
    assert stage.run(40.0).state is RepeatState.FINISHED
    n = RepeatParameters().n_local_attempts
    searched = [call for call in stage.calls if "reset" not in call]
    assert searched[: n + 1] == ["localize"] * n + ["relocalize"]


def test_a_short_loss_is_driven_through_blind():
    stage = Stage(lost=between((8.0, 9.0)))
    stage.repeater.start()
    assert stage.run(60.0).state is RepeatState.FINISHED
    assert stage.states == ["starting", "repeating", "blind", "repeating", "finished"]
    blind = [t for t in stage.repeater.transitions if t.after is RepeatState.BLIND]
    assert blind[0].reason == "fog"


@pytest.mark.parametrize("max_blind_m", [2.0, 3.0, 6.0])
def test_a_long_loss_stops_within_the_allowed_way_and_goes_on_when_found(max_blind_m):
    stage = Stage(parameters=RepeatParameters(max_blind_m=max_blind_m), lost=between((8.0, 20.0)))
    stage.repeater.start()
    stage.run(19.9)
    assert stage.steps[-1].state is RepeatState.RELOCALISING
    assert abs(stage.vehicle.v) < STANDS_M_S
    assert stage.run(80.0).state is RepeatState.FINISHED
    expected = [
        "starting",
        "repeating",
        "blind",
        "stopped",
        "relocalising",
        "repeating",
        "finished",
    ]
    assert stage.states in (expected, [s for s in expected if s != "blind"])
    assert stage.longest_blind_way() <= max_blind_m


def test_a_blind_distance_within_which_it_cannot_stop_is_refused():
    """1 m/s x (0.2 age + 0.1 delay + 0.2 lag + 0.1 period) s + 1 / (2 x 0.5) m = 1.6 m."""
    with pytest.raises(ParameterError, match=r"at least the 1\.60 m"):
        Stage(parameters=RepeatParameters(max_blind_m=1.5))


@pytest.mark.parametrize("silence_s", [5.0, 8.0])
def test_a_lidar_silent_for_seconds_stops_the_vehicle_until_it_is_back(silence_s):
    stage = Stage(silent=between((8.0, 8.0 + silence_s)))
    stage.repeater.start()
    assert stage.run(60.0).state is RepeatState.FINISHED
    assert "stopped" in stage.states
    assert any("no scan for" in t.reason for t in stage.repeater.transitions)
    assert stage.longest_blind_way() <= RepeatParameters().max_blind_m


def test_the_way_of_braking_in_a_silence_is_counted_and_believed():
    stage = Stage(silent=between((8.0, 14.0)))
    stage.repeater.start()
    last = stage.run(13.9)
    assert last.state is RepeatState.RELOCALISING
    off = last.T_map_base[:2, 3] - stage.vehicle.T_map_base[:2, 3]
    assert np.hypot(*off) < EXTRAPOLATED_M
    driven = np.hypot(*np.diff(np.array(stage.truth)[80:, 1:], axis=0).T).sum()
    assert last.blind_m == pytest.approx(driven, abs=EXTRAPOLATED_M)


def carried_away():
    """Return a stage whose vehicle was carried from 8 m to 27 m, where it fits badly at first."""
    stage = Stage(broken=between((8.0, 8.25)))
    stage.repeater.start()
    stage.run(8.0)
    stage.carry(stage.poses[90])
    stage.run(8.25)
    return stage


def test_a_vehicle_that_was_carried_away_stops_and_is_sought_on_the_whole_route():
    """Its scans do not continue the way; what the localiser finds meanwhile is not believed."""
    stage = carried_away()
    last = stage.steps[-1]
    assert last.state is RepeatState.STOPPED and "may have been carried away" in last.reason
    assert last.reason.endswith("a wall where none was") and last.T_map_base is None
    assert not any(step.is_localised for step in stage.steps[-3:])
    assert stage.calls.count("restart") == 1 and "relocalize" not in stage.calls
    assert stage.run(60.0).state is RepeatState.FINISHED
    assert stage.calls.count("relocalize") == 1
    assert stage.states[2:6] == ["blind", "stopped", "relocalising", "repeating"]


def test_while_a_vehicle_that_was_carried_away_rolls_nothing_is_sought():
    stage = carried_away()
    n_before = len(stage.calls)
    while stage.repeater.state is RepeatState.STOPPED:
        stage.run(stage.vehicle.time_s + 0.1)
    assert len(stage.calls) == n_before
    assert stage.repeater.transitions[-1].reason.endswith("its place is not known")


def test_a_localiser_that_is_not_believed_is_taken_back_to_the_belief():
    stage = Stage(broken=between((8.0, 8.05)), matched_ratio=lambda t: 0.7 if t == 8.0 else 1.0)
    stage.repeater.start()
    stage.run(8.05)
    nearest = int(np.argmin(np.linalg.norm(stage.poses[:, :2, 3] - stage.truth[-1][1:], axis=1)))
    assert stage.calls[-2:] == ["localize", f"reset {stage.route_ids[nearest]}"]


def test_scans_that_fit_worse_and_do_not_continue_the_way_are_driven_through_blind():
    fits = {8.0: 0.85, 8.1: 0.8, 9.0: 0.5}
    stage = Stage(
        broken=between((8.0, 8.15), (9.0, 9.05)), matched_ratio=lambda t: fits.get(round(t, 1), 1.0)
    )
    stage.repeater.start()
    assert stage.run(60.0).state is RepeatState.FINISHED
    blind = [t.reason for t in stage.repeater.transitions if t.after is RepeatState.BLIND]
    assert blind == ["the scan does not continue the way: a wall where none was"] * 2
    assert "restart" not in stage.calls


def test_scans_that_fit_the_map_where_motion_leads_are_believed_whatever_odometry_says():
    stage = Stage(broken=between((8.0, 20.0)), matched_ratio=lambda t: 0.95 if t > 8.0 else 1.0)
    stage.repeater.start()
    assert stage.run(70.0).state is RepeatState.FINISHED
    assert "blind" not in stage.states and "restart" in stage.calls


def test_an_empty_scan_is_no_sign_of_another_place():
    spans = between((8.0, 12.0))
    stage = Stage(broken=spans, lost=spans, n_points=5)
    stage.repeater.start()
    assert stage.run(70.0).state is RepeatState.FINISHED
    assert "restart" not in stage.calls and "stopped" in stage.states
    assert stage.longest_blind_way() <= RepeatParameters().max_blind_m


@pytest.mark.parametrize("seed", range(5))
def test_whatever_fails_when_it_never_drives_blind_for_longer_than_allowed(seed):
    rng = np.random.default_rng(seed)
    spans = [[(t, t + rng.uniform(0.1, 6.0)) for t in rng.uniform(2.0, 50.0, 4)] for _ in range(4)]
    stage = Stage(
        lost=between(*spans[0]), silent=between(*spans[1]), unusable=between(*spans[2]),
        broken=between(*spans[3]),
    )  # fmt: skip
    stage.repeater.start()
    stage.run(70.0)
    assert stage.longest_blind_way() <= RepeatParameters().max_blind_m


def test_a_scan_that_cannot_be_used_is_no_localisation_and_says_why():
    stage = Stage(unusable=between((8.0, 30.0)))
    stage.repeater.start()
    stage.run(20.0)
    reasons = [t.reason for t in stage.repeater.transitions]
    assert any("no points" in reason for reason in reasons)
    assert abs(stage.vehicle.v) < STANDS_M_S


def test_what_is_never_found_again_fails_and_says_why():
    stage = Stage(parameters=RepeatParameters(give_up_s=5.0), lost=lambda t: t > 8.0)
    stage.repeater.start()
    last = stage.run(30.0)
    assert last.state is RepeatState.FAILED
    assert "not found within" in last.reason and "fog" in last.reason
    assert abs(stage.vehicle.v) < STANDS_M_S


def test_a_kidnapped_vehicle_stops_is_found_elsewhere_and_goes_on_from_there():
    stage = Stage()
    stage.repeater.start()
    stage.run(8.0)
    stage.carry(stage.poses[90])
    # Localisation fails until all is searched.
    stage.lost = lambda t: "relocalize" not in stage.calls
    assert stage.run(60.0).state is RepeatState.FINISHED
    found = [t.reason for t in stage.repeater.transitions if t.after is RepeatState.REPEATING]
    assert found[-1].startswith("found at")
    assert stage.states[2:5] == ["blind", "stopped", "relocalising"]


def test_pause_brakes_and_resume_goes_on():
    stage = Stage()
    stage.repeater.start()
    stage.run(8.0)
    stage.repeater.pause()
    paused = stage.run(14.0)
    assert paused.state is RepeatState.PAUSED and abs(stage.vehicle.v) < STANDS_M_S
    stage.repeater.resume()
    assert stage.run(70.0).state is RepeatState.FINISHED


def test_cancel_brakes_and_a_new_start_is_possible():
    stage = Stage()
    stage.repeater.start()
    stage.run(8.0)
    stage.repeater.cancel()
    assert stage.run(14.0).state is RepeatState.IDLE
    assert abs(stage.vehicle.v) < STANDS_M_S
    stage.repeater.start(is_anywhere=True)
    assert stage.run(70.0).state is RepeatState.FINISHED


def test_a_vehicle_far_beside_its_route_fails_with_the_distance():
    stage = Stage(vehicle=TestVehicle(y=2.0))
    stage.repeater.start()
    last = stage.run(3.0)
    assert last.state is RepeatState.FAILED and "2.00 m left of the route" in last.reason
    assert stage.vehicle.v == 0.0


def test_a_second_start_and_a_vertex_that_is_not_on_the_route_are_refused():
    stage = Stage()
    with pytest.raises(ValueError, match="vertex 7 must be on the route"):
        stage.repeater.start(vertex_id=7)
    stage.repeater.start()
    with pytest.raises(ValueError, match="under way"):
        stage.repeater.start()


def test_while_it_looks_for_its_place_it_says_why_the_last_scan_was_not_placed():
    stage = Stage(lost=lambda t: t < 3.0)
    stage.repeater.start()
    step = stage.run(1.0)
    assert step.state is RepeatState.STARTING and step.reason == "looks for its place: fog"
    step = stage.run(3.1)
    assert step.reason == "looks for its place: 1 of 2 agree"
    assert stage.run(3.2).state is RepeatState.REPEATING


def test_before_a_start_pause_resume_and_cancel_change_nothing():
    stage = Stage()
    for act in (stage.repeater.pause, stage.repeater.resume, stage.repeater.cancel):
        act()
    assert stage.repeater.state is RepeatState.IDLE and not stage.repeater.transitions


def test_latency_is_compensated_in_a_bend():
    """Without compensation a vehicle 0.3 s late swings; told of it, it does not."""
    errors = []
    for told_s in (0.3, 0.0):
        stage = Stage(parameters=RepeatParameters(latency_s=told_s))
        drive = stage.vehicle.command
        late = 0.3 - told_s
        stage.vehicle.command = lambda t, v, w, drive=drive, late=late: drive(t + late, v, w)
        stage.repeater.start()
        stage.run(35.0)
        errors.append(max(abs(step.lateral_m) for step in stage.steps))
    assert errors[0] < 0.03 < errors[1]


def test_a_way_there_and_back_over_a_cusp_is_repeated():
    x = np.r_[np.arange(0.0, 6.01, 0.3), np.arange(5.7, -0.01, -0.3)]
    stage = Stage(poses=poses(x, 0 * x, 0 * x))
    stage.repeater.start()
    assert stage.run(40.0).state is RepeatState.FINISHED
    assert max(p[1] for p in stage.truth) == pytest.approx(6.0, abs=0.1)
    assert abs(stage.vehicle.x) < 0.25


def test_scans_that_wait_while_another_is_taken_are_no_silence_of_the_lidar():
    stage = Stage()
    stage.repeater.start()
    stage.run(8.0)
    wheels, now_ns = (stage.vehicle.v, stage.vehicle.omega), 8_700_000_000
    stage.repeater.on_tick(now_ns, wheels, heard_ns=now_ns - 100_000_000)
    assert stage.repeater.state is RepeatState.REPEATING
    stage.repeater.on_tick(now_ns, wheels, heard_ns=now_ns - 600_000_000)
    assert stage.repeater.state is RepeatState.BLIND
    stage.run(8.7)
    # However late the caller is: what is driven meanwhile is bounded.
    now_ns = 11_000_000_000
    stage.repeater.on_tick(now_ns, wheels, heard_ns=now_ns - 100_000_000)
    assert stage.repeater.state is RepeatState.STOPPED


def test_a_scan_without_an_end_is_not_longer_than_it_was_before():
    stage = Stage()
    stage.repeater.start()
    stage.repeater.on_scan(NOTHING, np.array([0.05, np.nan]), 0)
    assert stage.repeater.state is RepeatState.STARTING
