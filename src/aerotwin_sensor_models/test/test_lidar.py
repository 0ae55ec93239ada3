# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The spinning lidar against closed forms: planes, spheres, motion, noise and drop-outs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import norm

from aerotwin_core.messages import deserialize, serialize
from aerotwin_core.point_clouds import point_cloud_arrays
from aerotwin_core.trajectory import Trajectory
from aerotwin_sensor_models.lidar import POINT, Lidar, LidarParameters
from aerotwin_sensor_models.lidar_message import scan_message

SINGLE = 5e-6  # single precision of points within 40 m [m]
SIGMAS = 5.0
SMALL = LidarParameters(
    n_rings=16, n_columns=256, elevation_top_deg=15.0, elevation_bottom_deg=-15.0,
    minimum_range_m=0.0, maximum_range_m=1000.0,
)  # fmt: skip
DENSE = replace(SMALL, n_rings=64, n_columns=1024)
STILL = np.array([0.0, 0.0, 0.0, 1.0])


def plane(normal, offset):
    """Return what casts rays on the plane normal . x = offset, seen from both sides."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)

    def cast(rays):
        origins, directions = rays[:, :3].astype(float), rays[:, 3:].astype(float)
        with np.errstate(divide="ignore"):
            t = (offset - origins @ normal) / (directions @ normal)
        t = np.where(t > 0.0, t, np.inf).astype(np.float32)
        return t, np.tile(normal.astype(np.float32), (len(t), 1)), None

    return cast


def sphere(radius):
    """Return what casts rays from inside a sphere about the origin of map; it is bright below."""

    def cast(rays):
        o, d = rays[:, :3].astype(float), rays[:, 3:].astype(float)
        along = (o * d).sum(1)
        t = -along + np.sqrt(along**2 - (o * o).sum(1) + radius**2)
        normals = (o + t[:, None] * d) / radius
        reflectivity = np.where(normals[:, 2] < 0.0, 0.8, 0.2)
        return t.astype(np.float32), normals.astype(np.float32), reflectivity.astype(np.float32)

    return cast


def at_rest(p=(0.0, 0.0, 0.0), q=STILL):
    stamps = np.array([0, 200_000_000])
    return Trajectory(stamps, np.tile(p, (2, 1)), np.tile(q, (2, 1)))


def constant_twist(v, omega, *, p=(0.0, 0.0, 0.0), n=51):
    """Return the motion x(t) = p + v t, R(t) = exp(omega t), in steps of 4 ms."""
    t = 0.004 * np.arange(n)
    q = Rotation.from_rotvec(np.outer(t, omega)).as_quat()
    return Trajectory((t * 1e9).astype(np.int64), p + np.outer(t, v), q)


def test_ranges_to_a_wall_are_those_of_the_closed_form():
    scan = Lidar(SMALL).scan(plane([1, 0, 0], 8.0), at_rest(), 0)
    np.testing.assert_allclose(scan.points[:, 0], 8.0, atol=SINGLE * 10)
    assert 0 < len(scan) < SMALL.n_rings * SMALL.n_columns / 2


def test_one_literal_ray_looks_where_it_should():
    lidar = Lidar(replace(SMALL, n_rings=3, n_columns=4))
    yaw = Rotation.from_euler("z", 90, degrees=True).as_quat()
    rays = lidar.turn.cast(at_rest((1.0, 2.0, 3.0), yaw), 0).reshape(4, 3, 6)
    np.testing.assert_allclose(rays[..., :3] - [1.0, 2.0, 3.0], 0.0, atol=SINGLE)
    # behind, left, ahead, right of a lidar that faces north: clockwise from above
    expected = [[0, -1, 0], [-1, 0, 0], [0, 1, 0], [1, 0, 0]]
    np.testing.assert_allclose(rays[:, 1, 3:], expected, atol=SINGLE)
    assert rays[2, 0, 5] == pytest.approx(-np.sin(np.radians(15.0)), abs=SINGLE)


def test_rings_columns_and_times_of_an_image():
    p = replace(SMALL, is_organised=True)
    scan = Lidar(p).scan(sphere(20.0), at_rest(), 0)
    cloud = scan.cloud
    assert cloud.shape == (16, 256)
    np.testing.assert_array_equal(cloud["ring"], np.arange(16)[:, None] + np.zeros((1, 256), int))
    np.testing.assert_allclose(cloud["time"], np.arange(256)[None] * 0.1 / 256 + np.zeros((16, 1)))
    elevation = np.degrees(np.arctan2(cloud["z"], np.hypot(cloud["x"], cloud["y"])))
    np.testing.assert_allclose(elevation, np.linspace(-15, 15, 16)[:, None] + np.zeros((1, 256)),
                               atol=1e-4)  # fmt: skip
    np.testing.assert_allclose(np.linalg.norm(scan.points, axis=1), 20.0, atol=SINGLE)


def test_an_image_has_nan_where_nothing_returned_and_a_list_leaves_it_out():
    image = Lidar(replace(SMALL, is_organised=True)).scan(plane([1, 0, 0], 8.0), at_rest(), 0)
    listed = Lidar(SMALL).scan(plane([1, 0, 0], 8.0), at_rest(), 0)
    has_return = np.isfinite(image.cloud["x"])
    assert has_return.sum() == len(listed)
    assert np.isfinite(image.cloud["time"]).all()
    np.testing.assert_array_equal(image.cloud.T[has_return.T], listed.cloud[0])


def test_the_list_is_in_the_order_of_time():
    scan = Lidar(SMALL).scan(sphere(20.0), at_rest(), 0)
    assert (np.diff(scan.cloud["time"][0]) >= 0.0).all()
    assert scan.cloud["time"].max() < 0.1


def test_a_moving_lidar_measures_each_column_at_its_own_time():
    """v and omega constant: column c stands at x(t) and R(t) of the closed form."""
    v, omega = np.array([4.0, -1.0, 0.5]), np.array([0.3, -0.2, 1.5])
    scan = Lidar(SMALL).scan(plane([1, 0, 0], 9.0), constant_twist(v, omega), 40_000_000)
    assert len(scan) > 500
    t = 0.04 + scan.cloud["time"][0].astype(float)
    R = Rotation.from_rotvec(np.outer(t, omega))
    in_map = R.apply(scan.points.astype(float)) + np.outer(t, v)
    np.testing.assert_allclose(in_map[:, 0], 9.0, atol=SINGLE * 4)
    # The raw points bend the wall: it comes nearer by v t over the turn.
    assert np.ptp(scan.points[:, 0]) > 0.1


def test_either_sign_of_a_quaternion_is_the_same_attitude():
    motion = constant_twist(np.ones(3), np.array([0.3, -0.2, 1.5]))
    signs = np.where(np.arange(len(motion)) % 2, -1.0, 1.0)[:, None]
    turned = Trajectory(motion.stamps_ns, motion.p_ref_body, signs * motion.q_ref_body)
    first = Lidar(SMALL).turn.cast(motion, 0)
    np.testing.assert_allclose(Lidar(SMALL).turn.cast(turned, 0), first, atol=SINGLE)


def test_columns_stand_where_scipy_puts_them_between_poses_of_a_rough_flight():
    rng = np.random.default_rng(1000)
    q = Rotation.from_rotvec(rng.normal(0.0, 0.2, (31, 3))).as_quat()
    motion = Trajectory(np.arange(31) * 4_000_000, rng.normal(size=(31, 3)), q)
    lidar = Lidar(replace(SMALL, n_rings=1, elevation_top_deg=0.0, elevation_bottom_deg=0.0))
    rays = lidar.turn.cast(motion, 10_000_000)
    T = motion.interpolate(10_000_000 + lidar.turn.offsets_ns).transforms()
    azimuth = lidar.parameters.azimuths
    ahead = np.column_stack([np.cos(azimuth), np.sin(azimuth), np.zeros(len(azimuth))])
    np.testing.assert_allclose(rays[:, :3], T[:, :3, 3], atol=SINGLE)
    np.testing.assert_allclose(
        rays[:, 3:], np.einsum("nij,nj->ni", T[:, :3, :3], ahead), atol=SINGLE
    )


def test_deskewed_points_stand_in_the_frame_of_the_stamp():
    v, omega = np.array([4.0, -1.0, 0.5]), np.array([0.3, -0.2, 1.5])
    motion, stamp_ns = constant_twist(v, omega), 40_000_000
    lidar = Lidar(replace(SMALL, is_deskewed=True))
    scan = lidar.scan(plane([0, 0, 1], -2.0), motion, stamp_ns)
    R = Rotation.from_rotvec(0.04 * omega)
    in_map = R.apply(scan.points.astype(float)) + 0.04 * v
    assert len(scan) > 500
    near = np.linalg.norm(scan.points, axis=1) < 40.0
    np.testing.assert_allclose(in_map[near, 2], -2.0, atol=SINGLE * 4)


def test_noise_has_the_sigma_of_the_model():
    p = replace(
        DENSE, limit_range_m=40.0, range_noise_m=0.015, limit_range_noise_m=0.05, reflectivity=0.5
    )
    scan = Lidar(p, seed=1003).scan(sphere(20.0), at_rest(), 0)
    distance = np.linalg.norm(scan.points, axis=1).astype(float)
    for rho, rows in ((0.8, scan.points[:, 2] < 0), (0.2, scan.points[:, 2] > 0)):
        error = distance[rows] - 20.0
        signal = rho / 0.1 * 4.0
        sigma = np.hypot(0.015, 0.05 / signal)
        n = rows.sum()
        assert error.std() == pytest.approx(sigma, rel=SIGMAS / np.sqrt(2 * n))
        assert abs(error.mean()) < SIGMAS * sigma / np.sqrt(n)


@pytest.mark.parametrize("distance", [40.0, 50.0, 60.0, 70.0])
def test_the_share_of_returns_by_range_is_that_of_the_detector(distance):
    p = replace(DENSE, limit_range_m=40.0)
    scan = Lidar(p, seed=1000).scan(
        lambda rays: (*sphere(distance)(rays)[:2], np.full(len(rays), 0.1, np.float32)),
        at_rest(), 0,
    )  # fmt: skip
    n = p.n_rings * p.n_columns
    share = norm.cdf(5.0 * (40.0 / distance) ** 2 - 3.72)
    assert len(scan) / n == pytest.approx(share, abs=SIGMAS * np.sqrt(share * (1 - share) / n))
    if distance == 40.0:
        assert share == pytest.approx(0.9, abs=1e-3)


def test_the_share_of_returns_by_incidence_is_that_of_the_detector():
    """A floor 3 m below at 10 %: the lower the ring, the steeper and nearer."""
    p = replace(
        DENSE, limit_range_m=40.0, elevation_top_deg=-1.0, elevation_bottom_deg=-20.0,
        reflectivity=0.1, is_organised=True,
    )  # fmt: skip
    scan = Lidar(p, seed=1001).scan(plane([0, 0, 1], -3.0), at_rest(), 0)
    incidence = np.sin(-p.elevations)  # cosine of the angle to the floor's normal
    share = norm.cdf(5.0 * incidence * (40.0 * incidence / 3.0) ** 2 - 3.72)
    found = np.isfinite(scan.cloud["x"]).mean(axis=1)
    sigma = np.sqrt(np.maximum(share * (1.0 - share), 1.0 / p.n_columns) / p.n_columns)
    assert (np.abs(found - share) < SIGMAS * sigma).all()
    assert found[-1] < 0.05 < 0.95 < found[0]


def test_intensity_is_the_reflectivity_seen_and_carries_the_noise_of_the_signal():
    ideal = Lidar(DENSE).scan(plane([1, 0, 0], 8.0), at_rest(), 0)
    cosine = ideal.points[:, 0] / np.linalg.norm(ideal.points, axis=1)
    np.testing.assert_allclose(ideal.cloud["intensity"][0], 30.0 * cosine, rtol=1e-5)
    noisy = Lidar(replace(DENSE, limit_range_m=40.0), seed=1000).scan(sphere(20.0), at_rest(), 0)
    bright = noisy.cloud["intensity"][0][noisy.points[:, 2] < 0.0].astype(float)
    snr = 5.0 * 8.0 * 4.0
    assert bright.mean() == pytest.approx(80.0, abs=SIGMAS * 80.0 / snr / np.sqrt(len(bright)))
    assert bright.std() == pytest.approx(80.0 / snr, rel=SIGMAS / np.sqrt(2 * len(bright)))


def test_nothing_returns_from_too_near_or_too_far():
    p = replace(SMALL, minimum_range_m=1.0, maximum_range_m=30.0)
    assert len(Lidar(p).scan(sphere(0.9), at_rest(), 0)) == 0
    assert len(Lidar(p).scan(sphere(31.0), at_rest(), 0)) == 0
    assert len(Lidar(p).scan(sphere(29.0), at_rest(), 0)) == 16 * 256


def test_ranges_come_in_steps():
    scan = Lidar(replace(SMALL, range_step_m=0.25)).scan(sphere(7.6), at_rest(), 0)
    np.testing.assert_allclose(np.linalg.norm(scan.points, axis=1), 7.5, atol=SINGLE)


def test_one_scan_has_one_set_of_bytes_whatever_came_before():
    p = replace(SMALL, limit_range_m=20.0, range_noise_m=0.02)
    motion = constant_twist(np.ones(3), np.ones(3))
    fresh, used = Lidar(p, seed=3, vehicle=1), Lidar(p, seed=3, vehicle=1)
    used.scan(sphere(5.0), motion, 0)
    one, two = (x.scan(sphere(20.0), motion, 50_000_000).cloud.tobytes() for x in (fresh, used))
    assert one == two
    others = (Lidar(p, seed=4, vehicle=1), Lidar(p, seed=3, vehicle=2))
    assert all(x.scan(sphere(20.0), motion, 50_000_000).cloud.tobytes() != one for x in others)
    assert fresh.scan(sphere(20.0), motion, 60_000_000).cloud.tobytes() != one


def test_motion_that_does_not_cover_the_turn_is_refused():
    with pytest.raises(ValueError, match="cover 150000000 to"):
        Lidar(SMALL).scan(sphere(5.0), at_rest(), 150_000_000)


def test_parameters_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="elevation_top_deg"):
        LidarParameters(elevation_top_deg=-5.0, elevation_bottom_deg=5.0)
    with pytest.raises(ValueError, match="maximum_range_m"):
        LidarParameters(minimum_range_m=5.0, maximum_range_m=5.0)


@pytest.mark.parametrize("is_organised", [False, True])
def test_the_message_carries_every_field(is_organised):
    p = replace(SMALL, is_organised=is_organised)
    scan = Lidar(p).scan(plane([1, 0, 0], 8.0), at_rest(), 10_000_000)
    cdr = serialize(scan_message(scan, "lidar"))
    message = deserialize(cdr, "sensor_msgs/msg/PointCloud2")
    assert (message.height, message.width) == scan.cloud.shape
    assert [f.name for f in message.fields] == ["x", "y", "z", "intensity", "ring", "time"]
    assert (message.point_step, message.is_dense) == (24, not is_organised)
    assert message.header.frame_id == "lidar"
    assert message.header.stamp.nanosec == 10_000_000
    records = np.frombuffer(message.data, POINT)
    np.testing.assert_array_equal(records["ring"], scan.cloud["ring"].ravel())
    arrays = point_cloud_arrays(message)
    np.testing.assert_array_equal(arrays["x"], scan.points[:, 0])
    np.testing.assert_array_equal(arrays["time"], scan.cloud["time"].ravel())


def _azimuth_residual_deg(points, time_s):
    """Mean and spread of azimuth - (pi - 2 pi t / 0.1), a clockwise turn that begins behind."""
    azimuth = np.arctan2(points[:, 1], points[:, 0]).astype(float)
    turn = np.exp(1j * (azimuth - np.pi + 2.0 * np.pi * time_s.astype(float) / 0.1))
    mean = np.degrees(np.angle(turn.mean()))
    return mean, np.degrees(np.sqrt(-2.0 * np.log(np.abs(turn.mean()))))


@pytest.mark.parametrize("scan", ["00", "01", "02"])
def test_a_turn_goes_round_in_time_as_one_of_a_real_sensor(shared_data, scan):
    """Newer College, an OS1-64 (as gtsam_points has it, turned by 180 degrees about z)."""
    folder = shared_data("point_clouds/gtsam_points/newer_06")
    raw = np.fromfile(folder / f"raw_{scan}.bin", np.float32).reshape(-1, 3) * [-1.0, -1.0, 1.0]
    times = np.fromfile(folder / f"times_{scan}.bin", np.float32)
    ours = Lidar(DENSE).scan(sphere(20.0), at_rest(), 0)
    mean, spread = _azimuth_residual_deg(ours.points, ours.cloud["time"][0])
    assert abs(mean) < 1e-3 and spread < 0.01
    mean, spread = _azimuth_residual_deg(raw, times)
    # Its lasers stand up to 3 degrees beside each other and its clock starts within a packet.
    assert abs(mean) < 2.0 and spread < 4.0
    assert (np.diff(times) >= 0.0).all() and (np.diff(ours.cloud["time"][0]) >= 0.0).all()
