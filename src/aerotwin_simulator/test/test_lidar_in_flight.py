# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The lidar of a vehicle in the composed simulator: turns, mounting, clouds in the bag."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import make_transform
from aerotwin_core.messages import stamp_ns
from aerotwin_sensor_models.lidar import POINT
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    LidarSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.recording import BagSink
from aerotwin_simulator.scanners import Turns, mounting_of

PERIOD_NS = 100_000_000
INTERPOLATED = 5e-3  # truth/odom at 100 Hz: alpha t^2 / 8 at 4 rad/s^2 times 100 m


def turns_of(stamps, rate_hz=10.0, T_body_lidar=None):
    turns = Turns(rate_hz, np.eye(4) if T_body_lidar is None else T_body_lidar)
    found = []
    for stamp in stamps:
        q = Rotation.from_euler("z", stamp * 1e-9).as_quat()
        found += list(turns.add(stamp, np.array([stamp * 1e-9, 0.0, 0.0]), q))
    return found


@pytest.mark.parametrize("step_ns", [4_000_000, 10_000_000, 7_000_000])
def test_every_turn_is_reported_once_with_the_motion_over_it(step_ns):
    found = turns_of(range(0, 1_001_000_000, step_ns))
    assert [begin for begin, _, _ in found][:3] == [0, PERIOD_NS, 2 * PERIOD_NS]
    assert len(found) == 1_000_000_000 // PERIOD_NS - (step_ns == 7_000_000)
    for begin, end, motion in found:
        assert end == begin + PERIOD_NS
        assert motion.stamps_ns[0] <= begin < motion.stamps_ns[0] + step_ns
        assert end <= motion.stamps_ns[-1] < end + step_ns
        np.testing.assert_allclose(motion.p_ref_body[:, 0], motion.stamps_ns * 1e-9)


def test_a_turn_that_had_begun_before_the_first_pose_is_left_out():
    found = turns_of(range(54_000_000, 400_000_000, 4_000_000))
    assert [begin for begin, _, _ in found] == [PERIOD_NS, 2 * PERIOD_NS]


def test_the_lidar_moves_as_its_mounting_says():
    T = mounting_of(LidarSettings(x_m=0.2, y_m=0.1, z_m=-0.3, yaw_deg=90.0, pitch_deg=90.0))
    # The lidar's x looks down, its y backwards, its z to the left of the body.
    expected = make_transform([[0, -1, 0], [0, 0, 1], [-1, 0, 0]], [0.2, 0.1, -0.3])
    np.testing.assert_allclose(T, expected, atol=1e-12)
    (_, _, motion), *_ = turns_of([0, 50_000_000, 100_000_000], T_body_lidar=T)
    body = np.array([make_transform(Rotation.from_euler("z", t).as_matrix(), [t, 0, 0])
                     for t in (0.0, 0.05, 0.1)])  # fmt: skip
    np.testing.assert_allclose(motion.transforms(), body @ T, atol=1e-9)


def test_a_flight_records_clouds_that_lie_on_the_ground(fly, controllers):
    simulation, bag = fly(
        controller=ControllerSettings(kind=f"python:{controllers}:Climber"),
        lidar=LidarSettings(preset="ideal", z_m=0.2, roll_deg=5.0),
        duration_s=1.55,
        seed=1000,
    )
    assert simulation.world.name == "flat"
    clouds = list(bag.messages(["/lidar/points"]))
    assert [stamp_ns(m) for _, _, m in clouds] == [k * PERIOD_NS for k in range(len(clouds))]
    assert [logged for _, logged, _ in clouds] == [(k + 1) * PERIOD_NS for k in range(len(clouds))]
    assert len(clouds) == 15
    truth = bag.trajectory("/truth/odom")
    T_body_lidar = mounting_of(simulation.vehicles[0].parameters.lidar)
    for _, _, message in clouds[1:]:
        points = np.frombuffer(message.data, POINT)
        assert message.header.frame_id == "lidar"
        assert len(points) > 10_000
        stamps = stamp_ns(message) + np.round(points["time"] * 1e9).astype(np.int64)
        columns, of_point = np.unique(stamps, return_inverse=True)
        T_map_lidar = (truth.interpolate(columns).transforms() @ T_body_lidar)[of_point]
        xyz1 = np.column_stack([points[n].astype(float) for n in "xyz"] + [np.ones(len(points))])
        z_map = np.einsum("nj,nj->n", T_map_lidar[:, 2], xyz1)
        assert np.abs(z_map).max() < INTERPOLATED
    edges = {e.child_frame_id: e for e in next(bag.messages(["/tf_static"]))[2].transforms}
    assert edges["lidar"].header.frame_id == "base_link"
    assert edges["lidar"].transform.translation.z == 0.2


def test_one_seed_gives_the_same_clouds_and_a_fleet_has_lidars_of_its_own(fly, controllers):
    def clouds(name, **changes):
        _, bag = fly(
            name,
            controller=ControllerSettings(kind=f"python:{controllers}:Climber"),
            lidar=LidarSettings(preset="spinning_16"),
            duration_s=0.35,
            **changes,
        )
        topics = [topic for topic in bag.counts if topic.endswith("lidar/points")]
        return {t: [m.data.tobytes() for _, _, m in bag.messages([t])] for t in topics}

    first = clouds("a", seed=5)
    assert first == clouds("b", seed=5)
    assert first != clouds("c", seed=6)
    fleet = clouds("d", seed=5, fleet=FleetSettings(instances=2))
    assert set(fleet) == {"/uav0/lidar/points", "/uav1/lidar/points"}
    assert fleet["/uav0/lidar/points"] != fleet["/uav1/lidar/points"]


def test_inertial_recordings_hold_no_clouds(tmp_path, flat_world):
    bag = BagSink(tmp_path / "bag", record="inertial")
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind="ros2"),
        camera=CameraSettings(is_rendered=False),
        lidar=LidarSettings(preset="spinning_16"),
        duration_s=0.3,
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [bag])
    simulation.start()
    while simulation.outcome is None:
        simulation.advance()
    simulation.close()
    bag.close()
    counts = BagReader(tmp_path / "bag").counts
    assert counts["/imu/data_raw"] > 0
    assert "/lidar/points" not in counts


def test_a_reset_begins_a_new_turn(tmp_path, flat_world):
    bag = BagSink(tmp_path / "bag")
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind="ros2"),
        camera=CameraSettings(is_rendered=False),
        lidar=LidarSettings(preset="spinning_16"),
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [bag])
    simulation.start()
    for k in range(100):
        if k == 40:  # 0.16 s: in the middle of the second turn
            simulation.reset()
        simulation.advance()
    simulation.close()
    bag.close()
    begins = [stamp_ns(m) for _, _, m in BagReader(tmp_path / "bag").messages(["/lidar/points"])]
    assert begins == [0, 2 * PERIOD_NS, 3 * PERIOD_NS]


def test_a_lidar_that_is_not_there_is_reported_before_anything_begins():
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind="ros2"),
        camera=CameraSettings(is_rendered=False),
        lidar=LidarSettings(preset="spinning_1000"),
    )
    with pytest.raises(ParameterError, match="lidar has none named 'spinning_1000'; choose one of"):
        check_before_flight(parameters)
