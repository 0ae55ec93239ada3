# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles in flights: collisions, topics, repeatability, and sensors that take time."""

import textwrap
from dataclasses import replace

import numpy as np
import pytest

from aerotwin_core.bag import BagReader
from aerotwin_core.frames import make_transform
from aerotwin_core.messages import deserialize, stamp_ns
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import layout, load_airframe, standing_pose
from aerotwin_multirotor_dynamics.packing import state_length
from aerotwin_rendering import OBJECT_ID, WorldQueries
from aerotwin_sensor_models import CameraParameters
from aerotwin_sensor_models.camera_errors import ExposureParameters
from aerotwin_sensor_models.lidar import POINT
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    LidarSettings,
    SensorSettings,
    Simulation,
    SimulatorParameters,
    topics,
)
from aerotwin_simulator.body_camera import BodyCamera, CameraTopics, Eye
from aerotwin_simulator.collision import CollisionWatch, frame_lines
from aerotwin_simulator.mounting import T_body_optical
from aerotwin_simulator.recording import BagSink
from aerotwin_simulator.scanners import OBJECTS_NS, middles, mounting_of
from aerotwin_simulator.surroundings import GroundTracker
from aerotwin_worlds.world_follower import Renderer
from support.obstacle_stage import BOX, box_file, course_on, crossing, plane, queries_of

__all__ = ["box_file", "queries_of"]

SECOND = 1_000_000_000
STEP_S = 0.004
HOVERER = textwrap.dedent(
    """
    from aerotwin_multirotor_dynamics import hover_speed_rad_s


    class Hoverer:
        '''Hovers above its start.'''

        def __init__(self, context):
            self.hover = hover_speed_rad_s(context.airframe)
            self.height = 3.0

        def step(self, sample):
            error, climb = self.height - sample.p_map_body[2], sample.v_map_body[2]
            return [self.hover + 100.0 * error - 100.0 * climb] * 4


    class Low(Hoverer):
        def __init__(self, context):
            super().__init__(context)
            self.height = 0.9
    """
)


@pytest.fixture
def hover(tmp_path, flat_world, monkeypatch):
    """Hover for some time beside obstacles; return the simulation and its bag."""
    (tmp_path / "own_hoverer.py").write_text(HOVERER)
    monkeypatch.syspath_prepend(str(tmp_path))

    def run(name, obstacles=(), *, at_ns=0, world=flat_world, also=None, **parameters):
        folder = tmp_path / name
        folder.mkdir()
        bag = BagSink(folder / "bag")
        default = SimulatorParameters(
            camera=CameraSettings(is_rendered=False),
            controller=ControllerSettings(kind="python:own_hoverer:Hoverer"),
            duration_s=3.0,
        )
        simulation = Simulation(replaced(default, parameters), world, folder, [bag])
        try:
            simulation.start()
            for obstacle in obstacles:
                simulation.add_obstacle(obstacle, at_ns)
            while simulation.outcome is None:
                simulation.advance()
                if also is not None:
                    also(simulation)
        finally:
            simulation.close()
            bag.close()
        return simulation, BagReader(folder / "bag")

    return run


def messages_of(bag, *names):
    return [*bag.raw(names)]


LOW = ControllerSettings(kind="python:own_hoverer:Low")
HALF_WIDTH = 0.235  # of the iris' hull, its outermost point to the front and to the rear [m]


def test_a_car_that_crosses_ends_the_flight_with_its_name(hover):
    car = crossing(name="crossing_car", waypoints_m=((-25.0, 0.0), (25.0, 0.0)), speed_m_s=14.0)
    simulation, _ = hover("crash", [car], at_ns=SECOND, controller=LOW, duration_s=9.0)
    assert not simulation.is_success
    assert simulation.outcome.startswith("the vehicle crashed: it hit crossing_car at ")
    late = simulation.stamp_ns * 1e-9 - 1.0 - (25.0 - 2.25 - HALF_WIDTH) / 14.0
    # the nose is lower than 0.9 m, the windscreen behind it is not
    assert -STEP_S < late < 2.25 / 14.0


@pytest.mark.parametrize("speed", [0.5, 14.0, 40.0])
def test_a_wall_that_comes_is_hit_at_once(hover, box_file, speed):
    box = crossing(kind=box_file, waypoints_m=((-12.0, 0.0), (25.0, 0.0)), speed_m_s=speed)
    simulation, _ = hover("wall", [box], at_ns=SECOND, controller=LOW, duration_s=25.0)
    assert "it hit car at " in simulation.outcome
    late = simulation.stamp_ns * 1e-9 - 1.0 - (12.0 - BOX[0] / 2 - HALF_WIDTH) / speed
    assert -0.01 / speed - STEP_S < late < 0.03 / speed + 2.0 * STEP_S  # the hull sways a little


def test_what_appears_in_a_vehicle_is_hit_at_once(hover, box_file):
    box = crossing(name="wall", kind=box_file, waypoints_m=((BOX[0] / 2, 0.0),))
    now, _ = hover("later", [box], at_ns=2 * SECOND, controller=LOW)
    assert "it hit wall at " in now.outcome
    assert now.stamp_ns == 2 * SECOND

    def also(simulation):
        if simulation.stamp_ns == 2 * SECOND:
            simulation.add_obstacle(box, simulation.stamp_ns)

    event, _ = hover("event", also=also, controller=LOW)
    assert event.stamp_ns == 2 * SECOND + 4_000_000


def test_a_car_below_is_flown_over_and_measured_by_the_range_finder(hover):
    car = crossing(waypoints_m=((-20.0, 0.0), (20.0, 0.0)), speed_m_s=8.0)
    simulation, bag = hover(
        "over", [car], at_ns=SECOND, sensors=SensorSettings(range_finder="lidar_lite_v3"),
        duration_s=4.5,
    )  # fmt: skip
    assert simulation.outcome == "4.5 s are over, in the air"
    truth = bag.trajectory("/truth/odom")
    found = {True: [], False: []}
    for _, _, message in bag.messages(["/range"]):
        t = stamp_ns(message) * 1e-9
        k = np.searchsorted(truth.stamps_ns, stamp_ns(message))
        if t > 0.9:
            x = -20.0 + 8.0 * (t - 1.0)
            if abs(x) < 0.5 or abs(x) > 3.0:
                found[abs(x) < 0.5].append(message.range - truth.p_ref_body[k, 2])
    assert np.median(found[False]) == pytest.approx(0.0, abs=0.1)
    assert np.median(found[True]) == pytest.approx(-1.5, abs=0.1)
    assert len(found[True]) >= 2


def test_the_truth_is_published_from_its_start_to_its_end(hover):
    way = ((-20.0, 5.0), (12.0, 29.0))  # 40 m
    car = crossing(waypoints_m=way, speed_m_s=20.0, at_end="disappears")
    _, bag = hover("truth", [car], at_ns=SECOND // 2)
    found = list(bag.messages(["/obstacles/car/odom"]))
    stamps = [stamp_ns(message) for _, _, message in found]
    assert stamps == [k * SECOND // 20 for k in range(10, 50)]
    assert [logged for _, logged, _ in found] == stamps
    for _, _, message in found[1:-1]:
        t = stamp_ns(message) * 1e-9 - 0.5
        assert (message.header.frame_id, message.child_frame_id) == ("map", "obstacles/car")
        p, v = message.pose.pose.position, message.twist.twist.linear
        expected = [-20.0 + 16.0 * t, 5.0 + 12.0 * t, 0.0]
        np.testing.assert_allclose([p.x, p.y, p.z], expected, atol=1e-6)
        np.testing.assert_allclose([v.x, v.y, v.z], [20.0, 0.0, 0.0], atol=1e-6)
        q = message.pose.pose.orientation
        assert 2.0 * np.arctan2(q.z, q.w) == pytest.approx(np.arctan2(0.6, 0.8))


def test_the_turn_rate_is_that_of_the_heading(queries_of):
    course = course_on(queries_of(plane()), crossing(waypoints_m=((0, 0), (10, 0), (10, 10))))
    moving = course._moving["car"]
    odometry = deserialize(moving.odometry(SECOND), "nav_msgs/msg/Odometry")
    # 90 degrees in 2 m at 10 m/s, to the left
    assert odometry.twist.twist.angular.z == pytest.approx(np.pi / 2 / 0.2, rel=1e-6)


def test_the_same_seed_gives_the_same_bytes(hover):
    obstacles = [crossing(), crossing(name="person", kind="person", speed_m_s=1.4, wait_s=0.3)]
    lidar = LidarSettings(preset="spinning_16", z_m=0.1)
    names = ["/lidar/points", "/obstacles/car/odom", "/obstacles/person/odom", "/truth/odom"]
    bags = [hover(k, obstacles, at_ns=SECOND // 2, lidar=lidar, seed=4)[1] for k in ("a", "b")]
    first, second = (messages_of(bag, *names) for bag in bags)
    assert {name for name, _, _ in first} == {*names}
    assert first == second


def test_an_obstacle_out_of_reach_changes_no_byte_of_the_vehicle(hover):
    far = crossing(waypoints_m=((-38.0, 38.0), (38.0, 38.0)))
    names = ["/truth/odom", "/imu/data_raw", "/gnss/fix", "/rotors"]
    _, with_it = hover("with", [far])
    _, without = hover("without")
    assert messages_of(with_it, *names) == messages_of(without, *names)


def test_a_reset_removes_them_and_frees_their_names(hover):
    seen = []

    def also(simulation):
        if simulation.stamp_ns == SECOND:
            seen.append(len(simulation._queries.objects))
            simulation.reset()
            seen.append(len(simulation._queries.objects))
            simulation.add_obstacle(crossing(), SECOND + SECOND // 2)
            seen.append(len(simulation._queries.objects))
        if simulation.stamp_ns == 2 * SECOND:
            seen.append(len(simulation._queries.objects))

    _, bag = hover("reset", [crossing()], also=also)
    assert seen == [1, 0, 0, 1]
    stamps = [stamp_ns(message) for _, _, message in bag.messages(["/obstacles/car/odom"])]
    assert stamps == [k * SECOND // 20 for k in (*range(1, 21), *range(30, 61))]


def test_a_time_that_is_over_is_refused(hover):
    def also(simulation):
        if simulation.stamp_ns == SECOND:
            with pytest.raises(ValueError, match="must not be before"):
                simulation.add_obstacle(crossing(), SECOND - 4_000_001)

    hover("late", also=also, duration_s=1.1)


class Stream:
    """Tiles that change once the vehicle is in the air."""

    def __init__(self, before, after):
        self.meshes, self._after, self.n_updates = before, after, 0

    def update(self, p_map):
        self.n_updates += 1
        is_new = self.n_updates == 3
        if is_new:
            self.meshes = self._after
        return is_new

    def close(self):
        pass


def test_a_world_that_streams_keeps_them(hover, flat_world):
    below = (plane(height=-1.0, half=40.0),)
    world = replace(flat_world, stream=Stream(flat_world.meshes, below))
    seen = {}

    def also(simulation):
        for placed in simulation._queries.objects:
            seen[simulation.stamp_ns] = placed.T_map_object[2, 3]

    hover("stream", [crossing()], world=world, also=also, duration_s=1.0)
    heights = np.array([*seen.values()])
    assert len(heights) == 250
    assert {*heights} == {0.0, -1.0}
    assert heights[0] == 0.0
    assert heights[-1] == -1.0


# -- sensors that take time ------------------------------------------------------------------------


def test_every_shot_of_a_lidar_meets_a_fast_box_where_it_is_then(hover, box_file):
    speed = 14.0
    box = crossing(kind=box_file, waypoints_m=((-30.0, 6.0), (30.0, 6.0)), speed_m_s=speed)
    simulation, bag = hover(
        "lidar", [box], lidar=LidarSettings(preset="ideal", z_m=0.2), duration_s=4.0
    )
    truth = bag.trajectory("/truth/odom")
    T_body_lidar = mounting_of(simulation.vehicles[0].parameters.lidar)
    errors = []
    for _, _, cloud in bag.messages(["/lidar/points"]):
        begin = stamp_ns(cloud)
        points = np.frombuffer(bytes(cloud.data), POINT)
        times = begin + (points["time"].astype(float) * 1e9).round().astype(np.int64)
        if begin < SECOND or times.max() > truth.stamps_ns[-1]:
            continue
        xyz = np.column_stack([points[n] for n in "xyz"]).astype(float)
        columns, of_point = np.unique(times, return_inverse=True)
        T_map_lidar = (truth.interpolate(columns).transforms() @ T_body_lidar)[of_point]
        in_map = np.einsum("nij,nj->ni", T_map_lidar[:, :3, :3], xyz) + T_map_lidar[:, :3, 3]
        on_box = in_map[:, 2] > 0.1
        centre = np.column_stack(
            [-30.0 + speed * times * 1e-9, np.full(len(times), 6.0), np.full(len(times), 1.0)]
        )
        local = (in_map - centre)[on_box]
        q = np.abs(local) - np.array(BOX) / 2
        outside = np.linalg.norm(np.maximum(q, 0.0), axis=1)
        errors.append(np.where((q > 0).any(axis=1), outside, -q.max(axis=1)))
    errors = np.concatenate(errors)
    assert len(errors) > 1000
    half_part = 0.5 * speed * OBJECTS_NS * 1e-9
    assert errors.max() < half_part + 6e-3  # truth/odom at 100 Hz; single precision
    assert errors.max() > 1e-4


def test_parts_of_a_turn_are_equal_and_short():
    stamps = np.array(middles(7, 7 + SECOND // 10))
    assert (np.diff(stamps) == OBJECTS_NS).all()
    assert stamps[0] == 7 + OBJECTS_NS // 2
    assert len(middles(0, SECOND // 4)) == 125


class Still:
    """A body that does not move."""

    def __init__(self, end_ns):
        self.end_ns = end_ns

    def pose(self, stamp_ns):
        return make_transform(np.eye(3), [0.0, 0.0, 1.0])


@pytest.mark.parametrize("exposure_s", [0.0, 0.01])
def test_bands_of_a_rolling_shutter_show_a_box_at_their_own_time(flat_world, box_file, exposure_s):
    speed, readout_s, focal, begin = 14.0, 0.03, 200.0, 2 * SECOND
    way = ((8.0, -28.0), (8.0, 20.0))
    course = course_on(
        WorldQueries(flat_world), crossing(kind=box_file, waypoints_m=way, speed_m_s=speed)
    )
    parameters = CameraParameters(
        width=320, height=240, fx=focal, fy=focal, cx=159.5, cy=119.5, readout_s=readout_s,
        exposure=ExposureParameters(time_s=exposure_s),
    )  # fmt: skip
    places = [
        CameraTopics(image=topics.Topic(f"{kind}/image", ""), info=topics.Topic(f"{kind}/info", ""))
        for kind in ("mono", "ids")
    ]
    eye = Eye(
        name="eye",
        frame_id="eye_optical",
        T_body_optical=T_body_optical((0.0, 0.0, 0.0)),
        camera_index=0,
        sinks=dict(zip(("mono", "ids"), places, strict=True)),
    )
    renderer = Renderer(flat_world, course.at)
    camera = BodyCamera(parameters, [eye], rate_hz=0.5, renderer=renderer, seed=0)
    frames = dict(camera.frames(Still(begin + SECOND // 10)))
    (cdr,) = (cdr for topic, cdr in frames[begin] if topic.name == "ids/image")
    message = deserialize(cdr, "sensor_msgs/msg/Image")
    ids = np.frombuffer(bytes(message.data), np.int32).reshape(240, 320)
    nearest = 8.0 - BOX[1] / 2  # its left side, as it heads north, looks at the camera
    n_seen = 0
    for first in range(0, 240, 16):
        delay_s = readout_s * (first + 7.5) / 239
        y = speed * delay_s  # straight ahead at the beginning
        for row in ids[first : first + 16]:
            columns = np.flatnonzero(row == OBJECT_ID)
            if len(columns):
                n_seen += 1
                left = 159.5 - focal * (y + BOX[0] / 2) / nearest
                right = 159.5 - focal * (y - BOX[0] / 2) / nearest
                assert abs(columns[0] - left) <= 1.0
                assert abs(columns[-1] - right) <= 1.0
    assert n_seen > 40


def test_a_low_obstacle_is_not_taken_for_the_ground(queries_of, tmp_path):
    plate = tmp_path / "plate.obj"
    corners = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (0, 0.1)]
    lines = [f"v {a} {b} {c}" for a, b, c in corners]
    plate.write_text("\n".join([*lines, "f 2 6 8 4", "f 1 3 7 5"]) + "\n")
    queries, iris = queries_of(plane()), load_airframe("iris")
    course = course_on(
        queries, crossing(name="plate", kind=str(plate), waypoints_m=((0, 0),)), start_ns=SECOND
    )
    queries.objects_at = course.at
    inputs = np.zeros(layout.COMMAND + 4)
    state = np.zeros(state_length(iris))
    pose, _ = standing_pose(
        iris, ground_point=np.zeros(3), ground_normal=np.array([0.0, 0.0, 1.0]), yaw_rad=0.0
    )
    state[layout.POSITION], state[layout.ROTATION] = pose, np.eye(3).ravel()
    GroundTracker(queries, inputs).update_ground(state)
    watch = CollisionWatch(queries, frame_lines(iris), inputs, STEP_S)
    assert watch.check_state(state) is None
    queries.stamp_ns = SECOND
    watch.look_again()
    met = watch.check_state(state)
    assert met is not None
    assert met.what == "plate"
