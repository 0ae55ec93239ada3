# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Walls, overhangs and rims: what ends a flight, what does not, and what the outcome says."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_generated_worlds.cliff import CliffParameters, build_cliff
from aerotwin_meshes import TexturedMesh
from aerotwin_multirotor_dynamics import layout, load_airframe
from aerotwin_multirotor_dynamics.packing import state_length
from aerotwin_rendering import WorldQueries
from aerotwin_simulator import CameraSettings, ControllerSettings, Simulation, SimulatorParameters
from aerotwin_simulator.collision import CollisionWatch, check_together, frame_lines
from aerotwin_simulator.surroundings import GroundTracker

STEP_S = 0.004
IRIS = load_airframe("iris")
HALF_WIDTH = 0.235  # of the iris' hull, its outermost point to the front [m]
OF_A_STEP = 0.05  # speed times a step, and what a curved approach adds [m]


def box(low, high, name):
    """Return the six sides of a box."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    corners = np.asarray(low) + corners * (np.asarray(high) - low)
    sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    return TexturedMesh(
        vertices_map=corners,
        triangles=np.array(triangles, np.int32),
        uv=np.zeros((8, 2), np.float32),
        texture=np.full((1, 1, 3), 90, np.uint8),
        name=name,
    )


GROUND = box([-30, -30, -1], [30, 30, 0], "ground")
HOUSE = box([5, -4, 0], [15, 4, 6], "house")
BRIDGE = box([-10, -4, 4], [-5, 4, 4.3], "bridge")
POLE = box([0, 8, 0], [0.06, 8.06, 9], "pole")


@pytest.fixture(scope="module")
def queries(flat_world):
    return WorldQueries(replace(flat_world, meshes=(GROUND, HOUSE, BRIDGE, POLE)))


def state_at(p_map, v_map=(0.0, 0.0, 0.0), rpy_deg=(0.0, 0.0, 0.0), n_contacts=0):
    state = np.zeros(state_length(IRIS))
    rotation = Rotation.from_euler("xyz", rpy_deg, degrees=True)
    state[layout.POSITION], state[layout.VELOCITY] = p_map, v_map
    state[layout.QUATERNION] = rotation.as_quat()
    state[layout.ROTATION] = rotation.as_matrix().ravel()
    state[layout.N_CONTACTS] = n_contacts
    return state


def fly_straight(queries, start, end, speed, rpy_deg=(0.0, 0.0, 0.0)):
    """Move from start to end; return the collision, where the vehicle was, and looks per step."""
    inputs = np.zeros(layout.COMMAND + 4)
    surface, watch = (
        GroundTracker(queries, inputs),
        CollisionWatch(queries, frame_lines(IRIS), inputs, STEP_S),
    )
    start, end = np.asarray(start, float), np.asarray(end, float)
    way = end - start
    v = speed * way / np.linalg.norm(way)
    n = int(np.linalg.norm(way) / (speed * STEP_S))
    for k in range(n + 1):
        state = state_at(start + k * STEP_S * v, v, rpy_deg)
        surface.update_ground(state)
        if (met := watch.check_state(state)) is not None:
            return met, state[layout.POSITION]
    return None, state[layout.POSITION]


@pytest.mark.parametrize("speed", [0.3, 3.0, 12.0, 25.0])
def test_a_wall_is_met_when_the_hull_reaches_it(queries, speed):
    met, p_map = fly_straight(queries, [-3.0, 0.0, 3.0], [9.0, 0.0, 3.0], speed)
    assert met.what == "house"
    assert met.speed_m_s == pytest.approx(speed)
    assert met.p_map[0] == pytest.approx(5.0, abs=1e-3)
    late = p_map[0] + HALF_WIDTH - 5.0
    assert 0.0 < late < max(OF_A_STEP, 2.0 * speed * STEP_S)


def test_the_outcome_says_what_was_hit_where_and_how_fast(queries):
    met, _ = fly_straight(queries, [-3.0, 0.0, 3.0], [9.0, 0.0, 3.0], 3.0)
    assert re.fullmatch(r"it hit house at 3.0 m/s, at \(5.0, -?\d\.\d, [23]\.\d\) m", str(met))


@pytest.mark.parametrize("y", [5.0, -5.0])
def test_grazing_past_at_a_metre_is_no_crash(queries, y):
    met, _ = fly_straight(queries, [-3.0, y, 3.0], [18.0, y, 3.0], 12.0)
    assert met is None


def test_a_hull_that_just_misses_is_no_crash_and_one_that_just_touches_is(queries):
    near = 4.0 + HALF_WIDTH
    assert fly_straight(queries, [2.0, near + 0.02, 3.0], [14.0, near + 0.02, 3.0], 5.0)[0] is None
    assert fly_straight(queries, [2.0, near - 0.02, 3.0], [14.0, near - 0.02, 3.0], 5.0)[0]


def test_a_bridge_is_hit_from_below_and_stood_on_from_above(queries):
    met, p_map = fly_straight(queries, [-7.5, 0.0, 1.0], [-7.5, 0.0, 6.0], 2.0)
    assert met.what == "bridge"
    assert met.p_map[2] == pytest.approx(4.0, abs=1e-3)
    assert p_map[2] + 0.055 - 4.0 < OF_A_STEP
    above, _ = fly_straight(queries, [-7.5, 0.0, 6.0], [-7.5, 0.0, 4.3 + 0.055 - 0.01], 0.5)
    assert above is None


@pytest.mark.parametrize("place", [(0.0, -9.0, 0.0), (10.0, 0.0, 6.0), (5.05, 0.0, 6.0)])
def test_landing_on_the_ground_on_a_roof_and_on_its_rim_is_no_crash(queries, place):
    x, y, z = place
    standing = 0.055 - 0.01  # the feet press in
    met, _ = fly_straight(queries, [x, y, z + 3.0], [x, y, z + standing], 0.7)
    assert met is None


def test_a_pole_between_the_rotors_is_met(queries):
    """Six centimetres wide: it passes between two spokes and is met by the rim."""
    for y in np.linspace(7.85, 8.2, 8):
        met, _ = fly_straight(queries, [-2.0, y, 5.0], [2.0, y, 5.0], 6.0)
        assert met is not None and met.what == "pole"


def test_a_wall_is_met_from_the_ground_too(queries):
    met, p_map = fly_straight(queries, [3.0, 0.0, 0.05], [6.0, 0.0, 0.05], 1.0)
    assert met.what == "house"
    assert p_map[0] + HALF_WIDTH - 5.0 < OF_A_STEP


def test_a_tilted_hull_reaches_where_it_points(queries):
    """Pitched by 90 degrees, the belly meets the wall 55 mm ahead of the centre of mass."""
    met, p_map = fly_straight(queries, [-3.0, 0.0, 3.0], [9.0, 0.0, 3.0], 3.0, (0.0, 90.0, 0.0))
    assert met.what == "house"
    assert 0.0 < p_map[0] + 0.055 - 5.0 < OF_A_STEP


def look_once(queries, airframe, p_map, rpy_deg=(0.0, 0.0, 0.0)):
    inputs = np.zeros(layout.COMMAND + 4)
    state = state_at(p_map, rpy_deg=rpy_deg)
    GroundTracker(queries, inputs).update_ground(state)
    return CollisionWatch(queries, frame_lines(airframe), inputs, STEP_S).check_state(state)


def test_a_mast_points_where_the_attitude_says(queries):
    """Pitched by 90 degrees, what stood up on the body points ahead; rolled by 90, to the right."""
    masted = replace(IRIS, contact=replace(IRIS.contact, hull_m=((0.0, 0.0, 0.6),)))
    assert look_once(queries, masted, [4.5, 0.0, 3.0], (0.0, 90.0, 0.0)).what == "house"
    assert look_once(queries, masted, [4.5, 0.0, 3.0], (0.0, -90.0, 0.0)) is None
    assert look_once(queries, masted, [10.0, 4.5, 3.0], (90.0, 0.0, 0.0)).what == "house"
    assert look_once(queries, masted, [10.0, 4.5, 3.0], (-90.0, 0.0, 0.0)) is None


def test_the_rim_meets_what_stands_between_two_spokes(queries):
    assert look_once(queries, IRIS, [0.03 - HALF_WIDTH, 8.03, 5.0]).what == "pole"
    assert look_once(queries, IRIS, [-0.05 - HALF_WIDTH, 8.03, 5.0]) is None


@pytest.mark.parametrize(("slope_deg", "is_wall"), [(50.0, False), (75.0, True)])
def test_rough_ground_under_the_hull_is_ground_and_what_is_steep_is_not(
    flat_world, slope_deg, is_wall
):
    rise = 0.25 * np.tan(np.radians(slope_deg))
    stone = replace(
        GROUND,
        vertices_map=np.array(
            [[0.1, 0.05, 0.0], [0.1, 0.5, 0.0], [0.35, 0.5, rise], [0.35, 0.05, rise]]
        ),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.zeros((4, 2), np.float32),
        name="stone",
    )
    queries = WorldQueries(replace(flat_world, meshes=(GROUND, stone)))
    met = look_once(queries, IRIS, [0.0, 0.0, 0.05])
    assert (met is not None) == is_wall


class Counting:
    def __init__(self, queries):
        self._queries, self.n_asked, self.objects = queries, 0, queries.objects
        self.name_of = queries.name_of

    def distance(self, points):
        self.n_asked += 1
        return self._queries.distance(points)

    def segments_hit(self, starts, ends):
        return self._queries.segments_hit(starts, ends)


@pytest.mark.parametrize(
    ("height", "speed", "n_contacts", "most"),
    [(5.0, 3.0, 0, 10), (2.0, 0.0, 0, 10), (0.045, 0.0, 4, 11), (20.0, 10.0, 0, 6)],
)
def test_free_flight_and_standing_are_seldom_looked_at(queries, height, speed, n_contacts, most):
    """Within a second of 250 steps."""
    inputs, counting = np.zeros(layout.COMMAND + 4), Counting(queries)
    watch = CollisionWatch(counting, frame_lines(IRIS), inputs, STEP_S)
    for k in range(250):
        state = state_at((-20.0 + speed * k * STEP_S, 20.0, height), (speed, 0.0, 0.0), (0,) * 3,
                         n_contacts)  # fmt: skip
        GroundTracker(queries, inputs).update_ground(state)
        assert watch.check_state(state) is None
    assert counting.n_asked <= most


def test_the_frame_of_an_airframe_spans_its_rotors_and_contact_points():
    _, ends = frame_lines(IRIS)
    assert np.abs(ends[:, :2]).max() == HALF_WIDTH
    assert sorted(set(ends[:, 2])) == [-0.055, 0.055]
    wide = replace(
        IRIS,
        propeller=replace(IRIS.propeller, radius_m=0.127),
        contact=replace(IRIS.contact, spans_rotors=True),
    )
    starts, ends = frame_lines(wide)
    assert ends[:, 1].max() == pytest.approx(0.22 + 0.127)
    assert ends[:, 0].max() == pytest.approx(0.13 + 0.127)
    assert (np.linalg.norm(starts, axis=1) > 0.0).sum() >= 8


@pytest.fixture(scope="module")
def cliff(flat_world):
    meshes = build_cliff(CliffParameters(seed=1003, spacing_m=0.4, texel_m=0.3))
    return WorldQueries(replace(flat_world, meshes=meshes))


def test_the_cliff_is_met_by_who_flies_into_it_and_passed_at_a_metre(cliff):
    met, p_map = fly_straight(cliff, [0.0, -12.0, 8.0], [0.0, 12.0, 8.0], 5.0)
    surface = cliff.cast([[0.0, -12.0, 8.0]], [[0.0, 1.0, 0.0]])[0] - 12.0
    assert met is not None
    assert surface - 0.5 < p_map[1] < surface + OF_A_STEP
    x = np.linspace(-8.0, 8.0, 200)
    origins = np.column_stack([x, np.full(200, -12.0), np.full(200, 8.0)])
    wall = (cliff.cast(origins, [[0.0, 1.0, 0.0]] * 200) - 12.0).min()
    y = wall - 1.0 - HALF_WIDTH
    while cliff.distance(np.column_stack([x, np.full(200, y), np.full(200, 8.0)])).min() < 1.0:
        y -= 0.1
    assert fly_straight(cliff, [-8.0, y, 8.0], [8.0, y, 8.0], 5.0)[0] is None


def test_vehicles_that_are_checked_together_meet_what_each_meets_alone(cliff):
    """Some far from the wall, some in it; their next checks are due at the same steps, too."""
    rng, inputs = np.random.default_rng(11), np.full(layout.COMMAND + 4, np.nan)  # no ground
    y = np.linspace(-2.0, 4.0, 90)
    states = [
        state_at((x, y, z), (0.0, 3.0, 0.0), tilt)
        for x, y, z, tilt in zip(
            rng.uniform(-8.0, 8.0, 90),
            y,
            rng.uniform(2.0, 14.0, 90),
            rng.uniform(-30.0, 30.0, (90, 3)),
            strict=True,
        )
    ]

    def watches():
        lines = frame_lines(IRIS)
        return [CollisionWatch(cliff, lines, inputs, STEP_S) for _ in states]

    alone, together = watches(), watches()
    for drift in (0.0, 0.05):
        for state in states:
            state[layout.POSITION] += drift
        each = [w.check_state(state) for w, state in zip(alone, states, strict=True)]
        all_at_once = check_together(cliff, list(zip(together, states, strict=True)))
        assert list(map(str, all_at_once)) == list(map(str, each))
        assert 5 < sum(met is not None for met in each) < 85
        assert [w.n_steps_free for w in together] == [w.n_steps_free for w in alone]
        for watch in alone:
            watch.look_again()


def fly(world, controllers, folder, **parameters):
    """Fly the controller of `conftest` that climbs to 2 m, to the end; return the simulation."""
    values = {
        "controller": ControllerSettings(kind=f"python:{controllers}:Climber"),
        "camera": CameraSettings(is_rendered=False),
        "duration_s": 10.0,
    }
    simulation = Simulation(SimulatorParameters(**{**values, **parameters}), world, folder, [])
    simulation.start()
    while simulation.outcome is None:
        simulation.advance()
    simulation.close()
    return simulation


def test_a_climb_into_an_overhang_ends_the_flight_with_its_name(flat_world, controllers, tmp_path):
    bridge = box([0.1, -3, 1.5], [7, 3, 1.8], "bridge")  # above the front of the hull
    simulation = fly(replace(flat_world, meshes=(GROUND, bridge)), controllers, tmp_path)
    assert not simulation.is_success
    said = r"the vehicle crashed: it hit bridge at \d\.\d m/s, at \(0\.[12], -?0\.\d, 1\.5\) m"
    assert re.fullmatch(said, simulation.outcome)
    (vehicle,) = simulation.vehicles
    assert vehicle.body.is_crashed
    assert vehicle.body.state_vector[2] < 1.5 - 0.055 + OF_A_STEP


def test_the_same_climb_beside_it_is_flown(flat_world, controllers, tmp_path):
    bridge = box([1.4, -3, 1.5], [7, 3, 1.8], "bridge")
    simulation = fly(replace(flat_world, meshes=(GROUND, bridge)), controllers, tmp_path)
    assert simulation.is_success


def test_a_take_off_from_a_roof_is_flown(flat_world, controllers, tmp_path):
    house = box([-5, -5, 0], [5, 5, 1.0], "house")
    simulation = fly(replace(flat_world, meshes=(GROUND, house)), controllers, tmp_path)
    assert simulation.is_success


def test_a_fall_tells_where_and_what_ground_was_hit(flat_world, controllers, tmp_path):
    world = replace(flat_world, meshes=(GROUND,))
    simulation = fly(
        world,
        controllers,
        tmp_path,
        controller=ControllerSettings(kind=f"python:{controllers}:Faller"),
    )
    said = (
        r"the vehicle crashed: it hit the ground \(ground\) at \d+\.\d m/s, at \(.*, .*, 0\.\d\) m"
    )
    assert re.fullmatch(said, simulation.outcome)


def test_who_was_refused_a_place_stands_on_the_ground_of_its_own(flat_world, controllers, tmp_path):
    house = box([-5, -5, 0], [5, 5, 1.0], "house")
    wall = box([8, -3, 0], [9, 3, 4.0], "wall")
    values = {
        "controller": ControllerSettings(kind=f"python:{controllers}:Climber"),
        "camera": CameraSettings(is_rendered=False),
    }
    world = replace(flat_world, meshes=(GROUND, house, wall))
    simulation = Simulation(SimulatorParameters(**values), world, tmp_path, [])
    (vehicle,) = simulation.vehicles
    before = vehicle.mover.inputs.copy()
    level, still = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3)
    found = vehicle.place(np.array([7.9, 0.0, 1.0]), level, still, still)
    simulation.close()
    assert found == "it would touch wall"
    assert before[layout.GROUND_POINT + 2] == 1.0
    np.testing.assert_array_equal(vehicle.mover.inputs, before)
