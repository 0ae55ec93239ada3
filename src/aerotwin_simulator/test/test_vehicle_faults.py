# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults in the loop: what they change beside the same flight without them, to the last bit.

The controller flies by truth, so that faults of sensors do not move the vehicle.
"""

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.messages import stamp_ns
from aerotwin_faults import FaultTiming, activated, load_fault
from aerotwin_multirotor_body.vehicle_faults import VehicleFaults
from aerotwin_multirotor_dynamics import layout
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    Simulation,
    SimulatorParameters,
    VisionSettings,
    WindSettings,
)

SECOND = 1_000_000_000
FROM_1_TO_2 = FaultTiming(begin_ns=SECOND, duration_s=1.0)
LATER = FaultTiming(begin_ns=SECOND)
DEGREE_M = 111_000.0
GEODETIC = 1e-3  # of a degree's length that differs over the Earth, relative


@pytest.fixture
def flown(fly, controllers):
    """Hover for 3 s; return the messages of topics by their stamps [ns], then the simulation."""
    n_flights = 0

    def run(*topics, faults=(), **parameters):
        nonlocal n_flights
        n_flights += 1
        simulation, bag = fly(
            f"flight_{n_flights}",
            faults,
            controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
            **{"duration_s": 3.0, "airframe": "x500"} | parameters,
        )
        found = [{stamp_ns(m): m for _, _, m in bag.messages([topic])} for topic in topics]
        return (*found, simulation)

    return run


def is_during(stamp):
    return SECOND <= stamp < 2 * SECOND


def differences(sound, faulty, read):
    """Return what differs at the stamps that both have: (stamps within the fault, others)."""
    found = {stamp: read(faulty[stamp]) - read(sound[stamp]) for stamp in sound.keys() & faulty}
    inside = np.array([d for stamp, d in found.items() if is_during(stamp)])
    outside = np.array([d for stamp, d in found.items() if not is_during(stamp)])
    assert len(inside) > 5
    assert len(outside) > 5
    return inside, outside


def of_imu(message):
    a, w = message.linear_acceleration, message.angular_velocity
    return np.array([a.x, a.y, a.z, w.x, w.y, w.z])


def of_field(message):
    field = message.magnetic_field
    return np.array([field.x, field.y, field.z])


def of_fix(message):
    return np.array([message.longitude, message.latitude, message.altitude])


def of_velocity(message):
    v = message.twist.linear
    return np.array([v.x, v.y, v.z])


def of_pose(message):
    p = message.pose.pose.position
    return np.array([p.x, p.y, p.z])


def test_a_biased_imu_is_off_by_it_while_it_lasts(flown):
    own = {"accelerometer_m_s2": [0.0, 2.0, 0.0], "gyroscope_rad_s": [0.0, 0.0, -0.1]}
    sound, _ = flown("/imu/data_raw")
    faulty, _ = flown("/imu/data_raw", faults=[("imu_bias", own, FROM_1_TO_2)])
    inside, outside = differences(sound, faulty, of_imu)
    np.testing.assert_allclose(inside - [0.0, 2.0, 0.0, 0.0, 0.0, -0.1], 0.0, atol=1e-12)
    np.testing.assert_array_equal(outside, 0.0)


def test_a_stuck_imu_repeats_itself(flown):
    faulty, _ = flown("/imu/data_raw", faults=[("imu_stuck", {}, FROM_1_TO_2)])
    held = np.array([of_imu(m) for stamp, m in faulty.items() if is_during(stamp)])
    np.testing.assert_array_equal(held - held[0], 0.0)
    after = np.array([of_imu(m) for stamp, m in faulty.items() if stamp > 2 * SECOND])
    assert len(np.unique(after[:, 0])) > 100


@pytest.mark.parametrize(
    ("kind", "topic"),
    [("barometer_loss", "/air_pressure"), ("magnetometer_loss", "/imu/mag")],
)
def test_a_lost_sensor_publishes_nothing_and_comes_back_as_if_nothing_was(flown, kind, topic):
    sound, _ = flown(topic)
    faulty, _ = flown(topic, faults=[(kind, {}, FROM_1_TO_2)])
    assert {stamp for stamp in sound if not is_during(stamp)} == set(faulty)
    last = max(faulty)
    assert str(faulty[last]) == str(sound[last])


def test_pressure_and_field_are_off_by_what_the_fault_says(flown):
    topics = ("/air_pressure", "/imu/mag")
    *sound, _ = flown(*topics)
    own = {"offset_pa": -120.0}, {"field_body_ut": [0.0, 50.0, 0.0]}
    kinds = "barometer_error", "magnetometer_disturbance"
    faults = [(kind, values, FROM_1_TO_2) for kind, values in zip(kinds, own, strict=True)]
    *faulty, _ = flown(*topics, faults=faults)
    inside, outside = differences(sound[0], faulty[0], lambda m: m.fluid_pressure)
    np.testing.assert_allclose(inside, -120.0, atol=1e-9)
    np.testing.assert_array_equal(outside, 0.0)
    inside, outside = differences(sound[1], faulty[1], of_field)
    np.testing.assert_allclose(inside, [[0.0, 50e-6, 0.0]] * len(inside), atol=1e-15)
    np.testing.assert_array_equal(outside, 0.0)


def test_a_forged_signal_carries_position_and_velocity_away(flown):
    topics = ("/gnss/fix", "/gnss/velocity")
    *sound, _ = flown(*topics)
    *faulty, _ = flown(*topics, faults=[("gnss_spoofing", {"north_m_s": 3.0}, LATER)])
    for stamp, fix in sound[0].items():
        north_deg = of_fix(faulty[0][stamp])[1] - of_fix(fix)[1]
        expected_m = 3.0 * max(0.0, (stamp - SECOND) * 1e-9)
        assert north_deg * DEGREE_M == pytest.approx(expected_m, rel=2e-3, abs=1e-3)
    inside, _ = differences(sound[1], faulty[1], of_velocity)
    np.testing.assert_allclose(inside, [[0.0, 3.0, 0.0]] * len(inside), atol=1e-9)


def test_without_a_fix_the_receiver_says_so_and_gives_no_velocity(flown):
    fixes, velocities, _ = flown(
        "/gnss/fix", "/gnss/velocity", faults=[("gnss_loss", {}, FROM_1_TO_2)]
    )
    assert {message.status.status for stamp, message in fixes.items() if is_during(stamp)} == {-1}
    assert {message.status.status for s, message in fixes.items() if not is_during(s)} == {0}
    assert not any(map(is_during, velocities))


def test_a_jammed_receiver_is_noisy_and_says_so(flown):
    sound, _ = flown("/gnss/fix", duration_s=12.0)
    jammed = ("gnss_jamming", {"noise_m": 20.0}, FaultTiming(begin_ns=0))
    noisy, _ = flown("/gnss/fix", faults=[jammed], duration_s=12.0)
    height = np.array([noisy[s].altitude - sound[s].altitude for s in sound])
    assert len(height) > 100
    assert height.std() == pytest.approx(20.0, rel=5.0 / np.sqrt(2.0 * len(height)))
    stamp = max(noisy)
    variance = noisy[stamp].position_covariance[8] - sound[stamp].position_covariance[8]
    assert variance == pytest.approx(400.0)


@pytest.mark.parametrize(
    ("kind", "own", "expected"),
    [("slam_jump", {"east_m": 1.5, "up_m": -0.5}, [1.5, 0.0, -0.5]), ("slam_loss", {}, None)],
)
def test_a_simulated_slam_jumps_or_is_lost(flown, kind, own, expected):
    vision = VisionSettings(source="simulated")
    sound, _ = flown("/external_odom", vision=vision)
    faulty, _ = flown("/external_odom", vision=vision, faults=[(kind, own, FROM_1_TO_2)])
    if expected is None:
        assert set(faulty) == {stamp for stamp in sound if not is_during(stamp)}
        return
    inside, outside = differences(sound, faulty, of_pose)
    np.testing.assert_allclose(inside, [expected] * len(inside), atol=1e-9)
    np.testing.assert_array_equal(outside, 0.0)


def test_a_gust_is_in_the_air_while_it_lasts_and_steady_wind_comes_back(
    tmp_path, flat_world, controllers
):
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
        camera=CameraSettings(is_rendered=False),
        wind=WindSettings(east_m_s=1.0),
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    vehicle, half_s = simulation.vehicles[0], FaultTiming(begin_ns=SECOND, duration_s=0.5)
    gust = load_fault("gust", {"north_m_s": 6.0}, where="test")
    vehicle.faults.add(activated("gust", gust, half_s, np.random.default_rng(1)))
    simulation.start()
    while simulation.stamp_ns < 2 * SECOND:
        begin_ns = simulation.stamp_ns
        simulation.advance()
        wind = vehicle.body.inputs[layout.WIND : layout.WIND + 3]
        is_blowing = SECOND <= begin_ns < SECOND + SECOND // 2
        np.testing.assert_array_equal(wind, [1.0, 6.0 if is_blowing else 0.0, 0.0])
    simulation.close()


def test_a_jammed_rotor_throws_the_vehicle_down_and_is_its_end(flown):
    simulation = flown(faults=[("motor_jam", {"rotor": 1}, LATER)], duration_s=8.0)[-1]
    assert "crash" in simulation.outcome
    assert simulation.stamp_ns > SECOND


def test_a_fault_of_the_rotors_ends(flown):
    weak = ("motor_power", {"rotor": 0, "thrust_share": 0.9}, FaultTiming(begin_ns=SECOND,
                                                                      duration_s=0.04))  # fmt: skip
    simulation = flown(faults=[weak], duration_s=1.5)[-1]
    body = simulation.vehicles[0].body
    row = body.constants.view(layout.CONSTANTS)[0]["rotors"][0]
    assert row["speed_share"] == row["thrust_share"] == 1.0


def test_a_damaged_propeller_shakes_the_imu(flown):
    damaged = ("propeller_damage", {"rotor": 0, "thrust_share": 1.0, "imbalance_kg_m": 2e-5}, LATER)
    sound, _ = flown("/imu/data_raw")
    faulty, _ = flown("/imu/data_raw", faults=[damaged])

    def level(messages, begin):
        return np.std([of_imu(m)[0] for stamp, m in messages.items() if stamp > begin])

    assert level(faulty, SECOND) > 3.0 * level(sound, SECOND)


def test_a_reset_ends_all_faults(flown):
    simulation = flown(faults=[("imu_stuck", {}, LATER)], duration_s=1.5)[-1]
    simulation.reset()
    assert not simulation.vehicles[0].faults.of("imu")
    simulation.close()


def test_what_the_vehicle_has_not_got_cannot_fail(iris_with):
    from aerotwin_multirotor_dynamics import load_airframe

    faults = VehicleFaults(load_airframe(iris_with(battery={"capacity_ah": 0.0})))
    for kind, own, words in [
        ("motor_jam", {"rotor": 4}, r"rotor: expected 0 to 3 \(iris\), found 4"),
        ("battery_cell_loss", {}, "the airframe iris has no battery model"),
    ]:
        fault = load_fault(kind, own, where="test")
        with pytest.raises(ParameterError, match=words):
            faults.add(activated("broken", fault, LATER, np.random.default_rng(1)))
    of_iris = VehicleFaults(load_airframe("iris"))
    too_many = load_fault("battery_cell_loss", {"cells": 3}, where="test")
    with pytest.raises(ParameterError, match=r"cells: expected fewer than 3 \(iris\), found 3"):
        of_iris.add(activated("broken", too_many, LATER, np.random.default_rng(1)))
