# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles that hit each other, and those that pass."""

import math
import textwrap

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import Multirotor, layout, load_airframe
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.airframe_mesh import airframe_shape
from aerotwin_simulator.vehicle_collisions import VehicleCollisions

STEP_S = 0.004
IRIS = load_airframe("iris")
HALF_WIDTH_M = 0.22 + 0.1207  # hub and rotor to the left [m]
HALF_LENGTH_M = 0.13 + 0.1207  # hub and rotor ahead: more than the feet's 0.235 [m]
SIDES_M = 0.003  # a rotor is a polygon
LEVEL = (0.0, 0.0, 0.0, 1.0)


def state_of(p_map, q=LEVEL, v=(0.0, 0.0, 0.0)):
    body = Multirotor(IRIS, p_map_body=p_map, q_map_body=q, v_map_body=v)
    return body.state_vector[: layout.N_HEAD].copy()


def watch(n=2):
    pairs = VehicleCollisions(STEP_S)
    pairs.set_vehicles([f"uav{k}" for k in range(n)], [airframe_shape(IRIS).hull] * n)
    return pairs


@pytest.mark.parametrize(("off", "touches"), [(-2.0 * SIDES_M, True), (2.0 * SIDES_M, False)])
def test_two_that_stand_side_by_side_touch_at_the_width_of_their_rotors(off, touches):
    right = state_of((0.0, 0.0, 5.0))
    left = state_of((0.0, 2.0 * HALF_WIDTH_M + off, 5.0))
    assert watch().touching(np.array([right, left])) == ((0, 1) if touches else None)
    turned = state_of(
        (0.0, HALF_WIDTH_M + HALF_LENGTH_M + off, 5.0), (0, 0, math.sqrt(0.5), math.sqrt(0.5))
    )
    assert watch().touching(np.array([right, turned])) == ((0, 1) if touches else None)


def test_one_above_another_touches_at_the_height_of_both():
    low = state_of((0.0, 0.0, 5.0))
    for off, expected in ((-0.001, (0, 1)), (0.001, None)):
        high = state_of((0.0, 0.0, 5.11 + off))  # feet 0.055 below, hull 0.055 above
        assert watch().touching(np.array([low, high])) == expected


def _intersect(first, second):
    """The slow version: a point that is in both hulls, by linear programming."""
    rows = []
    for hull, state in (first, second):
        R, p = state[layout.ROTATION].reshape(3, 3), state[layout.POSITION]
        normals = hull.normals @ R.T
        rows.append((normals, hull.offsets + normals @ p))
    A, b = (np.concatenate(part) for part in zip(*rows, strict=True))
    return linprog(np.zeros(3), A_ub=A, b_ub=b, bounds=[(None, None)] * 3).status == 0


def test_hulls_touch_where_a_linear_programme_finds_a_common_point():
    rng = np.random.default_rng(3)
    hull, found = airframe_shape(IRIS).hull, []
    for _ in range(150):
        q = Rotation.random(2, random_state=rng).as_quat()
        away = rng.normal(size=3)
        away *= rng.uniform(0.0, 0.85) / np.linalg.norm(away)
        states = np.array(
            [state_of((1.0, 2.0, 3.0), q[0]), state_of(np.add((1.0, 2.0, 3.0), away), q[1])]
        )
        touches = watch().touching(states) is not None
        assert touches == _intersect((hull, states[0]), (hull, states[1]))
        found.append(touches)
    assert 30 < sum(found) < 120


def fly(first, second, seconds):
    """Let two move straight on, (position, velocity) each; return time and hits of the first."""
    pairs = watch()
    n = round(seconds / STEP_S)
    for k in range(n):
        before, after = (
            np.array(
                [state_of(np.add(p, np.multiply(v, t * STEP_S)), v=v) for p, v in (first, second)]
            )
            for t in (k, k + 1)
        )
        if hits := pairs.check_states(before, after):
            return (k + 1) * STEP_S, hits
    return None, []


def test_two_that_meet_head_on_hit_when_their_rotors_touch():
    first = ((-5.0, 0.0, 4.0), (8.0, 0.0, 0.0))
    second = ((5.0, 0.0, 4.0), (-4.0, 0.0, 0.0))
    at_s, hits = fly(first, second, 2.0)
    expected = (10.0 - 2.0 * HALF_LENGTH_M) / 12.0
    assert expected <= at_s + SIDES_M / 6.0 and at_s < expected + STEP_S + SIDES_M / 6.0
    ((i, j, of_first, of_second),) = hits
    assert (i, j, of_first.what, of_second.what) == (0, 1, "uav1", "uav0")
    assert of_first.speed_m_s == of_second.speed_m_s == pytest.approx(12.0)
    middle = -5.0 + 8.0 * expected + HALF_LENGTH_M
    assert of_first.p_map == pytest.approx([middle, 0.0, 4.0], abs=0.3)
    assert str(of_first).startswith("it hit uav1 at 12.0 m/s, at (1.")


@pytest.mark.parametrize(("miss_m", "hit"), [(-0.02, True), (0.02, False)])
def test_two_that_cross_pass_by_a_hand_s_breadth(miss_m, hit):
    height = 4.0 + 0.11 + miss_m
    first, second = ((-5.0, 0.0, 4.0), (9.0, 0.0, 0.0)), ((0.0, -5.0, height), (0.0, 9.0, 0.0))
    assert (fly(first, second, 1.5)[0] is not None) == hit


def test_none_passes_through_another_between_two_steps():
    first, second = ((0.0, 0.0, 4.0), (0.0, 0.0, 0.0)), ((0.1, 0.0, 30.0), (0.0, 0.0, -90.0))
    at_s, hits = fly(first, second, 0.4)  # 0.36 m in a step, both are 0.11 m high
    assert at_s == pytest.approx(25.89 / 90.0, abs=STEP_S)
    assert hits[0][2].speed_m_s == pytest.approx(90.0)


def test_one_that_is_placed_into_another_hits_it_at_once():
    pairs = watch()
    far = np.array([state_of((0.0, 0.0, 4.0)), state_of((50.0, 0.0, 4.0))])
    assert pairs.check_states(far, far) == []
    assert pairs.check_states(far, far) == []
    near = np.array([state_of((0.0, 0.0, 4.0)), state_of((0.1, 0.0, 4.0))])
    assert len(pairs.check_states(near, near)) == 1


FLIGHT = textwrap.dedent(
    """
    from aerotwin_multirotor_dynamics import hover_speed_rad_s


    class Leaner:
        '''Climbs to 2 m, then leans towards the other one.'''

        def __init__(self, context):
            self.hover, self.side = hover_speed_rad_s(context.airframe), context.options["side"]

        def step(self, sample):
            error, climb = 2.0 - sample.p_map_body[2], sample.v_map_body[2]
            lift = self.hover + 100.0 * error - 100.0 * climb
            lean = self.side * 0.2 if sample.stamp_ns > 1_500_000_000 else 0.0
            angle, rate = 2.0 * sample.q_map_body[0], sample.omega_map_body_in_body[0]
            roll = 100.0 * (lean - angle) - 30.0 * rate
            return [lift - roll, lift + roll, lift + roll, lift - roll]
    """
)


@pytest.fixture
def fleet(tmp_path, flat_world, monkeypatch):
    """A simulation of the vehicles of a text, with a controller named in it."""
    (tmp_path / "leaning.py").write_text(FLIGHT)
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(text, **changes):
        (tmp_path / "fleet.yaml").write_text(textwrap.dedent(text))
        values = {
            "camera.is_rendered": False,
            "controller.kind": "ros2",
            "fleet.file": str(tmp_path / "fleet.yaml"),
            "record": "none",
            "duration_s": 6.0,
        }
        parameters = replaced(SimulatorParameters(), values | changes)
        return Simulation(parameters, flat_world, tmp_path, [])

    return make


def test_a_flight_ends_as_the_crash_of_both_with_names_speed_and_place(fleet, tmp_path):
    rows = []
    for name, side in (("left", 1), ("right", -1)):
        (tmp_path / f"{name}.yaml").write_text(f"side: {side}\n")
        options = f"controller_options: {tmp_path}/{name}.yaml"
        own = f"start_north_m: {1.5 * side}, controller: 'python:leaning:Leaner', {options}"
        rows.append(f"  - {{name: {name}, {own}}}\n")
    simulation = fleet(f"vehicles:\n{''.join(rows)}")
    try:
        simulation.start()
        while simulation.outcome is None:
            simulation.advance()
    finally:
        simulation.close()
    left, right = simulation.vehicles
    assert not simulation.is_success
    assert simulation.outcome == f"left: {left.outcome}"
    assert left.outcome.startswith("the vehicle crashed: it hit right at ")
    assert right.outcome.startswith("the vehicle crashed: it hit left at ")
    assert left.truth[layout.IS_CRASHED] and right.truth[layout.IS_CRASHED]
    apart = left.p_map_body - right.p_map_body
    assert abs(apart[1]) == pytest.approx(2.0 * HALF_WIDTH_M, abs=0.1)
    speed = np.linalg.norm(left.truth[layout.VELOCITY] - right.truth[layout.VELOCITY])
    assert f"at {speed:.1f} m/s, at (" in left.outcome


def test_vehicles_that_start_in_each_other_are_refused(fleet):
    text = "vehicles: [{{name: a}}, {{name: b, start_north_m: {}}}]"
    with pytest.raises(ParameterError, match=r"b: its start \(0.0, 0.6\) m in map touches a, exp"):
        fleet(text.format(0.6))
    fleet(text.format(0.75)).close()
