# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The effects that an airframe may switch on, one by one, against closed forms."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_multirotor_dynamics import (
    GRAVITY,
    Multirotor,
    derived_quantities,
    hover_speed_rad_s,
    load_airframe,
)

ROUNDING = 1e-9  # relative, some thousand steps of double arithmetic
DT = 0.004
STOPPED = np.full(4, np.nan)
HIGH = (0.0, 0.0, 1000.0)


@pytest.fixture
def iris():
    return load_airframe("iris")


def only(airframe, **changes):
    """The airframe with thrust and reaction torque and, of all other effects, those given."""
    names = {field.name for field in dataclasses.fields(airframe.propeller)}
    off = {
        "drag_coefficient_n_s2_per_m": 0.0,
        "rolling_coefficient_n_s2": 0.0,
        "zero_thrust_axial_speed_m_s": 0.0,
    }
    mine = off | {name: value for name, value in changes.items() if name in names}
    rest = {name: value for name, value in changes.items() if name not in names}
    return dataclasses.replace(
        airframe, propeller=dataclasses.replace(airframe.propeller, **mine), **rest
    )


def wrench(airframe, **start):
    """Force and moment on the body, without gravity, in body axes."""
    state = Multirotor(airframe, **({"p_map_body": HIGH} | start)).state
    force = airframe.mass_kg * state.specific_force_in_body
    omega = state.omega_map_body_in_body
    inertia = np.array(airframe.inertia_kg_m2)
    return force, inertia * state.alpha_in_body + np.cross(omega, inertia * omega)


def fly(vehicle, command, seconds, dt=DT):
    for _ in range(round(seconds / dt)):
        vehicle.step(command, dt)
    return vehicle.state


# -- drag of the body -----------------------------------------------------------------------


def test_quadratic_drag_leads_to_the_terminal_velocity_along_the_hyperbolic_tangent(iris):
    drag = 0.02
    vehicle = Multirotor(only(iris, quadratic_drag_n_s2_per_m2=(0.0, 0.0, drag)), p_map_body=HIGH)
    terminal = math.sqrt(iris.mass_kg * GRAVITY / drag)
    state = fly(vehicle, STOPPED, 3.0)
    expected = -terminal * math.tanh(GRAVITY * 3.0 / terminal)
    assert state.v_map_body[2] == pytest.approx(expected, rel=ROUNDING)
    fallen = terminal**2 / GRAVITY * math.log(math.cosh(GRAVITY * 3.0 / terminal))
    assert HIGH[2] - state.p_map_body[2] == pytest.approx(fallen, rel=ROUNDING)
    state = fly(vehicle, STOPPED, 30.0)
    assert state.v_map_body[2] == pytest.approx(-terminal, rel=1e-6)


def test_quadratic_drag_takes_the_whole_speed_on_every_axis(iris):
    airframe = only(iris, quadratic_drag_n_s2_per_m2=(0.1, 0.2, 0.3))
    force, moment = wrench(airframe, v_map_body=(2.0, -1.0, 2.0))  # 3 m/s
    np.testing.assert_allclose(force, [-0.6, 0.6, -1.8], rtol=ROUNDING)
    np.testing.assert_allclose(moment, 0.0)


def test_linear_drag_acts_along_body_axes(iris):
    airframe = only(iris, linear_drag_n_s_per_m=(0.5, 0.3, 0.0))
    nose_north = Rotation.from_euler("z", 90, degrees=True).as_quat()
    force, _ = wrench(airframe, v_map_body=(1.0, 2.0, 3.0), q_map_body=nose_north)
    np.testing.assert_allclose(force, [-0.5 * 2.0, 0.3 * 1.0, 0.0], atol=1e-12)


# -- rotors ----------------------------------------------------------------------------------


def test_the_rolling_moment_that_follows_the_spin_cancels_on_a_quadrotor(iris):
    coefficient = {"rolling_coefficient_n_s2": 1e-5}
    start = {"rotor_speed_rad_s": 800.0, "v_map_body": (2.0, -1.0, 0.0)}
    _, adds = wrench(only(iris, **coefficient), **start)
    _, cancels = wrench(only(iris, rolling_moment_follows_spin=True, **coefficient), **start)
    np.testing.assert_allclose(adds, [-4 * 800e-5 * 2.0, 4 * 800e-5 * 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(cancels, 0.0, atol=1e-12)
    _, one = wrench(
        only(iris, rolling_moment_follows_spin=True, thrust_coefficient_n_s2=0.0, **coefficient),
        rotor_speed_rad_s=(0.0, 0.0, 800.0, 0.0),  # turns clockwise
        v_map_body=(2.0, 0.0, 0.0),
    )
    np.testing.assert_allclose(one, [800e-5 * 2.0, 0.0, 0.0], atol=1e-15)


def test_axial_drag_takes_thrust_with_speed_and_rotor_speed_but_no_torque(iris):
    airframe = only(iris, axial_drag_coefficient_n_s2_per_m=2e-4)
    speed = (900.0, 0.0, 0.0, 0.0)
    still, torque = wrench(airframe, rotor_speed_rad_s=speed)
    climbing, torque_climbing = wrench(
        airframe, rotor_speed_rad_s=speed, v_map_body=(0.0, 0.0, 3.0)
    )
    assert climbing[2] - still[2] == pytest.approx(-2e-4 * 900.0 * 3.0)
    assert torque_climbing[2] == pytest.approx(torque[2])


def test_translational_lift_grows_with_the_squared_speed_across(iris):
    airframe = only(iris, translational_lift_n_s2_per_m2=3e-3)
    force, _ = wrench(airframe, v_map_body=(3.0, -4.0, 7.0))
    np.testing.assert_allclose(force, [0.0, 0.0, 4 * 3e-3 * 25.0], rtol=ROUNDING)


@pytest.mark.parametrize(
    ("radii", "gain"),
    [(0.5, 4 / 3), (1.0, 16 / 15), (2.0, 64 / 63), (0.1, 4 / 3), (1000.0, 1.0)],
)
def test_ground_effect_is_that_of_cheeseman_and_bennett(iris, radii, gain):
    radius = 0.127
    contact = dataclasses.replace(iris.contact, feet_m=((0.0, 0.0, 9.0),), hull_m=())
    airframe = only(iris, ground_effect=1.0, radius_m=radius, contact=contact)
    start = {"p_map_body": (0.0, 0.0, radii * radius - 0.023), "rotor_speed_rad_s": 800.0}
    force, _ = wrench(airframe, **start)
    static = 4 * 5.84e-6 * 800.0**2
    assert force[2] == pytest.approx(gain * static, rel=1e-6)
    single = start | {"rotor_speed_rad_s": (800.0, 0.0, 0.0, 0.0)}
    _, moment = wrench(airframe, **single)
    assert moment[2] == pytest.approx(-0.06 * static / 4)  # the torque stays


def test_ground_effect_follows_the_slope_below_and_ends_when_turned_over(iris):
    airframe = only(iris, ground_effect=1.0, radius_m=0.127)
    static = 4 * 5.84e-6 * 800.0**2
    tilted = Rotation.from_euler("x", 30, degrees=True)
    height = 0.5
    vehicle = Multirotor(
        airframe,
        p_map_body=(0.0, 0.0, height),
        q_map_body=tilted.as_quat(),
        rotor_speed_rad_s=800.0,
    )
    expected = 0.0
    for rotor in airframe.rotors:
        hub = height + tilted.apply(rotor.position_m)[2]
        along = hub / math.cos(math.radians(30))
        expected += static / 4 / (1.0 - (0.127 / (4.0 * along)) ** 2)
    lift = airframe.mass_kg * vehicle.state.specific_force_in_body[2]
    assert lift == pytest.approx(expected, rel=ROUNDING)
    over, _ = wrench(
        airframe, p_map_body=(0, 0, 0.6), q_map_body=(1.0, 0, 0, 0), rotor_speed_rad_s=800.0
    )
    assert over[2] == pytest.approx(static, rel=ROUNDING)


# -- angular momentum of the rotors -------------------------------------------------------------


def spinning(iris, rotor_inertia, **changes):
    """No forces of the air at all: only what turns, inside and outside."""
    return only(iris, thrust_coefficient_n_s2=0.0, rotor_inertia_kg_m2=rotor_inertia, **changes)


def test_rotors_that_speed_up_hand_their_angular_momentum_to_the_body(iris):
    rotor = 5e-5
    airframe = spinning(iris, rotor)
    vehicle = Multirotor(airframe, p_map_body=HIGH, omega_map_body_in_body=(1.0, -2.0, 3.0))
    body = np.array(airframe.inertia_kg_m2)
    spins = np.array([r.spin for r in airframe.rotors])

    def momentum():
        s = vehicle.state
        inside = body * s.omega_map_body_in_body
        inside[2] += rotor * (spins @ s.rotor_speed_rad_s)
        return s.R_map_body @ inside

    before = momentum()
    for command in ((1.0, 0.9, 0.0, 0.1), (0.0, 0.2, 1.0, 0.0)):
        state = fly(vehicle, command, 0.5)
        # Runge-Kutta at 4 ms meets a lag of 12.5 ms: (h / tau)^4 / 120 of the jump in momentum
        np.testing.assert_allclose(momentum(), before, atol=1e-4 * rotor * 2000.0)
    assert abs(state.omega_map_body_in_body[2] - 3.0) > 0.5  # it was not little


def test_a_turning_rotor_makes_the_body_precess(iris):
    """About a fixed spin h along z, a round body nods at h / I_x (its own rate left aside)."""
    rotor, speed = 5e-5, 1000.0
    motor = dataclasses.replace(iris.motor, armed_speed_rad_s=0.0, speed_per_command_rad_s=1000.0)
    airframe = spinning(iris, rotor, inertia_kg_m2=(0.03, 0.03, 0.05), motor=motor)
    vehicle = Multirotor(
        airframe,
        p_map_body=HIGH,
        omega_map_body_in_body=(0.2, 0.0, 0.0),
        rotor_speed_rad_s=(speed, speed, 0.0, 0.0),  # both counter-clockwise
    )
    state = fly(vehicle, (1.0, 1.0, 0.0, 0.0), 0.4)
    nodding = 2 * rotor * speed / 0.03  # I p' = -h q, I q' = +h p: counter-clockwise
    angle = nodding * 0.4
    expected = (0.2 * math.cos(angle), 0.2 * math.sin(angle), 0.0)
    np.testing.assert_allclose(state.omega_map_body_in_body, expected, atol=1e-9)


# -- step -----------------------------------------------------------------------------------------


def lively(dt, seconds=1.0):
    """A turn with every rotor at another speed, changed every 20 ms, in wind and with drag."""
    airframe = only(
        load_airframe("iris"),
        drag_coefficient_n_s2_per_m=1.75e-4,
        rolling_coefficient_n_s2=1e-6,
        zero_thrust_axial_speed_m_s=25.0,
        rotor_inertia_kg_m2=2e-5,
        quadratic_drag_n_s2_per_m2=(0.02, 0.02, 0.03),
    )
    rng = np.random.default_rng(1)
    vehicle = Multirotor(
        airframe,
        p_map_body=(0.0, 0.0, 100.0),
        v_map_body=(3.0, 2.0, 1.0),
        omega_map_body_in_body=(1.0, -0.5, 0.7),
        rotor_speed_rad_s=hover_speed_rad_s(airframe),
    )
    vehicle.step(np.full(4, 0.7), 1e-9, wind_map=(4.0, -2.0, 0.5))
    for _ in range(round(seconds / 0.02)):
        command = 0.7 + rng.uniform(-0.05, 0.05, 4)
        for _ in range(round(0.02 / dt)):
            vehicle.step(command, dt)
    return vehicle.state_vector[:13].copy()


def test_the_step_of_free_flight_converges_with_fourth_order():
    reference = lively(2.5e-4)
    errors = [np.abs(lively(dt) - reference).max() for dt in (4e-3, 2e-3, 1e-3)]
    for coarse, fine in itertools.pairwise(errors):
        assert 12.0 < coarse / fine < 20.0  # 2^4


def test_a_step_of_four_milliseconds_is_exact_to_micrometres_over_seconds():
    coarse, fine = lively(4e-3, seconds=4.0), lively(5e-4, seconds=4.0)
    np.testing.assert_allclose(coarse[:3], fine[:3], atol=5e-6)
    np.testing.assert_allclose(coarse[3:7], fine[3:7], atol=5e-6)


def test_a_long_step_is_divided_into_steps_of_four_milliseconds_at_most():
    airframe = load_airframe("iris")
    one, many = (
        Multirotor(airframe, p_map_body=HIGH, omega_map_body_in_body=(1, 2, 3)) for _ in range(2)
    )
    one.step(np.full(4, 0.6), 0.02)
    for _ in range(5):
        many.step(np.full(4, 0.6), 0.004)
    np.testing.assert_allclose(one.state_vector[:13], many.state_vector[:13], rtol=1e-12)


# -- density of the air -----------------------------------------------------------------------

# ICAO Doc 7488/3, table 1: density over that at sea level by geometric altitude
ISA_DENSITY = [
    (0.0, 1.0),
    (500.0, 0.95287),
    (1000.0, 0.90748),
    (3000.0, 0.74225),
    (9000.0, 0.38128),
]


@pytest.mark.parametrize(("altitude", "ratio"), ISA_DENSITY)
def test_every_force_of_the_air_falls_with_its_density(iris, altitude, ratio):
    thin = dataclasses.replace(iris, air_density="standard_atmosphere")
    start = {
        "v_map_body": (4.0, -2.0, 1.0),
        "omega_map_body_in_body": (0.3, 0.2, -0.4),
        "rotor_speed_rad_s": (700.0, 720.0, 760.0, 740.0),
    }
    force, moment = wrench(iris, p_map_body=(0, 0, 100), **start)
    here, moment_here = wrench(
        thin, p_map_body=(0, 0, 100), origin_altitude_m=altitude - 100.0, **start
    )
    np.testing.assert_allclose(here, ratio * force, rtol=2e-5)  # five digits in the table
    np.testing.assert_allclose(moment_here, ratio * moment, rtol=2e-5, atol=1e-9)


def test_it_hovers_faster_in_thin_air(iris):
    thin = dataclasses.replace(iris, air_density="standard_atmosphere")
    speed = derived_quantities(thin, altitude_m=3000.0).hover_speed_rad_s
    assert speed == pytest.approx(hover_speed_rad_s(iris) / math.sqrt(0.74225), rel=2e-5)
    force, _ = wrench(
        thin, p_map_body=(0, 0, 50), origin_altitude_m=2950.0, rotor_speed_rad_s=speed
    )
    assert force[2] == pytest.approx(iris.mass_kg * GRAVITY, rel=1e-6)


def test_without_the_altitude_of_the_origin_the_air_is_that_of_sea_level(iris):
    thin = dataclasses.replace(iris, air_density="standard_atmosphere")
    for alike in (wrench(thin, rotor_speed_rad_s=800.0), wrench(iris, rotor_speed_rad_s=800.0)):
        assert alike[0][2] == pytest.approx(4 * 5.84e-6 * 800.0**2, rel=1e-9)
