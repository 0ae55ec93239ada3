# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled kernel against a slow twin written from the equations with vectors and SciPy."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_multirotor_dynamics import (
    GRAVITY,
    BatteryParameters,
    Multirotor,
    layout,
    load_airframe,
)

ROUNDING = 1e-9
ORIGIN_ALTITUDE = 1500.0
UP = np.array([0.0, 0.0, 1.0])
REACH_AND_A_CENTIMETRE = 0.01


class SlowTwin:
    """XTDrone eq. 1-6, the other effects and the contact law, term by term; Runge-Kutta.

    One step of 4 ms where no point can reach the ground, sub-steps of 1 ms otherwise.
    """

    def __init__(self, airframe, p, q, v, omega, speed):
        self.airframe = airframe
        self.start = p
        self.y = np.concatenate([p, q / np.linalg.norm(q), v, omega])
        self.speed = np.array(speed, float)
        self.wanted = self.speed.copy()
        contact = airframe.contact
        self.points = [np.array(x) for x in (*contact.feet_m, *contact.hull_m)]
        self.anchors = [None] * len(self.points)
        self.charge = airframe.battery.initial_charge
        self.voltage = self.open_circuit()
        self.current = 0.0
        self.n_long_steps = 0

    # -- forces -------------------------------------------------------------------------------

    def wrench(self, y, speed, wind, ground, normal):
        a = self.airframe
        R, omega = Rotation.from_quat(y[3:7]).as_matrix(), y[10:13]
        air = R.T @ (y[7:10] - wind)
        force = -np.array(a.linear_drag_n_s_per_m) * air
        force = force - np.array(a.quadratic_drag_n_s2_per_m2) * np.linalg.norm(air) * air
        moment, density = np.zeros(3), self.density()
        for rotor, w in zip(a.rotors, speed, strict=True):
            r = np.array(rotor.position_m)
            height = normal @ (y[:3] + R @ r - ground)
            gain = self.ground_gain(height, (R @ UP) @ normal)
            f, m = self.rotor_wrench(rotor.spin, w, air + np.cross(omega, r), gain)
            force, moment = force + f, moment + np.cross(r, f) + m
        moment = density * moment + self.rotor_momentum(speed, omega)
        force = density * R @ force
        for i in range(len(self.points)):
            f, _, _ = self.contact(i, y, ground, normal)
            force = force + f
            moment = moment + np.cross(self.points[i], R.T @ f)
        return force, moment

    def density(self):
        """Return the density ratio of the air at the step's start (ICAO's troposphere)."""
        if self.airframe.air_density == "sea_level":
            return 1.0
        altitude = ORIGIN_ALTITUDE + self.start[2]
        geopotential = 6356766.0 * altitude / (6356766.0 + altitude)
        return (1.0 - 0.0065 * geopotential / 288.15) ** (9.80665 / (0.0065 * 287.05287) - 1.0)

    def rotor_wrench(self, spin, w, v, gain):
        p = self.airframe.propeller
        across = v - UP * (UP @ v)
        loss = 1.0
        if p.zero_thrust_axial_speed_m_s > 0.0:
            loss = max(0.0, 1.0 - (UP @ v) / p.zero_thrust_axial_speed_m_s)
        blades = p.thrust_coefficient_n_s2 * w**2 * loss
        thrust = gain * blades + p.translational_lift_n_s2_per_m2 * (across @ across)
        thrust = thrust - p.axial_drag_coefficient_n_s2_per_m * w * (UP @ v)
        turn = spin if p.rolling_moment_follows_spin else 1.0
        moment = -turn * w * p.rolling_coefficient_n_s2 * across
        moment = moment - spin * p.torque_per_thrust_m * blades * UP
        return thrust * UP - w * p.drag_coefficient_n_s2_per_m * across, moment

    def ground_gain(self, height, upright):
        p = self.airframe.propeller
        if p.ground_effect == 0.0 or upright <= 0.0:
            return 1.0
        along_the_axis = max(0.5 * p.radius_m, height / upright)
        return 1.0 / (1.0 - p.ground_effect * (p.radius_m / (4.0 * along_the_axis)) ** 2)

    def rotor_momentum(self, speed, omega):
        """Return what the body feels of the angular momentum h of its rotors: -omega x h - h'."""
        spins = np.array([rotor.spin for rotor in self.airframe.rotors])
        tau = self.time_constant(speed)
        inertia = self.airframe.propeller.rotor_inertia_kg_m2
        rate = (self.wanted - speed) / tau
        h, h_rate = inertia * (spins @ speed) * UP, inertia * (spins @ rate) * UP
        return -np.cross(omega, h) - h_rate

    def contact(self, i, y, ground, normal):
        c = self.airframe.contact
        R = Rotation.from_quat(y[3:7]).as_matrix()
        place = y[:3] + R @ self.points[i]
        v = y[7:10] + R @ np.cross(y[10:13], self.points[i])
        depth = normal @ (ground - place)
        if depth <= 0.0:
            return np.zeros(3), place, depth
        fade = min(1.0, depth / c.damping_depth_m)
        push = c.normal_stiffness_n_per_m * depth
        push = max(0.0, push - c.normal_damping_n_s_per_m * fade * (v @ normal))
        flat = np.eye(3) - np.outer(normal, normal)
        pull = -c.tangential_damping_n_s_per_m * flat @ v
        if self.anchors[i] is not None:
            pull = pull - c.tangential_stiffness_n_per_m * flat @ (place - self.anchors[i])
        size = np.linalg.norm(pull)
        self.slips = size > c.friction * push
        if self.slips:
            pull = pull * c.friction * push / size
        self.longest = c.friction * push / c.tangential_stiffness_n_per_m
        return push * normal + pull, place, depth

    def rate(self, y, speed, *surroundings):
        force, moment = self.wrench(y, speed, *surroundings)
        inertia = np.diag(self.airframe.inertia_kg_m2)
        omega = y[10:13]
        spin = np.linalg.solve(inertia, moment - np.cross(omega, inertia @ omega))
        x, yy, z, w = y[3:7]
        turn = 0.5 * np.array([[w, -z, yy], [z, w, -x], [-yy, x, w], [-x, -yy, -z]]) @ omega
        return np.concatenate([y[7:10], turn, force / self.airframe.mass_kg - GRAVITY * UP, spin])

    # -- motors and battery -------------------------------------------------------------------

    def time_constant(self, speed):
        m = self.airframe.motor
        return np.where(self.wanted > speed, m.time_constant_up_s, m.time_constant_down_s)

    def ask(self, command, is_speed):
        m, battery = self.airframe.motor, self.airframe.battery
        limit = m.maximum_speed_rad_s
        if battery.capacity_ah > 0.0:
            limit = limit * min(1.0, self.voltage / battery.full_voltage_v)
            limit = limit if self.charge > 0.0 else 0.0
        affine = m.speed_per_command_rad_s * np.clip(command, 0, 1) + m.armed_speed_rad_s
        self.wanted = np.clip(command if is_speed else affine, 0.0, limit)

    def lagged(self, h):
        return self.wanted + (self.speed - self.wanted) * np.exp(
            -h / self.time_constant(self.speed)
        )

    def open_circuit(self):
        b = self.airframe.battery
        cell = b.empty_cell_v + self.charge * (b.full_cell_v - b.empty_cell_v)
        return b.cells * cell

    def drain(self, h):
        b, p = self.airframe.battery, self.airframe.propeller
        if b.capacity_ah == 0.0:
            return
        shaft = b.shaft_torque_per_thrust_m or p.torque_per_thrust_m
        torque = self.density() * shaft * p.thrust_coefficient_n_s2 * self.speed**2
        power = b.idle_power_w + (torque * self.speed).sum() / b.motor_efficiency
        roots = np.roots([b.resistance_ohm, -self.open_circuit(), power])
        self.current = roots.real.min()
        self.voltage = self.open_circuit() - b.resistance_ohm * self.current
        self.charge = max(0.0, self.charge - self.current * h / 3600.0 / b.capacity_ah)

    # -- time ---------------------------------------------------------------------------------

    def step(self, command, dt, wind, ground, normal, *, is_speed=False):
        reach = max(np.linalg.norm(point) for point in self.points)
        way = np.linalg.norm(self.y[7:10]) * dt + REACH_AND_A_CENTIMETRE
        is_clear = normal @ (self.y[:3] - ground) > reach + way
        self.n_long_steps += is_clear
        n = 1 if is_clear else math.ceil(dt / 0.001 - 1e-6)
        for _ in range(n):
            self.small_step(command, dt / n, (wind, ground, normal), is_speed)
        self.start = self.y[:3].copy()

    def small_step(self, command, h, s, is_speed):
        self.ask(command, is_speed)
        y, middle, end = self.y, self.lagged(h / 2), self.lagged(h)
        k1 = self.rate(y, self.speed, *s)
        k2 = self.rate(y + h / 2 * k1, middle, *s)
        k3 = self.rate(y + h / 2 * k2, middle, *s)
        k4 = self.rate(y + h * k3, end, *s)
        self.y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        self.y[3:7] /= np.linalg.norm(self.y[3:7])
        self.speed = end
        self.drain(h)
        self.settle(*s[1:])

    def settle(self, ground, normal):
        for i in range(len(self.points)):
            _, place, depth = self.contact(i, self.y, ground, normal)
            if depth <= 0.0:
                self.anchors[i] = None
                continue
            if self.anchors[i] is None:
                self.anchors[i] = place
                self.contact(i, self.y, ground, normal)
            stretch = np.linalg.norm(place - self.anchors[i])
            if self.slips and stretch > self.longest:
                self.anchors[i] = place + (self.anchors[i] - place) * self.longest / stretch


def with_every_effect(airframe):
    """The airframe with numbers of a plausible size for every effect that it lacks."""
    propeller = dataclasses.replace(
        airframe.propeller,
        rolling_coefficient_n_s2=2e-6,
        rolling_moment_follows_spin=True,
        axial_drag_coefficient_n_s2_per_m=1e-4,
        translational_lift_n_s2_per_m2=3e-3,
        rotor_inertia_kg_m2=3e-5,
        radius_m=0.127,
        ground_effect=1.3,
    )
    battery = BatteryParameters(
        capacity_ah=0.005,
        resistance_ohm=0.05,
        idle_power_w=8.0,
        initial_charge=0.9,
        cells=6,
        shaft_torque_per_thrust_m=0.05,
    )
    return dataclasses.replace(
        airframe,
        propeller=propeller,
        battery=battery,
        air_density="standard_atmosphere",
        linear_drag_n_s_per_m=(0.3, 0.2, 0.1),
        quadratic_drag_n_s2_per_m2=(0.02, 0.03, 0.04),
    )


def both(airframe, height, speed):
    p, v, omega = np.array([1.0, 2.0, height]), np.array([1, -0.5, -0.4]), np.array([0.5, -1, 2.0])
    q = Rotation.from_euler("xyz", [0.2, -0.1, 2.0]).as_quat()
    vehicle = Multirotor(
        airframe,
        p_map_body=p,
        q_map_body=q,
        v_map_body=v,
        omega_map_body_in_body=omega,
        rotor_speed_rad_s=speed,
        origin_altitude_m=ORIGIN_ALTITUDE,
    )
    return SlowTwin(airframe, p, q, v, omega, np.full(len(airframe.rotors), speed)), vehicle


GROUND, WIND = np.array([1.0, 2.0, 0.1]), np.array([2.0, 3.0, -0.5])
NORMAL = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
PLANE = {"ground_point": GROUND, "ground_normal": NORMAL}


@pytest.mark.parametrize(
    "change", [lambda airframe: airframe, with_every_effect], ids=["iris", "every effect"]
)
def test_the_kernel_does_what_the_slow_twin_does_in_the_air_and_on_a_slope(change):
    airframe = change(load_airframe("iris"))
    rng = np.random.default_rng(3)
    twin, vehicle = both(airframe, 0.35, 700.0)
    touched = 0
    for _ in range(75):
        command = rng.uniform(0.3, 0.8, 4)
        twin.step(command, 0.004, WIND, GROUND, NORMAL)
        vehicle.step(command, 0.004, wind_map=WIND, **PLANE)
        touched += vehicle.is_on_ground
        np.testing.assert_allclose(vehicle.state_vector[:13], twin.y, atol=ROUNDING)
    assert 5 < touched < 75  # both regimes were seen
    state = vehicle.state
    rate = twin.rate(twin.y, twin.speed, WIND, GROUND, NORMAL)
    np.testing.assert_allclose(state.a_map_body, rate[7:10], atol=1e-6)
    np.testing.assert_allclose(state.alpha_in_body, rate[10:13], atol=1e-5)
    felt = state.R_map_body.T @ (rate[7:10] + GRAVITY * UP)
    np.testing.assert_allclose(state.specific_force_in_body, felt, atol=1e-6)


@pytest.mark.parametrize("name", ["iris", "firefly"])
def test_the_kernel_does_what_the_slow_twin_does_in_free_flight_with_every_effect(name):
    airframe = with_every_effect(load_airframe(name))
    rng = np.random.default_rng(4)
    twin, vehicle = both(airframe, 2.0, 600.0)
    n = len(airframe.rotors)
    for i in range(100):
        is_speed = i >= 50
        command = rng.uniform(0.2, 1.1, n) * (1000.0 if is_speed else 1.0)
        asked = {"rotor_speed_setpoint_rad_s": command} if is_speed else {}
        twin.step(command, 0.004, WIND, GROUND, NORMAL, is_speed=is_speed)
        vehicle.step(None if is_speed else command, 0.004, wind_map=WIND, **PLANE, **asked)
        v = vehicle.state_vector
        np.testing.assert_allclose(v[:13], twin.y, atol=ROUNDING)
        np.testing.assert_allclose(vehicle.rotor_speed_rad_s, twin.speed, rtol=ROUNDING)
        np.testing.assert_allclose(vehicle.rotor_setpoint_rad_s, twin.wanted, rtol=ROUNDING)
        battery = v[layout.BATTERY_CHARGE : layout.BATTERY_CURRENT + 1]
        np.testing.assert_allclose(battery, [twin.charge, twin.voltage, twin.current], rtol=1e-7)
    assert twin.n_long_steps > 50
    assert twin.charge < 0.8
    state = vehicle.state
    rate = twin.rate(twin.y, twin.speed, WIND, GROUND, NORMAL)
    np.testing.assert_allclose(state.a_map_body, rate[7:10], atol=1e-6)
    np.testing.assert_allclose(state.alpha_in_body, rate[10:13], atol=1e-5)
