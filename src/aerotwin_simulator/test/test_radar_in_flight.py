# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The radar of a vehicle in the composed simulator: its topics in the bag, and its description."""

import json

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import make_transform
from aerotwin_core.messages import serialize, stamp_ns
from aerotwin_core.trajectory import Trajectory
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import Radar, load_preset, polar_scan, targets_message
from aerotwin_simulator import (
    AwaitedReadings,
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    RadarSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.scanners import Turns, mounting_of

PERIOD_NS = 250_000_000
SEED = 1000
MOUNTING = RadarSettings(preset="navtech_cir304", x_m=0.2, z_m=-0.1, pitch_deg=20.0, yaw_deg=90.0)


def flown(fly, controllers, name="flight", **changes):
    settings = {
        "controller": ControllerSettings(kind=f"python:{controllers}:Climber"),
        "radar": MOUNTING,
        "duration_s": 1.02,
        "seed": SEED,
    }
    return fly(name, **settings | changes)


def expected_scans(truth: Trajectory, queries: WorldQueries, vehicle: int = 0):
    """Return what the model says of a flight's true poses, step by step."""
    radar = Radar(load_preset("radar", MOUNTING.preset), SEED, vehicle)
    turns = Turns(radar.parameters.rate_hz, mounting_of(MOUNTING))
    return [
        radar.scan(queries.beams, motion, begin_ns)
        for pose in zip(truth.stamps_ns.tolist(), truth.p_ref_body, truth.q_ref_body, strict=True)
        for begin_ns, _, motion in turns.add(*pose)
    ]


def test_a_flight_records_the_scans_that_the_model_gives_at_its_poses(fly, controllers):
    simulation, bag = flown(fly, controllers, truth_rate_hz=250.0)
    images = list(bag.messages(["/radar/polar"]))
    clouds = list(bag.messages(["/radar/points"]))
    assert [stamp_ns(m) for _, _, m in images] == [k * PERIOD_NS for k in range(4)]
    assert [logged for _, logged, _ in images] == [(k + 1) * PERIOD_NS for k in range(4)]
    queries = WorldQueries(simulation.world)
    scans = expected_scans(bag.trajectory("/truth/odom"), queries)  # which begins after 0
    assert len(clouds) == len(images) == 1 + len(scans)
    for scan, (_, _, image), (_, _, cloud) in zip(scans, images[1:], clouds[1:], strict=True):
        assert stamp_ns(image) == stamp_ns(cloud) == scan.stamp_ns
        assert (image.encoding, image.height, image.width) == ("mono8", 400, 11 + 1600)
        assert image.header.frame_id == cloud.header.frame_id == "radar"
        polar = polar_scan(image)
        assert polar.levels.tobytes() == scan.levels.tobytes()
        targets = targets_message(polar, "radar", scan.parameters.bin_m)
        assert serialize(cloud) == serialize(targets)
    assert images[-1][2].data.max() > 100 and clouds[-1][2].width > 50  # of the ground


def test_the_mounting_is_in_tf(fly, controllers):
    _, bag = flown(fly, controllers, duration_s=0.3)
    edges = {e.child_frame_id: e for e in next(bag.messages(["/tf_static"]))[2].transforms}
    assert edges["radar"].header.frame_id == "base_link"
    assert edges["radar"].transform.translation.x == 0.2


def test_the_setup_has_the_data_sheet_of_lidar_and_radar(fly, controllers):
    simulation, _ = flown(fly, controllers, duration_s=0.1, **{"lidar.preset": "spinning_16"})
    setup = json.loads(json.dumps(simulation.vehicles[0].sensor_setup()))
    assert setup["radar"]["topics"] == ["/radar/polar", "/radar/points"]
    assert (setup["radar"]["frame_id"], setup["radar"]["rate_hz"]) == ("radar", 4.0)
    assert setup["radar"]["parameters"]["bin_m"] == 0.04381
    assert setup["radar"]["T_base_sensor"]["translation_m"] == [0.2, 0.0, -0.1]
    assert setup["lidar"]["topics"] == ["/lidar/points"]
    assert setup["lidar"]["parameters"]["rate_hz"] == 10.0


def test_a_fleet_has_radars_of_its_own_and_one_seed_repeats_them(fly, controllers):
    def images(name, **changes):
        _, bag = flown(fly, controllers, name, duration_s=0.3, **changes)
        names = [topic for topic in bag.counts if topic.endswith("radar/polar")]
        return {t: [m.data.tobytes() for _, _, m in bag.messages([t])] for t in names}

    first = images("a")
    assert first == images("b")
    assert first != images("c", seed=SEED + 1)
    fleet = images("d", fleet=FleetSettings(instances=2))
    assert set(fleet) == {"/uav0/radar/polar", "/uav1/radar/polar"}
    assert fleet["/uav0/radar/polar"] != fleet["/uav1/radar/polar"]


def test_ahead_of_the_radar_is_where_its_mounting_says():
    """Turned by 90 degrees to the left and tilted: x looks to the left and down."""
    T = mounting_of(MOUNTING)
    c, s = np.cos(np.radians(20.0)), np.sin(np.radians(20.0))
    expected = make_transform([[0, -1, 0], [c, 0, s], [-s, 0, c]], [0.2, 0.0, -0.1])
    np.testing.assert_allclose(T, expected, atol=1e-12)


def test_a_radar_that_is_not_there_is_reported_before_anything_begins():
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind="ros2"),
        camera=CameraSettings(is_rendered=False),
        radar=RadarSettings(preset="sonar"),
    )
    with pytest.raises(ParameterError, match="radar has none named 'sonar'; choose one of"):
        check_before_flight(parameters)


def test_a_wait_at_a_sensor_that_no_vehicle_has_is_refused(flat_world, tmp_path):
    with pytest.raises(ParameterError, match="wait_at: the vehicle has no radar; mount one by"):
        Simulation(
            SimulatorParameters(),
            flat_world,
            tmp_path,
            [],
            awaited={"": AwaitedReadings(print, "radar")},
        )
