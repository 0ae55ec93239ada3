# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles of one simulation in each other's cameras, lidars and wakes."""

import numpy as np
import pytest
import yaml

from aerotwin_core.messages import deserialize
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import hover_speed_rad_s, layout, load_airframe
from aerotwin_rendering import OBJECT_ID, Rasteriser
from aerotwin_rendering.ray_scene import RayScene
from aerotwin_sensor_models.lidar import POINT
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.airframe_mesh import airframe_mesh
from aerotwin_simulator.mounting import T_body_optical
from aerotwin_simulator.recording import MemorySink
from aerotwin_simulator.scanners import mounting_of
from aerotwin_simulator.truth import transform
from aerotwin_simulator.vehicle_tracks import FIRST_NUMBER

IRIS = load_airframe("iris")
LEVEL, AT_REST = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3)
MS = 1_000_000
FOCAL_PX, WIDTH, HEIGHT = 200.0, 320, 240
HALF_SHAPE_PX = 4.0  # the middle of what is seen is not quite that of the body
EDGE_SHARE = 0.03  # pixels whose middle is within rounding of an edge; a step moves it by 2 px
EYE = {"name": "eye", "outputs": ["mono", "depth", "ids"], "rate_hz": 30.0, "preset": "eye.yaml"}
CAMERA = {"width": WIDTH, "height": HEIGHT, "fx": FOCAL_PX, "fy": FOCAL_PX, "cx": 159.5,
          "cy": 119.5}  # fmt: skip
VEHICLES = ("a", "b")


@pytest.fixture
def make(tmp_path, flat_world):
    """A simulation of vehicles that stand 10 m apart, eastwards, and its messages."""
    made = []
    (tmp_path / "eye.yaml").write_text(yaml.safe_dump({"source": "a test", "parameters": CAMERA}))
    (tmp_path / "cameras.yaml").write_text(yaml.safe_dump({"cameras": [EYE]}))

    def run(names=VEHICLES, *, cameras=False, **changes):
        rows = [{"name": name, "start_east_m": 10.0 * k} for k, name in enumerate(names)]
        (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": rows}))
        values = {
            "camera.is_rendered": False,
            "camera.file": str(tmp_path / "cameras.yaml") if cameras else "none",
            "controller.kind": "ros2",
            "fleet.file": str(tmp_path / "fleet.yaml"),
        }
        sink = MemorySink()
        parameters = replaced(SimulatorParameters(), values | changes)
        simulation = Simulation(parameters, flat_world, tmp_path, [sink])
        made.append(simulation)
        return simulation, sink

    yield run
    for simulation in made:
        simulation.close()


def spin(vehicle, speed_rad_s):
    """Let the rotors turn at a speed now and later."""
    vehicle.backend.motors.kind = layout.ARMED_BY_SPEED
    vehicle.mover.inputs[layout.COMMAND :] = speed_rad_s
    vehicle.body.rotor_speed_rad_s[:] = speed_rad_s


def traced(scene, T_body_optical):
    """Return which pixels see a scene by rays through their middles (240, 320)."""
    v, u = np.mgrid[:HEIGHT, :WIDTH]
    ways = np.stack([(u - 159.5) / FOCAL_PX, (v - 119.5) / FOCAL_PX, np.ones_like(u)], axis=-1)
    ways = ways.reshape(-1, 3) @ T_body_optical[:3, :3].T
    rays = np.column_stack([np.tile(T_body_optical[:3, 3], (len(ways), 1)), ways])
    return np.isfinite(scene.cast(rays.astype(np.float32)).distance_m).reshape(HEIGHT, WIDTH)


def picture(cdr, dtype):
    message = deserialize(cdr, "sensor_msgs/msg/Image")
    return np.frombuffer(bytes(message.data), dtype).reshape(message.height, message.width)


def test_a_camera_shows_the_other_where_it_is_at_the_stamp_and_not_its_own_vehicle(make):
    simulation, sink = make(cameras=True)
    a, b = simulation.vehicles
    assert a.place(np.array([0.0, 0.0, 20.0]), LEVEL, AT_REST, AT_REST) == ""
    assert b.place(np.array([5.0, -1.0, 21.5]), LEVEL, np.array([0.0, 12.0, 2.0]), AT_REST) == ""
    steps = []
    for _ in range(45):
        simulation.advance()
        steps.append([(v.step.start_ns, *map(np.copy, (v.step.start, v.step.end))) for v in (a, b)])
    frames = sink.of("a/eye/ids/image_raw")
    assert len(frames) >= 5
    scene = RayScene([airframe_mesh(IRIS)])
    for stamp_ns, cdr in frames[1:]:
        ids = picture(cdr, np.int32)
        assert {*np.unique(ids)} <= {-1, 0, OBJECT_ID + FIRST_NUMBER + 1}
        rows, columns = np.nonzero(ids == OBJECT_ID + FIRST_NUMBER + 1)
        k = next(k for k, step in enumerate(steps) if stamp_ns <= step[0][0] + 4 * MS)
        share = (stamp_ns - steps[k][0][0]) / (4 * MS)
        # Both fall freely, the difference of their positions is linear in time.
        T = [transform(start) for _, start, _ in steps[k]]
        for pose, (_, start, end) in zip(T, steps[k], strict=True):
            p = layout.POSITION
            pose[:3, 3] = start[p] + share * (end[p] - start[p])
        T_map_optical = T[0] @ T_body_optical((0.1, 0.0, 0.0))
        x, y, z = T_map_optical[:3, :3].T @ (T[1][:3, 3] - T_map_optical[:3, 3])
        u, v = 159.5 + FOCAL_PX * x / z, 119.5 + FOCAL_PX * y / z
        assert abs(0.5 * (columns.min() + columns.max()) - u) < HALF_SHAPE_PX
        assert abs(0.5 * (rows.min() + rows.max()) - v) < HALF_SHAPE_PX
        is_met = traced(scene, np.linalg.inv(T[1]) @ T_map_optical)
        is_shown = ids == OBJECT_ID + FIRST_NUMBER + 1
        assert (is_met != is_shown).sum() <= EDGE_SHARE * is_met.sum()
    (_, grey), (_, depth) = sink.of("a/eye/image_raw")[1], sink.of("a/eye/depth/image_rect")[1]
    ids = picture(sink.of("a/eye/ids/image_raw")[1][1], np.int32)
    is_other = ids >= OBJECT_ID
    assert is_other.any()
    assert np.abs(picture(depth, np.float32)[is_other] - 4.9).max() < 0.35
    assert len(np.unique(picture(grey, np.uint8)[is_other])) > 1


def test_a_lidar_measures_the_distance_of_the_other_and_never_itself(make):
    simulation, sink = make(**{"lidar.preset": "ideal", "lidar.z_m": 0.0})
    a, b = simulation.vehicles
    high = np.array([0.0, 0.0, 30.0])
    for _ in range(60):  # what stands in the air, so that every turn sees the same
        a.place(high, LEVEL, AT_REST, AT_REST)
        b.place(np.array([6.0, 0.0, 30.0]), LEVEL, AT_REST, AT_REST)
        simulation.advance()
    _, cdr = sink.of("a/lidar/points")[0]
    points = np.frombuffer(bytes(deserialize(cdr, "sensor_msgs/msg/PointCloud2").data), POINT)
    xyz = np.column_stack([points[name] for name in "xyz"]).astype(float)
    xyz = xyz @ mounting_of(a.parameters.lidar)[:3, :3].T
    ranges = np.linalg.norm(xyz, axis=1)
    ahead = np.abs(xyz[:, 2]) < 0.1
    assert ahead.sum() > 3
    assert 6.0 - 0.26 < ranges[ahead].min() < 6.0
    assert (xyz[ahead, 0] > 5.0).all()
    assert ranges.min() > 5.0  # the ground is 30 m below


def test_where_a_vehicle_was_is_remembered_and_interpolated_as_its_truth(make):
    simulation, _ = make(("a", "b", "c"), **{"lidar.preset": "ideal"})
    a, b, _ = simulation.vehicles
    b.place(np.array([5.0, 0.0, 9.0]), LEVEL, np.array([3.0, 0.0, 0.0]), np.array([0.0, 0.0, 9.0]))
    known = {}
    for _ in range(25):
        simulation.advance()
        step = b.step
        for stamp_ns in (step.end_ns - 3 * MS, step.end_ns):
            known[stamp_ns] = step.pose(stamp_ns).copy()
    seen = simulation._traffic.seen_by("a", lambda stamp_ns: ("obstacle",))
    for stamp_ns, T_map_body in known.items():
        obstacle, other, third = seen(stamp_ns)
        assert obstacle == "obstacle"
        assert [other.object.name, third.object.name] == ["b", "c"]
        assert (other.T_map_object == T_map_body).all()
    assert seen(33 * MS)[1].T_map_object[1, 0] > 0.2  # it turns to the left
    assert a.look_back_s == pytest.approx(0.1)


def test_a_single_vehicle_has_the_world_itself(make):
    simulation, _ = make(("a",), **{"lidar.preset": "ideal"})
    simulation.advance()
    around = simulation.vehicles[0]._surroundings
    assert not around.sight.objects
    assert around.sight.meshes is around.queries.meshes


def test_another_vehicle_changes_no_byte_of_what_does_not_see_it(make):
    flights = []
    for names in (("a",), ("a", "b")):
        simulation, sink = make(names, **{"wind.turbulence_m_s": 5.0})
        for _ in range(50):
            simulation.advance()
        flights.append([row for row in sink.messages if row[0].startswith("a/")])
    assert len(flights[0]) > 50
    assert flights[0] == flights[1]


def test_all_vehicles_share_one_rasteriser(make, monkeypatch):
    made = []
    original = Rasteriser.__init__
    monkeypatch.setattr(
        Rasteriser,
        "__init__",
        lambda self, *a, **k: (made.append(self), original(self, *a, **k))[1],
    )
    simulation, sink = make(cameras=True)
    for _ in range(10):
        simulation.advance()
    assert len(made) == 1
    assert sink.of("a/eye/ids/image_raw") and sink.of("b/eye/ids/image_raw")


def test_the_order_of_vehicles_does_not_matter(make):
    """Each sees the other, and each is the first once: the same clouds, but for the noise."""
    clouds = []
    for names in (("a", "b"), ("b", "a")):
        simulation, sink = make(names, **{"lidar.preset": "ideal"})
        vehicles = {vehicle.name: vehicle for vehicle in simulation.vehicles}
        for k, name in enumerate(VEHICLES):
            place, v = np.array([4.0 * k, 0.0, 20.0]), np.array([0.0, 3.0 * k, 0.0])
            assert vehicles[name].place(place, LEVEL, v, AT_REST) == ""
        for _ in range(60):
            simulation.advance()
        clouds.append({name: sink.of(f"{name}/lidar/points") for name in VEHICLES})
    first, second = clouds
    assert first["a"] and first == second


def hover_below(make, *, downwash):
    """Return the lower of two that hover, 1.5 m apart, after half a second, and the upper."""
    simulation, _ = make(**{"wind.downwash": downwash})
    high = np.array([0.0, 0.0, 30.0])
    upper, lower = simulation.vehicles
    for vehicle, place in ((upper, high), (lower, high - [0.0, 0.0, 1.5])):
        assert vehicle.place(place, LEVEL, AT_REST, AT_REST) == ""
        spin(vehicle, hover_speed_rad_s(IRIS) / np.sqrt(vehicle.truth[layout.AIR_DENSITY]))
    for _ in range(125):
        simulation.advance()
    return lower, upper


def test_a_vehicle_below_another_loses_height_by_its_downwash(make):
    lower, upper = hover_below(make, downwash=True)
    assert upper.p_map_body[2] == pytest.approx(30.0, abs=0.05)
    assert lower.p_map_body[2] < 28.5 - 0.1
    wind = lower.air.wind_map
    assert -9.0 < wind[2] < -3.0
    assert np.abs(wind[:2]).max() < 0.1
    assert (upper.air.wind_map == 0.0).all()


def test_without_the_switch_there_is_no_downwash(make):
    lower, upper = hover_below(make, downwash=False)
    assert (lower.air.wind_map == 0.0).all()
    assert upper.p_map_body[2] - lower.p_map_body[2] == pytest.approx(1.5, abs=1e-3)


def test_one_beside_another_feels_nothing(make):
    simulation, _ = make(**{"wind.downwash": True})
    for k, vehicle in enumerate(simulation.vehicles):
        vehicle.place(np.array([3.0 * k, 0.0, 30.0 - k]), LEVEL, AT_REST, AT_REST)
        spin(vehicle, hover_speed_rad_s(IRIS))
    for _ in range(10):
        simulation.advance()
    assert all((vehicle.air.wind_map == 0.0).all() for vehicle in simulation.vehicles)
