# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground vehicle as a whole: circles, slopes, slip, delay, wheel odometry, repeatability."""

import dataclasses
import math

import numpy as np
import pytest

from aerotwin_ground_dynamics import (
    NO_SLIP,
    BicycleParameters,
    GroundVehicle,
    NoGroundError,
    SlipParameters,
    Twist,
    UnicycleParameters,
    VelocityCommand,
)

ROUNDING = 1e-9
"""Sums of some thousand float64 of the size of metres."""
STEP_S = 0.01
TURNING = VelocityCommand(1.0, 0.4)
INSTANT = UnicycleParameters(
    slip=NO_SLIP,
    v_lag_s=0.0,
    omega_lag_s=0.0,
    maximum_acceleration_m_s2=20.0,
    maximum_angular_acceleration_rad_s2=100.0,
    command_delay_s=0.0,
)
CONSTANT_SLIP = SlipParameters(
    v_factor_minimum=0.96,
    v_factor_maximum=0.96,
    omega_factor_minimum=0.9,
    omega_factor_maximum=0.9,
    curvature_walk_1_per_m_sqrt_m=0.0,
)


def level(x, y):
    return np.zeros_like(x)


def pose(x=0.0, y=0.0, yaw=0.0):
    T = np.eye(4)
    c, s = math.cos(yaw), math.sin(yaw)
    T[:2, :2], T[:2, 3] = [[c, -s], [s, c]], [x, y]
    return T


def vehicle(parameters=INSTANT, ground=level, *, seed=1, start=None):
    return GroundVehicle(
        parameters, ground, seed=seed, T_map_base=pose() if start is None else start
    )


def drive(car, command, seconds):
    for _ in range(round(seconds / STEP_S)):
        car.step(STEP_S, command)
    return car


def started(parameters=INSTANT, ground=level, command=TURNING, **more):
    """Return a vehicle that moves at its command, and where it was then."""
    car = vehicle(parameters, ground, **more)
    drive(car, command, 1.0)
    return car, car.T_map_base


def test_constant_commands_drive_a_circle():
    car, T_map_0 = started()
    radius = 1.0 / 0.4
    centre = T_map_0 @ [0.0, radius, 0.0, 1.0]
    ways = []
    for _ in range(round(2.0 * math.pi / 0.4 / STEP_S)):
        car.step(STEP_S, VelocityCommand(1.0, 0.4))
        ways.append(car.T_map_base[:2, 3])
    assert np.linalg.norm(ways - centre[:2], axis=1) == pytest.approx(radius, abs=ROUNDING)
    turn = 0.4 * STEP_S * len(ways)
    expected = T_map_0 @ pose(radius * math.sin(turn), radius * (1.0 - math.cos(turn)), turn)
    assert car.T_map_base == pytest.approx(expected, abs=ROUNDING)


def test_on_a_slope_the_way_is_measured_along_the_slope():
    slope = 0.25
    car, T_map_0 = started(INSTANT, lambda x, y: slope * x, VelocityCommand(1.2, 0.0))
    drive(car, VelocityCommand(1.2, 0.0), 5.0)
    way = car.T_map_base[:3, 3] - T_map_0[:3, 3]
    assert np.linalg.norm(way) == pytest.approx(6.0, abs=ROUNDING)
    assert way[2] / way[0] == pytest.approx(slope, abs=ROUNDING)


def test_on_a_slope_a_circle_is_one_in_the_slope():
    car, T_map_0 = started(INSTANT, lambda x, y: 0.2 * x - 0.1 * y)
    drive(car, VelocityCommand(1.0, 0.4), 7.0)
    expected = T_map_0 @ pose(2.5 * math.sin(2.8), 2.5 * (1.0 - math.cos(2.8)), 2.8)
    assert car.T_map_base == pytest.approx(expected, abs=ROUNDING)


def test_over_waves_the_wheels_stay_on_the_ground():
    def waves(x, y):
        return 0.3 * np.sin(0.3 * x) + 0.2 * np.cos(0.4 * y)

    car = vehicle(INSTANT, waves)
    for _ in range(3000):
        car.step(STEP_S, VelocityCommand(1.0, 0.1))
        T = car.T_map_base
        half = INSTANT.wheels.wheelbase_m
        # The chord of a wave of 15 m over 1.1 m: amplitude x (k d)^2 / 8.
        assert abs(T[2, 3] - waves(*T[:2, 3])) < 0.3 * (0.4 * half) ** 2 / 2.0
    assert T[:3, :3].T @ T[:3, :3] == pytest.approx(np.eye(3), abs=ROUNDING)


def test_slip_shortens_the_way_and_the_turn():
    parameters = dataclasses.replace(INSTANT, slip=CONSTANT_SLIP)
    car, T_map_0 = started(parameters)
    assert car.twist == pytest.approx(Twist(0.96, 0.36), abs=ROUNDING)
    drive(car, VelocityCommand(1.0, 0.4), 3.0)
    radius, turn = 0.96 / 0.36, 0.36 * 3.0
    expected = T_map_0 @ pose(radius * math.sin(turn), radius * (1.0 - math.cos(turn)), turn)
    assert car.T_map_base == pytest.approx(expected, abs=ROUNDING)


def test_the_curvature_of_the_slip_walks_while_the_vehicle_drives():
    walking = dataclasses.replace(NO_SLIP, curvature_walk_1_per_m_sqrt_m=0.001)
    car = vehicle(dataclasses.replace(INSTANT, slip=walking))
    drive(car, VelocityCommand(0.0, 0.4), 1.0)
    assert car.slip.curvature_1_per_m == 0.0
    drive(car, VelocityCommand(1.0, 0.0), 5.0)
    assert car.slip.curvature_1_per_m != 0.0


def test_wheel_odometry_knows_no_slip_and_no_slope():
    free, slipping = vehicle(), vehicle(dataclasses.replace(INSTANT, slip=CONSTANT_SLIP))
    hill = vehicle(INSTANT, lambda x, y: 0.2 * x, start=pose(5.0, 1.0, 2.0))
    for car in (free, slipping, hill):
        drive(car, VelocityCommand(1.0, 0.4), 4.0)
        assert car.wheel_odometry.twist == Twist(1.0, 0.4)
        assert car.wheel_odometry.T_odom_base == pytest.approx(free.T_map_base, abs=ROUNDING)


def test_a_step_of_the_command_is_answered_by_delay_and_lag():
    parameters = dataclasses.replace(INSTANT, v_lag_s=0.2, omega_lag_s=0.3, command_delay_s=0.15)
    car = vehicle(parameters)
    for k in range(1, 200):
        car.step(STEP_S, VelocityCommand(0.5, 0.3))
        since = max(k * STEP_S - 0.15, 0.0)
        expected = 0.5 * (1.0 - math.exp(-since / 0.2)), 0.3 * (1.0 - math.exp(-since / 0.3))
        assert car.twist == pytest.approx(expected, abs=ROUNDING)
    # The way lags behind by delay and time constant.
    t = 199 * STEP_S - 0.15
    way = 0.5 * (t - 0.2 * (1.0 - math.exp(-t / 0.2)))
    straight = drive(vehicle(parameters), VelocityCommand(0.5, 0.0), 1.99)
    assert straight.T_map_base[0, 3] == pytest.approx(way, abs=ROUNDING)


def test_a_bicycle_drives_the_circle_of_its_steering():
    parameters = BicycleParameters(slip=NO_SLIP)
    car = drive(vehicle(parameters), VelocityCommand(1.0, 0.4), 8.0)
    centre = car.T_map_base @ [0.0, 2.5, 0.0, 1.0]
    drive(car, VelocityCommand(1.0, 0.4), 5.0)
    # The lags have died out to exp(-8 / 0.2).
    assert car.T_map_base @ [0.0, 2.5, 0.0, 1.0] == pytest.approx(centre, abs=ROUNDING)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not():
    def run(seed):
        car = vehicle(UnicycleParameters(), seed=seed)
        return drive(car, VelocityCommand(1.0, 0.2), 20.0).T_map_base.tobytes()

    assert run(4) == run(4)
    assert run(4) != run(5)


def test_a_vehicle_that_is_carried_away_stands_there_and_its_odometry_goes_on():
    car, _ = started()
    before = car.wheel_odometry.T_odom_base
    car.place(pose(7.0, 8.0, 1.0), ground=lambda x, y: np.full_like(x, 3.0))
    expected = pose(7.0, 8.0, 1.0)
    expected[2, 3] = 3.0
    assert car.T_map_base == pytest.approx(expected, abs=ROUNDING)
    assert car.twist == Twist(0.0, 0.0)
    assert (car.wheel_odometry.T_odom_base == before).all()


def test_a_pose_handed_out_is_a_copy():
    car = vehicle()
    car.T_map_base[0, 3] = 9.0
    assert car.T_map_base[0, 3] == 0.0


def test_a_vehicle_that_leaves_the_world_says_so():
    car = vehicle(INSTANT, lambda x, y: np.where(x < 2.0, 0.0, -np.inf))
    with pytest.raises(NoGroundError, match="no ground"):
        drive(car, VelocityCommand(1.0, 0.0), 5.0)


def test_what_is_no_pose_no_seed_no_command_and_no_time_is_refused():
    with pytest.raises(ValueError, match="T_map_base"):
        vehicle(start=np.eye(3))
    with pytest.raises(ValueError, match="seed"):
        vehicle(seed=-1)
    for dt, command in ((0.0, VelocityCommand()), (0.01, VelocityCommand(math.nan, 0.0))):
        with pytest.raises(ValueError, match="positive time and a finite command"):
            vehicle().step(dt, command)
