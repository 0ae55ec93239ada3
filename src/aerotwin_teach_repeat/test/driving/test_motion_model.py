# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The motion model against closed forms, fine steps and numerical derivatives."""

import math

import numpy as np
import pytest

from aerotwin_teach_repeat.tracking import TrackerParameters
from aerotwin_teach_repeat.tracking.motion_model import CommandResponse, MotionModel
from aerotwin_teach_repeat.tracking.vehicle_memory import VehicleMemory

from .vehicle import TestVehicle

ROUNDING = 1e-12
DIFFERENCE = 1e-6  # step of central differences: error 1e-12 / 1e-6 and third derivatives
UNICYCLE = MotionModel(is_bicycle=False, speed_lag_s=0.2, turn_lag_s=0.27)
BICYCLE = MotionModel(is_bicycle=True, speed_lag_s=0.2, turn_lag_s=0.27)
SLIP = CommandResponse(speed_gain=0.97, turn_gain=0.9, turn_bias=0.02)


def test_heading_lags_a_turn_by_rate_times_time_constant():
    """theta(t) = w (t - tau (1 - exp(-t / tau))) of a first-order lag from rest."""
    t, w, tau = 1.5, 0.4, UNICYCLE.turn_lag_s
    found = UNICYCLE.step((0.0, 0.0, 0.0, 0.0, 0.0), (0.0, w), t, CommandResponse())
    assert found[2] == pytest.approx(w * (t - tau * (1.0 - math.exp(-t / tau))), abs=ROUNDING)
    assert found[4] == pytest.approx(w * (1.0 - math.exp(-t / tau)), abs=ROUNDING)


def test_a_steady_circle_is_exact_but_for_chord_for_arc():
    state, w, v, dt = (0.0, 0.0, 0.0, 1.0, 0.5), 0.5, 1.0, 0.025
    for _ in range(200):
        state = UNICYCLE.step(state, (v, w), dt, CommandResponse())
    angle = w * dt * 200
    # The chord of an arc of angle a is shorter by a^2 / 24 of its length.
    expected = v / w * np.array([math.sin(angle), 1.0 - math.cos(angle)])
    np.testing.assert_allclose(state[:2], expected, atol=2.0 * v / w * (w * dt) ** 2 / 24 + 1e-9)


@pytest.mark.parametrize("model", [UNICYCLE, BICYCLE], ids=["unicycle", "bicycle"])
@pytest.mark.parametrize("dt", [0.025, 0.25])
def test_jacobians_are_the_derivatives_of_a_step(model, dt):
    rng = np.random.default_rng(3)
    states, commands = rng.normal(0.0, 0.7, (6, 5)), rng.normal(0.0, 0.7, (6, 2))
    A, B = model.jacobians(states, commands, dt, SLIP)
    for k in range(6):
        for i in range(7):
            z = np.r_[states[k], commands[k]]
            ends = []
            for sign in (1.0, -1.0):
                moved = z.copy()
                moved[i] += sign * DIFFERENCE
                ends.append(np.array(model.step(tuple(moved[:5]), moved[5:], dt, SLIP)))
            slope = (ends[0] - ends[1]) / (2.0 * DIFFERENCE)
            np.testing.assert_allclose(np.hstack([A[k], B[k]])[:, i], slope, atol=1e-8)


def drive(parameters, vehicle, seconds):
    """Drive a weave and tell a memory of it; return memory and time."""
    memory, k = VehicleMemory(parameters), 0
    for k in range(round(seconds / 0.1)):
        now = 0.1 * k
        memory.observe(now, vehicle.v, vehicle.omega)
        command = (1.0, 0.4 * math.sin(0.8 * now))
        memory.sent(now, command)
        vehicle.command(now, *command)
        vehicle.drive(now + 0.1)
    return memory, 0.1 * (k + 1)


def test_a_prediction_through_the_delay_ends_where_the_vehicle_will_be():
    parameters = TrackerParameters(command_delay_s=0.15, gain_std=0.0, turn_bias_std_rad_s=0.0)
    vehicle = TestVehicle(delay_s=0.15)
    memory, now = drive(parameters, vehicle, 6.0)
    memory.observe(now, vehicle.v, vehicle.omega)
    then = now + 0.15  # what acts until then has been sent
    found = memory.predict(vehicle.T_map_base, vehicle.v, vehicle.omega, time_s=now, until_s=then)
    before = np.array([vehicle.x, vehicle.y])
    vehicle.drive(then)
    assert np.hypot(*(before - [vehicle.x, vehicle.y])) > 0.14
    # The test's vehicle steps by Euler's rule, 1 ms: errors of 1 ms x rates.
    expected = (vehicle.x, vehicle.y, vehicle.theta, vehicle.v, vehicle.omega)
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_the_response_of_a_slipping_vehicle_is_found():
    vehicle = TestVehicle(speed_gain=0.95, turn_gain=0.85, turn_bias=0.02)
    memory, _ = drive(TrackerParameters(response_memory_s=100.0), vehicle, 60.0)
    assert memory.response.speed_gain == pytest.approx(0.95, abs=0.01)
    assert memory.response.turn_gain == pytest.approx(0.85, abs=0.02)
    assert memory.response.turn_bias == pytest.approx(0.02, abs=0.005)


def test_a_response_known_beforehand_is_not_estimated():
    vehicle = TestVehicle(speed_gain=0.9, turn_gain=0.8)
    memory, _ = drive(TrackerParameters(gain_std=0.0, turn_bias_std_rad_s=0.0), vehicle, 5.0)
    assert memory.response == CommandResponse()
