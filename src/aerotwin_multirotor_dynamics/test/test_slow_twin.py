# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled kernel against a slow twin written from the equations with vectors and SciPy."""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_multirotor_dynamics import GRAVITY, Multirotor, load_airframe

ROUNDING = 1e-9
UP = np.array([0.0, 0.0, 1.0])


class SlowTwin:
    """XTDrone eq. 1-6 and the contact law, term by term; RK4 with sub-steps of 1 ms."""

    def __init__(self, airframe, p, q, v, omega, speed):
        self.airframe = airframe
        self.y = np.concatenate([p, q / np.linalg.norm(q), v, omega])
        self.speed = np.array(speed, float)
        contact = airframe.contact
        self.points = [np.array(x) for x in (*contact.feet_m, *contact.hull_m)]
        self.anchors = [None] * len(self.points)

    def wrench(self, y, speed, wind, ground, normal):
        a, p = self.airframe, self.airframe.propeller
        R, omega = Rotation.from_quat(y[3:7]).as_matrix(), y[10:13]
        air = R.T @ (y[7:10] - wind)
        force = -np.array(a.linear_drag_n_s_per_m) * air
        moment = np.zeros(3)
        for rotor, w in zip(a.rotors, speed, strict=True):
            r = np.array(rotor.position_m)
            v = air + np.cross(omega, r)
            across = v - UP * (UP @ v)
            thrust = p.thrust_coefficient_n_s2 * w**2 * UP
            thrust = thrust * max(0.0, 1.0 - (UP @ v) / p.zero_thrust_axial_speed_m_s)
            f = thrust - w * p.drag_coefficient_n_s2_per_m * across
            force = force + f
            moment = moment + np.cross(r, f) - w * p.rolling_coefficient_n_s2 * across
            moment = moment - rotor.spin * p.torque_per_thrust_m * thrust
        force = R @ force
        for i in range(len(self.points)):
            f, _, _ = self.contact(i, y, ground, normal)
            force = force + f
            moment = moment + np.cross(self.points[i], R.T @ f)
        return force, moment

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

    def lagged(self, command, h):
        m = self.airframe.motor
        wanted = m.speed_per_command_rad_s * np.clip(command, 0, 1) + m.armed_speed_rad_s
        tau = np.where(wanted > self.speed, m.time_constant_up_s, m.time_constant_down_s)
        return wanted + (self.speed - wanted) * np.exp(-h / tau)

    def step(self, command, dt, wind, ground, normal):
        n = round(dt / 0.001)
        for _ in range(n):
            h, y, s = dt / n, self.y, (wind, ground, normal)
            middle, end = self.lagged(command, h / 2), self.lagged(command, h)
            k1 = self.rate(y, self.speed, *s)
            k2 = self.rate(y + h / 2 * k1, middle, *s)
            k3 = self.rate(y + h / 2 * k2, middle, *s)
            k4 = self.rate(y + h * k3, end, *s)
            self.y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            self.y[3:7] /= np.linalg.norm(self.y[3:7])
            self.speed = end
            self.settle(ground, normal)

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


def test_the_kernel_does_what_the_slow_twin_does_in_the_air_and_on_a_slope():
    rng = np.random.default_rng(3)
    airframe = load_airframe("iris")
    p, v, omega = np.array([1.0, 2.0, 0.35]), np.array([1.0, -0.5, -0.4]), np.array([0.5, -1, 2.0])
    q = Rotation.from_euler("xyz", [0.2, -0.1, 2.0]).as_quat()
    normal = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
    ground, wind = np.array([1.0, 2.0, 0.1]), np.array([2.0, 3.0, -0.5])
    twin = SlowTwin(airframe, p, q, v, omega, np.full(4, 700.0))
    vehicle = Multirotor(
        airframe,
        p_map_body=p,
        q_map_body=q,
        v_map_body=v,
        omega_map_body_in_body=omega,
        rotor_speed_rad_s=700.0,
    )
    touched = 0
    for _ in range(75):
        command = rng.uniform(0.3, 0.8, 4)
        twin.step(command, 0.004, wind, ground, normal)
        vehicle.step(command, 0.004, ground_point=ground, ground_normal=normal, wind_map=wind)
        touched += vehicle.is_on_ground
        np.testing.assert_allclose(vehicle.state_vector[:13], twin.y, atol=ROUNDING)
    assert 5 < touched < 75  # both regimes were seen
    state = vehicle.state
    rate = twin.rate(twin.y, twin.speed, wind, ground, normal)
    np.testing.assert_allclose(state.a_map_body, rate[7:10], atol=1e-6)
    np.testing.assert_allclose(state.alpha_in_body, rate[10:13], atol=1e-5)
    felt = state.R_map_body.T @ (rate[7:10] + GRAVITY * UP)
    np.testing.assert_allclose(state.specific_force_in_body, felt, atol=1e-6)
