# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights of the whole loop with the embedded autopilot as a process, over a small flat world."""

import os
import socket
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.messages import stamp_ns
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    Px4Settings,
    Simulation,
    SimulatorParameters,
    topics,
)
from aerotwin_simulator.recording import BagSink
from aerotwin_simulator.topics import MessageSink
from aerotwin_worlds import World

INSTANCE = 80
MISSION = """
takeoff_altitude_m: 3.0
speed_m_s: 3.0
waypoints:
  - {position_m: [6.0, 0.0, 3.0], yaw_deg: 0.0}
  - {position_m: [6.0, 6.0, 4.0], yaw_deg: 45.0}
"""
CROSS_TRACK_M = 1.5  # GNSS: 0.36 m correlated and 0.45 m white per axis, 3 sigma horizontally
GNSS_SIGMAS = 5.0
ANCHOR_M = 3.0  # the same, and 0.7 m vertically
ROUNDING = 1e-9


def parameters(tmp_path: Path, **changes) -> SimulatorParameters:
    mission = tmp_path / "mission.yaml"
    mission.write_text(MISSION)
    values = {
        "mission": MissionSettings(file=str(mission)),
        "fleet": FleetSettings(instance=INSTANCE),
        "camera": CameraSettings(width=64, height=48, focal_px=40.0),
        "seed": 3,
    }
    return replaced(SimulatorParameters(**values), changes)


def fly(tmp_path: Path, world: World, name: str, **changes) -> tuple[Simulation, BagReader]:
    folder = tmp_path / name
    folder.mkdir()
    bag = BagSink(folder / "bag")
    simulation = Simulation(parameters(tmp_path, **changes), world, folder, [bag])
    try:
        simulation.start()
        while simulation.outcome is None:
            simulation.advance()
    finally:
        simulation.close()
        bag.close()
    return simulation, BagReader(folder / "bag")


@pytest.fixture(scope="module")
def flight(tmp_path_factory, flat_world):
    """One whole mission: take-off, two way-points, landing."""
    return fly(tmp_path_factory.mktemp("flight"), flat_world, "whole", **{"camera.rate_hz": 5.0})


def test_the_mission_is_flown_and_every_step_answered(flight):
    simulation, _ = flight
    assert simulation.outcome == "the mission is flown"
    vehicle = simulation.vehicles[0]
    counters = vehicle.backend.link.counters
    assert counters.n_answered == counters.n_sent
    assert simulation.is_repeatable
    assert not vehicle.body.is_crashed


def test_the_vehicle_passes_the_way_points_and_lands_at_the_last(flight):
    _, bag = flight
    p_map = bag.trajectory("/truth/odom").p_ref_body
    for waypoint in ([6.0, 0.0, 3.0], [6.0, 6.0, 4.0]):
        assert np.linalg.norm(p_map - waypoint, axis=1).min() < CROSS_TRACK_M
    assert p_map[-1, 2] < 0.2
    assert np.linalg.norm(p_map[-1, :2] - [6.0, 6.0]) < CROSS_TRACK_M


def test_stamps_of_every_topic_increase_and_are_the_header_s(flight):
    _, bag = flight
    last: dict[str, int] = {}
    for topic, stamp, message in bag.messages():
        if hasattr(message, "header") and topic not in ("/slam/odom",):
            own = stamp_ns(message)
            assert own <= stamp + 1_000_000, topic  # MAVLink telemetry is stamped in milliseconds
            assert own >= last.get(topic, -1), topic
            last[topic] = own
    assert {"/imu/data_raw", "/gnss/fix", "/truth/odom", "/stereo/left/image_raw"} <= set(last)


def test_the_transforms_are_those_of_the_autopilots_estimate_in_one_tree(flight):
    _, bag = flight
    edges = [
        (e.header.frame_id, e.child_frame_id, stamp_ns(e))
        for _, _, message in bag.messages(["/tf"])
        for e in message.transforms
    ]
    assert {edge[:2] for edge in edges} == {("map", "odom"), ("odom", "base_link")}
    stamps = [stamp for _, child, stamp in edges if child == "base_link"]
    assert len(stamps) > 100 and stamps == sorted({*stamps})
    body = bag.trajectory("/tf:map.base_link")
    estimate = bag.trajectory("/autopilot/odom")
    shared = np.intersect1d(body.stamps_ns, estimate.stamps_ns, return_indices=True)
    assert len(shared[0]) > 100
    by_tf, said = body.transforms()[shared[1]], estimate.transforms()[shared[2]]
    np.testing.assert_allclose(by_tf, said, atol=ROUNDING)
    frames = next(bag.messages(["/tf_static"]))[2].transforms
    assert "base_link" in {e.header.frame_id for e in frames}


def test_the_frame_of_the_autopilots_odometry_moves_once_when_it_is_anchored(flight):
    """REP 105: its own motion is continuous, what it learns of map moves odom."""
    _, bag = flight
    p_map_odom = bag.trajectory("/tf:map.odom").p_ref_body
    assert len(np.unique(p_map_odom, axis=0)) == 2
    np.testing.assert_array_equal(p_map_odom[0], 0.0)
    assert 0.0 < np.linalg.norm(p_map_odom[-1]) < ANCHOR_M


def test_no_transforms_are_published_when_that_is_switched_off(tmp_path, flat_world):
    changes = {"publish_tf": False, "duration_s": 10.0, "camera.is_rendered": False}
    _, bag = fly(tmp_path, flat_world, "silent", **changes)
    assert bag.counts["/autopilot/odom"] > 0
    assert "/tf" not in bag.topics


def test_rates_are_those_that_were_asked_for(flight):
    simulation, bag = flight
    seconds = simulation.stamp_ns * 1e-9
    for topic, rate_hz in (
        ("/imu/data_raw", 250.0),
        ("/imu/mag", 100.0),
        ("/air_pressure", 50.0),
        ("/truth/odom", 100.0),
        ("/stereo/left/image_raw", 5.0),
        ("/stereo/right/camera_info", 5.0),
        ("/autopilot/status", 1.0),
    ):
        assert bag.counts[topic] == pytest.approx(rate_hz * seconds, abs=1.0), topic


def test_an_image_is_stamped_at_its_exact_due_time(flight):
    _, bag = flight
    stamps = [stamp_ns(m) for _, _, m in bag.messages(["/stereo/left/image_raw"])]
    assert stamps == [200_000_000 * (k + 1) for k in range(len(stamps))]


def test_gnss_lies_about_the_truth_of_its_stamp_with_the_covariance_it_claims(flight, flat_world):
    _, bag = flight
    plane = LocalTangentPlane(flat_world.origin)
    truth = bag.trajectory("/truth/odom")
    for _, _, fix in bag.messages(["/gnss/fix"]):
        stamp = stamp_ns(fix)
        if not truth.stamps_ns[0] <= stamp <= truth.stamps_ns[-1]:
            continue
        p_map = plane.from_geodetic(fix.latitude, fix.longitude, fix.altitude)
        error = p_map - truth.interpolate(np.array([stamp])).p_ref_body[0]
        std = np.sqrt(fix.position_covariance[[0, 4, 8]])
        assert (np.abs(error) < GNSS_SIGMAS * std).all()


def test_the_standing_imu_reads_gravity_upwards_and_the_field_points_north_and_down(flight):
    _, bag = flight
    forces = [m.linear_acceleration.z for _, s, m in bag.messages(["/imu/data_raw"]) if s < 10**9]
    assert np.mean(forces) == pytest.approx(9.81, abs=0.6)  # 3 sigma of the turn-on bias
    field = next(m.magnetic_field for _, _, m in bag.messages(["/imu/mag"]))
    assert field.y > 0.0  # the vehicle faces east: north is to its left
    assert field.z < 0.0
    assert 4e-5 < np.linalg.norm([field.x, field.y, field.z]) < 6e-5


def test_one_seed_gives_the_same_sensor_bytes_and_another_seed_others(tmp_path, flat_world):
    runs = [
        fly(
            tmp_path,
            flat_world,
            name,
            duration_s=9.0,
            seed=seed,
            **{"camera.rate_hz": 10.0},
        )[1]
        for name, seed in (("a", 3), ("b", 3), ("c", 4))
    ]
    mounted = [
        *(topics.IMU, topics.MAGNETIC_FIELD, topics.AIR_PRESSURE),
        *(*topics.OF_A_GNSS, *topics.OF_A_STEREO_PAIR),
    ]
    names = [topics.resolve(topic.name) for topic in mounted]
    first, again, other = ([*bag.raw(names)] for bag in runs)
    assert {name for name, _, _ in first} == set(names)
    assert first == again
    assert first != other


class Declared(MessageSink):
    """An outlet that takes note of its topics."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def add(self, topic: topics.Topic) -> None:
        self.names.add(topic.name)

    def publish_cdr(self, topic: topics.Topic, stamp_ns: int, cdr: bytes) -> None:
        assert topic.name in self.names


@pytest.mark.parametrize(
    ("changes", "optional"),
    [
        ({"camera.is_rendered": False, "sensors.gnss": "none"}, ()),
        ({"camera.is_rendered": False}, topics.OF_A_GNSS),
        ({"sensors.gnss": "none"}, topics.OF_A_STEREO_PAIR),
        (
            {"camera.is_rendered": False, "sensors.gnss": "none", "lidar.preset": "spinning_16"},
            (topics.LIDAR_POINTS,),
        ),
        (
            {"camera.is_rendered": False, "sensors.gnss": "none", "radar.preset": "ideal"},
            topics.OF_A_RADAR,
        ),
    ],
)
def test_a_vehicle_advertises_what_it_has_on_board(tmp_path, flat_world, changes, optional):
    sink = Declared()
    simulation = Simulation(
        parameters(tmp_path, controller=ControllerSettings(kind="ros2"), **changes),
        flat_world,
        tmp_path,
        [sink],
    )
    with_battery = load_airframe(simulation.parameters.airframe).battery.capacity_ah > 0.0
    battery = (topics.BATTERY,) if with_battery else ()
    for _ in range(50):
        simulation.advance()
    simulation.close()
    always = (*topics.OF_THE_WORLD, *topics.OF_A_VEHICLE)
    assert sink.names == {topic.name for topic in (*always, *battery, *optional)}


def test_a_reset_puts_the_vehicle_back_and_time_goes_on(tmp_path, flat_world):
    folder = tmp_path / "reset"
    folder.mkdir()
    simulation = Simulation(
        parameters(tmp_path, **{"camera.is_rendered": False}), flat_world, folder, []
    )
    try:
        simulation.start()
        while simulation.vehicles[0].body.state.p_map_body[2] < 2.0:
            simulation.advance()
        before_ns = simulation.stamp_ns
        simulation.vehicles[0].backend.link.counters.n_missed = 2
        simulation.reset()
        assert simulation.n_missed == 2
        assert not simulation.is_repeatable
        assert simulation.vehicles[0].body.state.p_map_body[2] < 0.2
        while simulation.vehicles[0].body.state.p_map_body[2] < 2.0:
            simulation.advance()
        assert simulation.stamp_ns > before_ns
        assert simulation.outcome is None
    finally:
        simulation.close()


def test_a_killed_autopilot_ends_the_flight_with_a_reason(tmp_path, flat_world):
    folder = tmp_path / "killed"
    folder.mkdir()
    simulation = Simulation(
        parameters(tmp_path, **{"camera.is_rendered": False}), flat_world, folder, []
    )
    try:
        simulation.start()
        for _ in range(500):
            simulation.advance()
        os.kill(simulation.vehicles[0].backend.process.pid, 9)
        while simulation.outcome is None:
            simulation.advance()
    finally:
        simulation.close()
    assert "closed the HIL link" in simulation.outcome
    assert not simulation.is_success


def test_a_busy_port_is_named(tmp_path, flat_world):
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 4560 + INSTANCE))
        other.listen()
        with pytest.raises(UserError, match=f"port {4560 + INSTANCE}"):
            Simulation(
                parameters(tmp_path, **{"camera.is_rendered": False}),
                flat_world,
                tmp_path,
                [],
            )


def test_a_missing_px4_folder_is_named(tmp_path, flat_world):
    changed = parameters(
        tmp_path,
        **{"camera.is_rendered": False},
        controller=ControllerSettings(kind="px4"),
        px4=Px4Settings(dir=str(tmp_path / "none")),
    )
    with pytest.raises(UserError, match="none"):
        Simulation(changed, flat_world, tmp_path, [])


def test_a_wrong_mission_is_named_before_anything_starts(tmp_path, flat_world):
    changed = parameters(tmp_path, **{"camera.is_rendered": False})
    Path(changed.mission.file).write_text("waypoints: [{position: [0, 0, 1]}]")
    with pytest.raises(ParameterError, match="did you mean 'position_m'"):
        Simulation(changed, flat_world, tmp_path, [])
