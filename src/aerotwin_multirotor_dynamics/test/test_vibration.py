# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vibration of the rotors against closed forms, and against a fine integral of its forces."""

import dataclasses
import math

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import (
    Airframe,
    Multirotor,
    RotorVibration,
    Vibration,
    airframe_names,
    derived_quantities,
    layout,
    load_airframe,
)
from aerotwin_multirotor_dynamics.vibration import VIBRATION

DT = 0.004
IMBALANCE, DAMAGE, AXIAL, RIPPLE = 2e-6, 1e-5, 0.7, 0.05
N_BLADES = 3
SPEEDS = np.array([520.0, 560.0, 610.0, 655.0])  # 83 to 104 Hz, in order of the rotors
N_FINE = 2000
STEP_ERROR = 1e-5  # of the fine integral: a trapezoid of N_FINE parts, (n pi f dt / N_FINE)^2 / 3
SINE_ERROR = 1e-7  # of the polynomial, over the share that sampling leaves


def shaken(**changes) -> Airframe:
    values = {"imbalance_kg_m": IMBALANCE} | changes
    return dataclasses.replace(load_airframe("iris"), vibration=Vibration(**values))


EVERYTHING = {
    "axial_share": AXIAL,
    "thrust_ripple": RIPPLE,
    "n_blades": N_BLADES,
    "damage_kg_m": (0.0, DAMAGE, 0.0, 0.0),
}


def state_of(airframe, speeds=SPEEDS, **start):
    vehicle = Multirotor(airframe, p_map_body=(0, 0, 500), rotor_speed_rad_s=speeds, **start)
    return vehicle.state_vector


def motion(state):
    places = layout.SPECIFIC_FORCE, layout.ANGULAR_VELOCITY, layout.ANGULAR_ACCELERATION
    return np.concatenate([state[place] for place in places])


def felt(airframe, n, dt=DT, seed=4, **options):
    """What n samples in a row feel beside the motion, (n, 9), once the rotors' speed is steady."""
    state = state_of(airframe)
    vibration = RotorVibration(airframe, np.random.default_rng(seed), **options)
    vibration.felt(dt, state)  # from standstill to the speed
    return np.array([vibration.felt(dt, state) for _ in range(n)]) - motion(state)


class SlowTwin:
    """Forces of each rotor written down as vectors, and their means by a fine trapezoid."""

    def __init__(self, airframe, seed):
        self.airframe = airframe
        half_turns = np.random.default_rng(seed).uniform(-1.0, 1.0, len(airframe.rotors))
        self.angle = math.pi * half_turns
        self.speed = np.zeros(len(airframe.rotors))

    def felt(self, dt, speeds, density):
        """The mean specific force, rate and angular acceleration over the next dt."""
        a, v = self.airframe, self.airframe.vibration
        mean_speed = 0.5 * (self.speed + speeds)
        t = np.linspace(0.0, dt, N_FINE)
        force, moment, impulse = np.zeros((N_FINE, 3)), np.zeros((N_FINE, 3)), np.zeros((N_FINE, 3))
        for i, rotor in enumerate(a.rotors):
            w, angle = mean_speed[i], self.angle[i] + mean_speed[i] * t
            me = v.imbalance_kg_m + (v.damage_kg_m[i] if v.damage_kg_m else 0.0)
            size, thrust = me * w * w, density * a.propeller.thrust_coefficient_n_s2 * w * w
            n, s = v.n_blades, rotor.spin
            f = np.array(
                [
                    size * np.cos(angle),
                    s * size * np.sin(angle),
                    v.axial_share * size * np.cos(angle)
                    + v.thrust_ripple * thrust * np.cos(n * angle),
                ]
            ).T
            # the integral of f that has no mean: each harmonic over its frequency
            p = np.array(
                [
                    size / w * np.sin(angle),
                    -s * size / w * np.cos(angle),
                    v.axial_share * size / w * np.sin(angle)
                    + v.thrust_ripple * thrust / (n * w) * np.sin(n * angle),
                ]
            ).T
            hub = np.array(rotor.position_m)
            force, moment = force + f, moment + np.cross(hub, f)
            impulse = impulse + np.cross(hub, p)
        self.angle, self.speed = self.angle + mean_speed * dt, np.array(speeds)
        inertia = np.array(a.inertia_kg_m2)
        parts = force / a.mass_kg, impulse / inertia, moment / inertia
        return np.concatenate([np.trapezoid(part, t, axis=0) / dt for part in parts])


@pytest.mark.parametrize("dt", [0.001, 0.004, 0.02])
def test_what_is_felt_is_the_mean_of_the_forces_of_the_rotors_over_the_sample(dt):
    airframe = dataclasses.replace(shaken(**EVERYTHING), air_density="standard_atmosphere")
    vibration, twin = RotorVibration(airframe, np.random.default_rng(9)), SlowTwin(airframe, 9)
    rng = np.random.default_rng(1)
    for _ in range(30):
        speeds = rng.uniform(300.0, 900.0, 4)
        state = state_of(airframe, speeds, origin_altitude_m=2000.0)
        mine = vibration.felt(dt, state) - motion(state)
        theirs = twin.felt(dt, speeds, state[layout.AIR_DENSITY])
        size = np.array([10.0] * 3 + [0.1] * 3 + [100.0] * 3)
        np.testing.assert_allclose(mine / size, theirs / size, atol=STEP_ERROR)


def amplitude(values, frequency_hz, dt=DT):
    """Of a tone in samples over whole turns of it, by least squares."""
    t = dt * np.arange(len(values))
    waves = np.column_stack(
        [np.cos(2 * np.pi * frequency_hz * t), np.sin(2 * np.pi * frequency_hz * t)]
    )
    return np.hypot(*np.linalg.lstsq(waves, values, rcond=None)[0])


def test_an_imbalance_shakes_by_m_e_omega_squared_over_the_mass_at_the_turning_frequency():
    """One rotor off balance; the sampling leaves sin(pi f dt) / (pi f dt) of it."""
    airframe = shaken(imbalance_kg_m=0.0, damage_kg_m=(0.0, 0.0, DAMAGE, 0.0))
    values = felt(airframe, 2500)
    omega = SPEEDS[2]
    f = omega / (2 * math.pi)
    share = np.sinc(f * DT)
    force = DAMAGE * omega**2
    for axis in (0, 1):
        assert amplitude(values[:, axis], f) == pytest.approx(
            share * force / airframe.mass_kg, rel=1e-4
        )
    np.testing.assert_allclose(values[:, 2], 0.0, atol=SINE_ERROR)  # nothing along the axis
    x, y, z = airframe.rotors[2].position_m
    about = np.array([z, z, math.hypot(x, y)])  # arms of a force that turns in the plane
    turning = force * about / np.array(airframe.inertia_kg_m2)
    for k in range(3):
        assert amplitude(values[:, 6 + k], f) == pytest.approx(share * turning[k], rel=1e-4)
        assert amplitude(values[:, 3 + k], f) == pytest.approx(share * turning[k] / omega, rel=1e-4)


def test_the_spectrum_peaks_at_the_speeds_of_the_rotors_and_at_their_blades_passing():
    values = felt(shaken(axial_share=AXIAL, thrust_ripple=RIPPLE), 8000, dt=0.001)
    spectrum = np.abs(np.fft.rfft(values[:, 2] * np.hanning(len(values))))
    frequency = np.fft.rfftfreq(len(values), 0.001)
    for turns in (1, 2):  # two blades
        for speed in SPEEDS:
            f = turns * speed / (2 * math.pi)
            near = np.abs(frequency - f) < 2.0
            between = np.abs(frequency - f - 4.0) < 1.0
            assert abs(frequency[near][spectrum[near].argmax()] - f) < 0.15  # the resolution
            assert spectrum[near].max() > 100.0 * np.median(spectrum[between])


def test_what_lies_above_half_the_sampling_rate_is_folded_back_with_the_share_that_is_left():
    airframe = shaken()
    state = state_of(airframe, np.full(4, 807.0))  # 128.4 Hz at 250 Hz
    vibration = RotorVibration(airframe, np.random.default_rng(2))
    vibration.felt(DT, state)
    values = np.array([vibration.felt(DT, state)[0] for _ in range(5000)])
    spectrum = np.abs(np.fft.rfft(values * np.hanning(len(values))))
    frequency = np.fft.rfftfreq(len(values), DT)
    f = 807.0 / (2 * math.pi)
    assert frequency[spectrum.argmax()] == pytest.approx(1 / DT - f, abs=0.05)


@pytest.mark.parametrize("level", [0.5, 3.0])
def test_the_level_multiplies_everything(level):
    once, more = felt(shaken(**EVERYTHING), 50), felt(shaken(**EVERYTHING), 50, level=level)
    np.testing.assert_allclose(more, level * once, rtol=1e-9, atol=1e-12)


def test_one_seed_shakes_alike_and_another_does_not():
    airframe = shaken(**EVERYTHING)
    assert felt(airframe, 20, seed=3).tobytes() == felt(airframe, 20, seed=3).tobytes()
    assert np.abs(felt(airframe, 20, seed=3) - felt(airframe, 20, seed=4)).max() > 0.1


def test_standing_rotors_do_not_shake():
    airframe = shaken(**EVERYTHING)
    state = state_of(airframe, np.zeros(4))
    vibration = RotorVibration(airframe, np.random.default_rng(1))
    for _ in range(5):
        np.testing.assert_allclose(vibration.felt(DT, state), motion(state), atol=SINE_ERROR)


def test_it_shakes_on_in_an_arena_as_it_would_alone():
    airframe = shaken(**EVERYTHING)
    alone, moved = (RotorVibration(airframe, np.random.default_rng(5)) for _ in range(2))
    state = state_of(airframe)
    vehicle = np.zeros(1, [("before", "f8", 100), ("vibration", VIBRATION)])
    for k in range(6):
        if k == 3:
            moved.move(vehicle["vibration"])
        assert moved.felt(DT, state).tobytes() == alone.felt(DT, state).tobytes()


@pytest.mark.parametrize("name", airframe_names())
def test_the_packaged_airframes_shake_in_hover_as_vehicles_do(name):
    """At the centre of mass 1 to 5 m/s^2: EuRoC V1_01 1.3; PX4's Flight Review: good below 4.9."""
    airframe = load_airframe(name)
    speed = derived_quantities(airframe).hover_speed_rad_s
    spread = 1.0 + 0.02 * np.linspace(-1.0, 1.0, len(airframe.rotors))
    state = state_of(airframe, speed * spread)
    vibration = RotorVibration(airframe, np.random.default_rng(3))
    vibration.felt(2e-4, state)
    values = np.array([vibration.felt(2e-4, state) for _ in range(20000)]) - motion(state)
    rms = np.sqrt((values**2).mean(axis=0))
    assert 1.0 < np.linalg.norm(rms[:3]) < 4.9
    if name == "firefly":  # EuRoC's is one: 0.97 up, 0.87 across at 70 to 100 Hz
        assert rms[2] == pytest.approx(0.97, rel=0.1)
        assert np.hypot(*rms[:2]) == pytest.approx(0.87, rel=0.1)
