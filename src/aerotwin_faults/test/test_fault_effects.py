# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What each kind of fault does at a level, by closed forms."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError
from aerotwin_faults import KINDS, Fault, Moment, load_fault

ROUNDING = 1e-12
HALF = Moment(0.5, 4.0, 3.0)
FULL = Moment(1.0, 4.0, 3.0)
REQUIRED = {kind: {"rotor": 1} for kind in ("motor_power", "motor_jam", "propeller_damage")}


def effect(kind, **values):
    fault = load_fault(kind, REQUIRED.get(kind, {}) | values, where="test")
    return fault.effect(np.random.default_rng(3))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_loads_says_what_it_is_and_has_a_place(kind):
    fault = load_fault(kind, REQUIRED.get(kind), where="test")
    assert isinstance(fault, Fault)
    assert type(fault).__doc__
    assert fault.place


def test_thrust_of_a_weak_motor_is_the_square_of_its_speed():
    assert effect("motor_power", thrust_share=0.36).health(FULL).speed_share == pytest.approx(0.6)
    half = effect("motor_power", thrust_share=0.36).health(HALF)
    assert half.speed_share**2 == pytest.approx(0.68)
    assert effect("motor_power").health(FULL).speed_share == 0.0


def test_a_damaged_propeller_loses_thrust_and_shakes():
    health = effect("propeller_damage", thrust_share=0.8, imbalance_kg_m=4e-5).health(HALF)
    assert health == pytest.approx((1.0, 0.9, 2e-5, False))


def test_a_jump_is_where_it_says_and_a_forged_signal_goes_on():
    jump = effect("gnss_jump", east_m=4.0, up_m=-2.0).error(HALF)
    np.testing.assert_allclose(jump.shift_m, [2.0, 0.0, -1.0])
    np.testing.assert_array_equal(jump.shift_m_s, np.zeros(3))
    forged = effect("gnss_spoofing", north_m_s=2.0).error(HALF)
    np.testing.assert_allclose(forged.shift_m, [0.0, 6.0, 0.0])  # 3 s in all at 2 m/s
    np.testing.assert_allclose(forged.shift_m_s, [0.0, 1.0, 0.0])


def test_a_jammer_takes_the_fix_above_its_level():
    jamming = effect("gnss_jamming", noise_m=10.0, noise_m_s=2.0, lost_above=0.6)
    assert jamming.error(HALF)[2:] == (5.0, 1.0, True)
    assert not jamming.error(FULL).has_fix
    assert not effect("gnss_loss").error(HALF).has_fix


def test_biases_are_added_and_readings_cut_off():
    reading = np.array([1.0, 2.0, 9.8, 0.1, 0.0, -4.0])
    assert effect("imu_bias", accelerometer_m_s2=[1.0, 0.0, 0.0], gyroscope_rad_s=[0.0, 0.2, 0.0])\
        .change(reading, HALF)  # fmt: skip
    np.testing.assert_allclose(reading, [1.5, 2.0, 9.8, 0.1, 0.1, -4.0])
    assert effect("imu_saturation", accelerometer_m_s2=5.0, gyroscope_rad_s=1.0).change(
        reading, FULL
    )
    np.testing.assert_allclose(reading, [1.5, 2.0, 5.0, 0.1, 0.1, -1.0])


@pytest.mark.parametrize(("kind", "n"), [("imu_stuck", 6), ("barometer_stuck", 1),
                                         ("magnetometer_stuck", 3)])  # fmt: skip
def test_a_stuck_sensor_repeats_its_first_reading(kind, n):
    stuck, rng = effect(kind), np.random.default_rng(1)
    first = rng.standard_normal(n)
    for reading in (first.copy(), rng.standard_normal(n)):
        assert stuck.change(reading, FULL)
        np.testing.assert_array_equal(reading, first)


@pytest.mark.parametrize("kind", ["barometer_loss", "magnetometer_loss"])
def test_a_lost_sensor_gives_no_reading(kind):
    assert not effect(kind).change(np.zeros(3), HALF)


def test_pressure_and_field_are_off_by_what_is_said():
    pressure = np.array([101325.0])
    effect("barometer_error", offset_pa=-24.0, rate_pa_s=1.0).change(pressure, HALF)
    assert pressure[0] == pytest.approx(101325.0 - 12.0 + 3.0)
    field = np.array([20e-6, 0.0, -40e-6])
    effect("magnetometer_disturbance", field_body_ut=[0.0, 30.0, 0.0]).change(field, HALF)
    np.testing.assert_allclose(field, [20e-6, 15e-6, -40e-6])


def test_the_frame_of_a_slam_jumps_and_turns_about_the_vehicle():
    attitude = Rotation.from_euler("zyx", [40.0, 10.0, -5.0], degrees=True)
    jump = effect("slam_jump", north_m=2.0, yaw_deg=60.0)
    p_map, q_map_body = jump.changed((np.array([1.0, 2.0, 3.0]), attitude.as_quat()), HALF)
    np.testing.assert_allclose(p_map, [1.0, 3.0, 3.0])
    turned = Rotation.from_rotvec([0.0, 0.0, math.radians(30.0)]) * attitude
    assert (Rotation.from_quat(q_map_body) * turned.inv()).magnitude() < ROUNDING


def test_a_frozen_slam_repeats_its_pose_and_a_lost_one_says_nothing():
    frozen, q = effect("slam_freeze"), np.array([0.0, 0.0, 0.0, 1.0])
    p_map = np.array([1.0, 2.0, 3.0])
    frozen.changed((p_map, q), FULL)
    p_map += 1.0  # the caller's own array
    np.testing.assert_array_equal(frozen.changed((p_map, q), FULL)[0], [1.0, 2.0, 3.0])
    assert effect("slam_loss").changed((p_map, q), HALF) is None


def test_links_are_cut_or_slow():
    assert effect("companion_loss").delay_s(HALF) is None
    assert effect("ground_station_loss").delay_s(HALF) is None
    assert effect("companion_delay", seconds=0.4).delay_s(HALF) == pytest.approx(0.2)


def test_a_gust_rises_as_one_minus_cosine():
    gust, place = effect("gust", east_m_s=8.0), np.zeros(3)
    for level in (0.0, 0.25, 0.5, 1.0):
        expected = 4.0 * (1.0 - math.cos(math.pi * level))
        found = gust.wind_map(place, 10.0, Moment(level, 0.0, 0.0))
        np.testing.assert_allclose(found, [expected, 0.0, 0.0], atol=ROUNDING)


def test_shear_grows_between_its_edges():
    shear = effect("wind_shear", north_m_s=10.0, from_height_m=5.0, to_height_m=15.0)
    found = [shear.wind_map(np.zeros(3), h, FULL)[1] for h in (0.0, 5.0, 10.0, 15.0, 99.0)]
    np.testing.assert_allclose(found, [0.0, 0.0, 5.0, 10.0, 10.0])
    with pytest.raises(ParameterError, match="to_height_m must be above from_height_m"):
        effect("wind_shear", from_height_m=5.0, to_height_m=5.0)


class TestMicroburst:
    """Against what the paper says of the flow."""

    burst = staticmethod(
        lambda: effect(
            "microburst", east_m=100.0, north_m=-50.0, outflow_m_s=12.0, radius_m=40.0,
            outflow_height_m=8.0,
        )
    )  # fmt: skip
    axis = np.array([100.0, -50.0, 0.0])

    def wind(self, x, y, z):
        place = self.axis + np.array([x, y, z])
        return self.burst().wind_map(place, z, FULL)

    def test_air_is_neither_made_nor_lost(self):
        step = 1e-3
        for place in np.random.default_rng(5).uniform([-90, -90, 1], [90, 90, 60], (50, 3)):
            gradient = [
                (self.wind(*(place + step * axis)) - self.wind(*(place - step * axis)))[k]
                / (2.0 * step)
                for k, axis in enumerate(np.eye(3))
            ]
            assert sum(gradient) == pytest.approx(0.0, abs=1e-7)

    def test_it_blows_outwards_most_at_its_height_and_1_12_radii(self):
        radii, heights = np.linspace(5.0, 100.0, 96), np.linspace(0.5, 40.0, 80)
        speeds = np.array([[self.wind(r, 0.0, z)[0] for z in heights] for r in radii])
        i, j = np.unravel_index(speeds.argmax(), speeds.shape)
        assert radii[i] == pytest.approx(1.12 * 40.0, abs=1.0)
        assert heights[j] == pytest.approx(8.0, abs=0.5)
        assert speeds.max() == pytest.approx(12.0, rel=2e-3)

    def test_it_is_symmetric_still_on_the_ground_and_sinks_on_the_axis(self):
        np.testing.assert_allclose(self.wind(0.0, 0.0, 0.0), np.zeros(3), atol=ROUNDING)
        np.testing.assert_allclose(self.wind(30.0, 0.0, 0.0), np.zeros(3), atol=ROUNDING)
        down = self.wind(0.0, 0.0, 30.0)
        assert down[2] < -3.0
        np.testing.assert_allclose(down[:2], 0.0, atol=ROUNDING)
        x, y, z = self.wind(20.0, 30.0, 12.0)
        np.testing.assert_allclose([-x, -y, z], self.wind(-20.0, -30.0, 12.0), rtol=1e-12)


def test_what_does_not_exist_is_refused_with_what_does():
    with pytest.raises(ParameterError, match=r"my.yaml: no fault 'gnss_los'; did you mean gnss_lo"):
        load_fault("gnss_los", {}, where="my.yaml")
    with pytest.raises(ParameterError, match="'rotor' is missing"):
        load_fault("motor_jam", {}, where="my.yaml")
    with pytest.raises(ParameterError, match="unknown key 'power'"):
        load_fault("motor_power", {"rotor": 0, "power": 1.0}, where="my.yaml")
