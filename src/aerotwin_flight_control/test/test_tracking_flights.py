# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whole flights on the dynamics: the relay's bars, way-points, landings and failures."""

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_flight_control import RelayController, WaypointController
from aerotwin_multirotor_dynamics import load_airframe

WINDOW_S = 2.0
HALF_S = 3.0
BAR_KNOWN_M = 0.02
BAR_HIDDEN_M = 0.05
BAR_SEPARATION_M = 1.12
NUMERICAL_M = 1e-3  # everything is known: what is left is the step
IRIS = load_airframe("iris")


def _relay(fly, airframe, step_s, **flight):
    """Fly both sides; return the position RMSE in the window of each, and the least separation."""
    sides = [_side(fly, airframe, step_s, is_mirrored, flight) for is_mirrored in (False, True)]
    gap = np.linalg.norm(sides[0].p_map - sides[1].p_map, axis=1)
    return [_rmse(side) for side in sides], gap[_window(sides[0])].min()


def _side(fly, airframe, step_s, is_mirrored, flight):
    options = {
        "origin_m": [0.0, 0.0, 0.5],
        "is_mirrored": is_mirrored,
        "half_duration_s": HALF_S,
        "flight": flight,
    }
    start = (-4.0, 4.5 if is_mirrored else 0.0, 0.0)
    flown = fly(RelayController, options, airframe, start=start, step_s=step_s)
    assert flown.phase[-1] == "landed", flown.controller.failure
    assert not flown.vehicle.is_crashed
    return flown


def _window(flown):
    is_relay = flown.phase == "relay"
    return is_relay & (np.abs(flown.t - flown.t[is_relay][0] - HALF_S) <= WINDOW_S)


def _rmse(flown):
    error = (flown.p_map - flown.wanted_map)[_window(flown)]
    return float(np.sqrt(np.mean(np.sum(error**2, axis=1))))


def test_the_relay_with_everything_known_keeps_within_a_millimetre(fly, relay_config):
    airframe = load_airframe(relay_config / "pegasus_iris.yaml")
    errors, gap = _relay(fly, airframe, 0.002)
    assert max(errors) <= NUMERICAL_M <= BAR_KNOWN_M
    assert gap >= BAR_SEPARATION_M


def test_the_relay_with_lag_hidden_drag_and_mass_keeps_within_five_centimetres(fly, relay_config):
    errors, gap = _relay(
        fly,
        load_airframe(relay_config / "pegasus_iris_hidden.yaml"),
        0.004,
        control={"integral_gain_1_s3": 10.0},
        known_airframe=str(relay_config / "pegasus_iris.yaml"),
    )
    assert NUMERICAL_M < max(errors) <= BAR_HIDDEN_M
    assert gap >= BAR_SEPARATION_M


def test_each_thing_that_is_known_brings_the_relay_nearer(fly, relay_config):
    """Switches off one by one: all three must show."""
    airframe = load_airframe(relay_config / "pegasus_iris.yaml")
    known = _rmse(_side(fly, airframe, 0.004, False, {}))
    for control in (
        {"compensate_drag": False},
        {"feed_forward": "rates"},
        {"feed_forward": "none"},
    ):
        flown = _side(fly, airframe, 0.004, False, {"control": control})
        assert _rmse(flown) > 2.0 * known, control


def test_known_lag_and_rotor_drag_bring_the_iris_nearer(fly):
    blind = {"compensate_rotor_drag": False, "compensate_axial_loss": False}
    controls = (blind, {}, {"motor_lead": 1.0})
    blind_error, drag_error, lead_error = (
        _rmse(_side(fly, IRIS, 0.004, True, {"control": control})) for control in controls
    )
    assert lead_error < 0.5 * drag_error
    assert drag_error < 0.8 * blind_error


WAYPOINTS = {
    "waypoints": [
        {"position_m": [4.0, 0.0, 3.0], "yaw_deg": 90.0},
        {"position_m": [4.0, 4.0, 2.0]},
        {"position_m": [0.0, 4.0, 3.0], "yaw_deg": -170.0},
    ],
    "speed_m_s": 3.0,
}


def test_way_points_are_passed_and_the_vehicle_lands_below_the_last(fly):
    flown = fly(WaypointController, WAYPOINTS, IRIS, step_s=0.004)
    assert list(dict.fromkeys(flown.phase)) == [
        "waiting",
        "taking off",
        "hovering",
        "flying",
        "landing",
        "landed",
    ]
    for waypoint in WAYPOINTS["waypoints"]:
        gaps = np.linalg.norm(flown.p_map - waypoint["position_m"], axis=1)
        assert gaps.min() < 0.05
    assert flown.p_map[-1, :2] == pytest.approx([0.0, 4.0], abs=0.05)
    assert not flown.vehicle.is_crashed and flown.controller.is_finished
    assert flown.controller.progress == 1.0


def test_relative_way_points_begin_where_the_vehicle_stands(fly):
    options = WAYPOINTS | {"is_relative": True}
    flown = fly(WaypointController, options, IRIS, start=(20.0, -5.0, 3.0), step_s=0.004)
    assert flown.p_map[-1, :2] == pytest.approx([20.0, -1.0], abs=0.05)

    waits = flown.phase == "waiting"
    assert waits.sum() * 0.004 == pytest.approx(0.5, abs=0.01)
    assert np.ptp(flown.p_map[waits], axis=0).max() < 1e-3
    assert np.isnan(flown.wanted_map[waits]).all()


def test_a_vehicle_that_cannot_follow_gives_up_in_words(fly, relay_config):
    """Three times the mass it believes: it never leaves the ground."""
    flown = fly(
        WaypointController,
        {"waypoints": [{"position_m": [0.0, 0.0, 9.0]}], "flight": {
            "known_airframe": "iris", "control": {"position_gain_1_s2": 0.1}, "lost_m": 1.0}},
        load_airframe(relay_config / "pegasus_iris_hidden.yaml"),
        step_s=0.004,
    )  # fmt: skip
    assert flown.controller.failure is not None
    assert "m off its trajectory while" in flown.controller.failure


@pytest.mark.parametrize(
    ("controller_type", "options", "message"),
    [
        (WaypointController, {}, "'waypoints' is missing"),
        (WaypointController, {"waypoints": []}, "at least one"),
        (WaypointController, WAYPOINTS | {"speed": 1.0}, "did you mean 'speed_m_s'"),
        (RelayController, {"origin_m": [0.0, 0.0]}, "expected 3 values"),
        (RelayController, {"origin_m": [0, 0, 0], "flight": {"known_airframe": "kite"}}, "kite"),
    ],
)
def test_wrong_options_are_refused_by_name(fly, controller_type, options, message):
    with pytest.raises(ParameterError, match=message):
        fly(controller_type, options, IRIS)
