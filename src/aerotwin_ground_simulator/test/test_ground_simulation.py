# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot that sees, in a world: terrain, scans in motion, latency, faults, bytes."""

import dataclasses
import math

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.frames import invert_transform, make_transform
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_ground_dynamics import (
    NO_SLIP,
    NoGroundError,
    Twist,
    UnicycleParameters,
    VelocityCommand,
)
from aerotwin_ground_simulator import (
    STEP_NS,
    BlockedSector,
    GroundFaults,
    GroundSimulation,
    Kidnapping,
    LidarSensing,
    LidarSilence,
    RadarSensing,
    TerrainBelow,
    faults_of,
    stand_vehicle,
)
from aerotwin_ground_simulator.flat_scan import deskewed
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import LidarParameters, load_preset
from aerotwin_worlds import World

SLOPE = 0.1
WALL_X_M = 12.0
ROOF_M = 3.0
PERIOD_NS = 100_000_000
SINGLE = 1e-4
"""Embree casts in single precision: some roundings of 1e-7 of some tens of metres."""
T_BASE_LIDAR = make_transform([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0.2, 0.1, 1.0])
"""Turned by 90 degrees to the left, beside the middle: a transpose would be seen."""
EXACT = dataclasses.replace(UnicycleParameters(), slip=NO_SLIP, command_delay_s=0.0)
TURNING = VelocityCommand(0.8, 0.3)
LIDAR = LidarParameters(n_rings=8, n_columns=256)


def mesh(corners, name):
    return TexturedMesh(
        vertices_map=np.array(corners, float),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.full((4, 4, 3), 128, np.uint8),
        name=name,
    )


@pytest.fixture(scope="module")
def queries():
    """Ground that rises by 10 % to the east, a wall across, a roof over the start."""
    up = 60.0 * SLOPE
    ground = [[-60, -60, -up], [60, -60, up], [60, 60, up], [-60, 60, -up]]
    wall = [[WALL_X_M, -60, -9], [WALL_X_M, 60, -9], [WALL_X_M, 60, 20], [WALL_X_M, -60, 20]]
    roof = [[-5, -5, ROOF_M], [5, -5, ROOF_M], [5, 5, ROOF_M], [-5, 5, ROOF_M]]
    names = {"ground": ground, "wall": wall, "roof": roof}
    world = World(
        name="slope",
        meshes=tuple(mesh(corners, name) for name, corners in names.items()),
        origin=GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=488.0),
        attribution="test",
        licence="Apache-2.0",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )
    return WorldQueries(world)


def simulation(queries, *, parameters=EXACT, lidar=LIDAR, seed=3, start=(0.0, 0.0), **more):
    T = make_transform(np.eye(3), [*start, SLOPE * start[0]])
    vehicle = stand_vehicle(queries, parameters, seed=seed, T_map_base=T)
    sensor = LidarSensing(lidar, seed)
    return GroundSimulation(queries, vehicle, [(sensor, T_BASE_LIDAR)], **more)


def radar_simulation(queries, **more):
    """Return a robot that stands on level ground beside the slope's x = 0 with a radar ahead."""
    vehicle = stand_vehicle(queries, EXACT, seed=3, T_map_base=np.eye(4))
    radar = dataclasses.replace(load_preset("radar", "ideal"), n_azimuths=90, n_bins=400)
    sensors = [(RadarSensing(radar, 5), T_BASE_LIDAR)]
    return GroundSimulation(queries, vehicle, sensors, **more), radar


def run(sim, seconds, command=TURNING):
    sim.set_command(command)
    return sim.advance_to(sim.stamp_ns + round(seconds * 1e9))


def test_the_vehicle_stands_on_the_ground_below_a_roof(queries):
    sim = simulation(queries)
    run(sim, 4.0, VelocityCommand(1.0, 0.5))
    p = sim.vehicle.T_map_base[:3, 3]
    assert p[2] == pytest.approx(SLOPE * p[0], abs=SINGLE)
    assert sim.vehicle.T_map_base[:3, 2] * math.hypot(1.0, SLOPE) == pytest.approx(
        [-SLOPE, 0.0, 1.0], abs=SINGLE
    )


def test_the_highest_surface_within_half_a_metre_is_the_ground(queries):
    x, y = np.zeros(2), np.array([0.0, 1.0])
    assert TerrainBelow(queries, 0.0)(x, y) == pytest.approx([0.0, 0.0], abs=SINGLE)
    assert TerrainBelow(queries, ROOF_M)(x, y) == pytest.approx([ROOF_M, ROOF_M], abs=SINGLE)
    east = TerrainBelow(queries, 0.0).carried(np.zeros(2), np.array([11.0, 0.0]))
    assert east(np.array([11.0]), np.zeros(1)) == pytest.approx([1.1], abs=SINGLE)


def test_every_point_lies_on_the_true_mesh_from_where_the_lidar_was(queries):
    sim = simulation(queries)
    scans = run(sim, 3.0)
    assert [scan.stamp_ns for scan in scans] == [k * PERIOD_NS for k in range(30)]
    assert [scan.end_ns for scan in scans] == [(k + 1) * PERIOD_NS for k in range(30)]
    truth = sim.truth
    assert (np.diff(truth.stamps_ns) == STEP_NS).all()
    for scan in scans:
        stamps = scan.stamp_ns + np.round(scan.times_s.astype(float) * 1e9).astype(np.int64)
        columns, of_point = np.unique(stamps, return_inverse=True)
        T_map_lidar = (truth.interpolate(columns).transforms() @ T_BASE_LIDAR)[of_point]
        points = np.column_stack([scan.points_lidar, np.ones(len(scan))])
        on_map = np.einsum("nij,nj->ni", T_map_lidar, points)[:, :3]
        assert len(scan) > 1000
        assert queries.distance(on_map).max() < 2 * SINGLE
    # Taken as a rigid whole, the last scan is off by up to the way of a turn.
    still = points @ (truth.interpolate(columns[:1]).transforms()[0] @ T_BASE_LIDAR).T
    assert queries.distance(still[:, :3]).max() > 0.05


def test_a_command_acts_after_the_latency(queries):
    for latency_s in (0.05, 0.15):
        sim = simulation(queries, latency_s=latency_s)
        sim.advance_to(PERIOD_NS)
        run(sim, latency_s, VelocityCommand(1.0, 0.0))
        assert sim.vehicle.twist.v_m_s == 0.0
        sim.advance_to(sim.stamp_ns + STEP_NS)
        assert sim.vehicle.twist.v_m_s > 0.0


def test_the_delay_of_the_vehicle_adds_to_the_latency(queries):
    late = dataclasses.replace(EXACT, command_delay_s=0.1)
    sim = simulation(queries, parameters=late, latency_s=0.1)
    run(sim, 0.2, VelocityCommand(1.0, 0.0))
    assert sim.vehicle.twist.v_m_s == 0.0
    sim.advance_to(sim.stamp_ns + STEP_NS)
    assert sim.vehicle.twist.v_m_s > 0.0


def test_the_same_seed_gives_the_same_bytes_however_the_time_is_cut(queries):
    def outcome(cuts, seed=3):
        sim = simulation(
            queries, parameters=UnicycleParameters(), lidar=load_preset("lidar", "spinning_16"),
            seed=seed,
        )  # fmt: skip
        sim.set_command(VelocityCommand(0.8, 0.3))
        scans = [scan for cut in cuts for scan in sim.advance_to(cut * STEP_NS)]
        return [scan.cloud.tobytes() for scan in scans], sim.truth.p_ref_body.tobytes()

    whole = outcome([100])
    assert whole == outcome([*range(0, 100, 7), 100])
    assert whole[0] != outcome([100], seed=4)[0]


def test_a_silent_lidar_hands_out_nothing_and_the_vehicle_moves_on(queries):
    silence = LidarSilence(from_s=0.5, until_s=1.0)
    sim = simulation(queries, faults=GroundFaults(silences=(silence,)))
    ends = [scan.end_ns / 1e9 for scan in run(sim, 2.0)]
    assert ends == pytest.approx([0.1, 0.2, 0.3, 0.4, *np.arange(10, 21) / 10])
    assert sim.vehicle.T_map_base[0, 3] > 0.8


def test_nothing_comes_back_from_a_blocked_sector(queries):
    fault = BlockedSector(from_s=0.35, until_s=0.75, azimuth_deg=170.0, width_deg=60.0)
    whole = run(simulation(queries), 1.0)
    partly = run(simulation(queries, faults=GroundFaults(blocked=(fault,))), 1.0)
    for a, b in zip(whole, partly):
        azimuth = np.degrees(np.arctan2(a.points_lidar[:, 1], a.points_lidar[:, 0]))
        is_blocked = (azimuth > 140.0) | (azimuth < -160.0)
        acts = 0.35 <= a.end_ns * 1e-9 < 0.75
        expected = a.cloud[~is_blocked] if acts else a.cloud
        assert len(expected) == len(b) and (expected == b.cloud).all()


def test_a_wholly_blocked_view_is_a_scan_without_points(queries):
    fault = BlockedSector(from_s=0.0, until_s=1.0, width_deg=360.0)
    (scan,) = run(simulation(queries, faults=GroundFaults(blocked=(fault,))), 0.1)
    assert len(scan) == 0
    assert scan.points_lidar.shape == (0, 3) and scan.times_s.shape == (0,)


def test_a_kidnapped_robot_stands_elsewhere_and_its_wheels_do_not_know(queries):
    move = Kidnapping(at_s=1.05, ahead_m=-8.0, left_m=3.0, turn_deg=90.0)
    sim = simulation(queries, start=(5.0, 0.0), faults=GroundFaults(kidnappings=(move,)))
    free = simulation(queries, start=(5.0, 0.0))
    command = VelocityCommand(0.8, 0.0)
    scans = run(sim, 1.05, command)
    run(free, 1.05, command)
    before = free.vehicle.T_map_base
    cosine = before[0, 0]
    at = sim.vehicle.T_map_base
    assert at[:2, 3] == pytest.approx([before[0, 3] - 8.0 * cosine, 3.0], abs=SINGLE)
    assert at[2, 3] == pytest.approx(SLOPE * at[0, 3], abs=SINGLE)
    assert at[1, 0] == pytest.approx(1.0, abs=0.01)  # the turn is made in the slope
    odometry = [s.vehicle.wheel_odometry.T_odom_base for s in (sim, free)]
    assert (odometry[0] == odometry[1]).all()
    scans += sim.advance_to(2_000_000_000)
    # The turn in which it was moved is lost; the others fit.
    assert [s.stamp_ns // PERIOD_NS for s in scans] == [k for k in range(20) if k != 10]
    relative = invert_transform(before) @ at
    assert relative[:2, 3] == pytest.approx([-8.0, 3.0], abs=SINGLE)


def test_faults_are_said_in_words():
    said = faults_of(
        ["silent:20:5", "blocked:30:10", "blocked:1:2:-60:90", "kidnapped:40:3:-1:30",
         "silent:1:0.5", "kidnapped:9:-2"]
    )  # fmt: skip
    assert said == GroundFaults(
        silences=(LidarSilence(from_s=20.0, until_s=25.0), LidarSilence(from_s=1.0, until_s=1.5)),
        blocked=(
            BlockedSector(from_s=30.0, until_s=40.0, azimuth_deg=0.0, width_deg=360.0),
            BlockedSector(from_s=1.0, until_s=3.0, azimuth_deg=15.0, width_deg=150.0),
        ),
        kidnappings=(
            Kidnapping(at_s=40.0, ahead_m=3.0, left_m=-1.0, turn_deg=30.0),
            Kidnapping(at_s=9.0, ahead_m=-2.0),
        ),
    )


@pytest.mark.parametrize(
    "token", ["silent:20", "silent:a:b", "fog:1:2", "", "kidnapped:1:2:3:4:5", "blocked:1:2:3"]
)
def test_a_fault_that_is_none_is_refused_with_the_words_that_are(token):
    with pytest.raises(UserError, match=r"must be one of silent:FROM:SECONDS"):
        faults_of([token])


@pytest.mark.parametrize("token", ["silent:-1:5", "blocked:1:2:60:-60", "kidnapped:nan:1"])
def test_a_fault_out_of_range_is_refused_with_its_word(token):
    with pytest.raises(ParameterError, match=f"--fault {token}"):
        faults_of([token])


def test_a_vehicle_that_drives_off_the_world_says_so(queries):
    sim = simulation(queries, start=(-58.0, 0.0))
    with pytest.raises(NoGroundError, match="no ground"):
        run(sim, 5.0, VelocityCommand(-1.5, 0.0))


def test_a_robot_may_carry_a_radar_whose_turns_are_as_long_as_they_are(queries):
    """The slope pitches it, by which the wall is a little farther along its beam."""
    sim, radar = radar_simulation(queries)
    turns = run(sim, 1.0, VelocityCommand())
    assert [turn.stamp_ns for turn in turns] == [0, 250_000_000, 500_000_000, 750_000_000]
    # the radar looks to the left of the robot, which faces the wall: the wall is to its right
    right = int(np.argmin(np.abs(radar.azimuths + math.pi / 2.0)))
    found = (int(np.argmax(turns[0].levels[right])) + 0.5) * radar.bin_m
    expected = (WALL_X_M - sim.vehicle.T_map_base[:3] @ T_BASE_LIDAR[:, 3])[0]
    expected /= math.cos(math.atan(SLOPE))
    assert found == pytest.approx(expected, abs=radar.resolution_m)


def test_a_blocked_or_silent_radar_says_nothing(queries):
    blocked = BlockedSector(from_s=0.0, until_s=0.6, azimuth_deg=90.0, width_deg=60.0)
    faults = GroundFaults(blocked=(blocked,), silences=(LidarSilence(from_s=0.6, until_s=0.8),))
    sim, radar = radar_simulation(queries, faults=faults)
    turns = run(sim, 1.0, VelocityCommand())
    assert [turn.stamp_ns for turn in turns] == [0, 250_000_000, 750_000_000]
    inside = np.abs(np.degrees(radar.azimuths) - 90.0) < 30.0 - 1e-6
    free, _ = radar_simulation(queries)
    for turn, other in zip(turns[:2], run(free, 0.5, VelocityCommand()), strict=True):
        assert not turn.levels[inside].any()
        np.testing.assert_array_equal(turn.levels[~inside], other.levels[~inside])


@pytest.mark.parametrize("twist", [Twist(2.0, 0.0), Twist(0.0, 1.5), Twist(1.0, -0.8)])
def test_a_flat_scan_lies_where_the_obstacles_were_at_its_stamp(twist):
    """Still points, seen from a robot whose path is integrated in small steps."""
    rng, n, end_s = np.random.default_rng(4), 20_000, 0.1
    times_s = np.linspace(0.0, end_s, n)
    points = rng.uniform(-20.0, 20.0, (n, 3))
    heading = twist.omega_rad_s * times_s
    middle = heading - 0.5 * twist.omega_rad_s * times_s[1]
    steps = twist.v_m_s * times_s[1] * np.column_stack([np.cos(middle), np.sin(middle)])
    path = np.cumsum(np.vstack([[0.0, 0.0], steps[1:]]), axis=0)
    dx, dy = (points[:, :2] - path).T
    seen = np.column_stack([np.cos(heading) * dx + np.sin(heading) * dy,
                            np.cos(heading) * dy - np.sin(heading) * dx, points[:, 2]])  # fmt: skip
    assert np.abs(seen - points).max() > 0.05
    np.testing.assert_allclose(deskewed(seen, times_s, twist), points, atol=1e-6)
