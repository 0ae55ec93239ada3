# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of lidars on beams: rain against quadrature, all drops one by one, and measurements."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from aerotwin_core.seeds import seed_sequence
from aerotwin_faults import Echoes, FaultTiming, Moment, activated, load_fault, rain_extinction
from aerotwin_faults.scanners import FAINTEST_ECHO_PER_M2, WATER_REFLECTS, rain_drops
from aerotwin_faults.together import is_silent, met_echoes

HALF, FULL = Moment(0.5, 1.0, 1.0), Moment(1.0, 1.0, 1.0)
SIGMAS = 5.0
FLOAT32 = 1e-5
KEY = int(np.random.default_rng(3).integers(2**63))  # of the effects below
DB_PER_NEPER = 10.0 / math.log(10.0)


def effect(kind, **values):
    return load_fault(kind, values, where="test").effect(np.random.default_rng(3))


def walls(n, seed=1):
    """Return beams in all directions, and walls at 1 to 80 m or nothing that they meet."""
    rng = np.random.default_rng(seed)
    directions, normals = rng.standard_normal((2, n, 3)).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    distance = rng.uniform(1.0, 80.0, n).astype(np.float32)
    nothing = rng.random(n) < 0.2
    distance[nothing], normals[nothing] = np.inf, 0.0
    reflectivity = rng.uniform(0.05, 0.9, n).astype(np.float32)
    reflectivity[nothing] = np.nan  # whatever is there
    return Echoes(distance, normals, reflectivity), directions


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("rate_mm_h", [1.0, 10.0, 50.0, 100.0])
def test_extinction_is_the_integral_over_the_drops_and_agrees_with_measurements(rate_mm_h):
    slope = 4.1 * rate_mm_h**-0.21
    integral, _ = quad(
        lambda d: 2.0 * 0.25 * math.pi * d**2 * 1e-6 * 8000.0 * math.exp(-slope * d), 0.0, 40.0
    )
    assert rain_extinction(rate_mm_h) == pytest.approx(integral, rel=1e-9)
    published_db_km = 1.45 * rate_mm_h**0.64  # Ulbrich and Atlas
    found_db_km = 1e3 * DB_PER_NEPER * rain_extinction(rate_mm_h)
    assert found_db_km == pytest.approx(published_db_km, rel=0.1)
    assert rain_extinction(0.0) == 0.0


def test_drops_are_those_of_a_beam_in_which_every_drop_is_drawn():
    rate_mm_h, divergence_mrad, n_beams, far_m = 25.0, 3.0, 40_000, 12.0
    slope = 4.1 * rate_mm_h**-0.21
    rng = np.random.default_rng(11)
    volume = math.pi / 12.0 * (1e-3 * divergence_mrad) ** 2 * far_m**3
    n = rng.poisson(volume * 8000.0 / slope * n_beams)
    distance = far_m * rng.random(n) ** (1.0 / 3.0)
    diameter_mm = rng.exponential(1.0 / slope, n)
    reflectivity = WATER_REFLECTS * np.minimum(diameter_mm / (divergence_mrad * distance), 1.0) ** 2
    seen = reflectivity / distance**2 > FAINTEST_ECHO_PER_M2
    drops = rain_drops(rate_mm_h, divergence_mrad, n_beams, rng)
    assert drops.distance_m.max() < far_m
    echoes = drops.reflectivity / drops.distance_m**2
    assert echoes.min() > (1.0 - 1e-9) * FAINTEST_ECHO_PER_M2
    slow = distance[seen], np.log(reflectivity[seen])
    fast = drops.distance_m, np.log(drops.reflectivity)
    n_slow, n_fast = seen.sum(), len(drops.beam)
    assert n_slow > 5000
    assert n_fast == pytest.approx(n_slow, abs=SIGMAS * math.sqrt(n_slow + n_fast))
    for a, b in zip(slow, fast, strict=True):
        error = SIGMAS * math.hypot(a.std() / math.sqrt(n_slow), b.std() / math.sqrt(n_fast))
        assert b.mean() == pytest.approx(a.mean(), abs=error)
        assert b.std() == pytest.approx(a.std(), rel=0.05)
    counts = np.bincount(drops.beam, minlength=n_beams)
    assert counts.var() == pytest.approx(counts.mean(), rel=0.05)  # Poisson


def test_a_beam_measures_its_strongest_echo():
    """Against a loop over beams and drops."""
    rate_mm_h, stamp_ns, n = 40.0, 700, 4000
    echoes, directions = walls(n)
    found = effect("lidar_rain", rate_mm_h=rate_mm_h).echoes(echoes, directions, stamp_ns, FULL)
    extinction = rain_extinction(rate_mm_h)
    drops = rain_drops(rate_mm_h, 3.0, n, seed_sequence(KEY, stamp_ns, "lidar_rain"))
    of_beam = [[] for _ in range(n)]
    for beam, distance, reflectivity in zip(*drops, strict=True):
        if distance >= 1.5:
            of_beam[beam].append((distance, reflectivity * math.exp(-2.0 * extinction * distance)))
    n_drops = 0
    for i in range(n):
        z, passed = float(echoes.distance_m[i]), 0.0
        if math.isfinite(z):
            passed = float(echoes.reflectivity[i]) * math.exp(-2.0 * extinction * z)
        cosine = abs(float(directions[i] @ echoes.normal_map[i]))
        best = (passed * cosine / z**2, z, passed)
        for r, light in of_beam[i]:
            if r < z:
                best = max(best, (light / r**2, r, light))
        is_drop = best[1] != z
        n_drops += is_drop
        assert found.distance_m[i] == np.float32(best[1])
        assert found.reflectivity[i] == pytest.approx(best[2], rel=FLOAT32)
        normal = -directions[i] if is_drop else echoes.normal_map[i]
        np.testing.assert_array_equal(found.normal_map[i], normal)
    assert 100 < n_drops < n // 2


def test_drops_are_near_and_more_of_them_hide_more_with_the_rate():
    echoes, directions = walls(20_000)
    n_drops, light = [], []
    for rate_mm_h in (0.0, 2.0, 10.0, 50.0, 200.0):
        rain = effect("lidar_rain", rate_mm_h=rate_mm_h)
        found = rain.echoes(echoes, directions, 5, FULL)
        is_drop = found.distance_m != echoes.distance_m
        n_drops.append(is_drop.sum())
        far = (echoes.distance_m > 20.0) & ~is_drop & np.isfinite(echoes.distance_m)
        light.append((found.reflectivity[far] / echoes.reflectivity[far]).mean())
        assert found.distance_m[is_drop].max(initial=0.0) < 15.0
        assert found.distance_m[is_drop].min(initial=99.0) >= 1.5
    assert n_drops[0] == 0
    assert light[0] == 1.0
    assert (np.diff(n_drops) > 0).all()
    assert (np.diff(light) < 0.0).all()
    strong = effect("lidar_rain", rate_mm_h=100.0).echoes(echoes, directions, 5, HALF)
    assert same(strong, effect("lidar_rain", rate_mm_h=50.0).echoes(echoes, directions, 5, FULL))


@pytest.mark.parametrize("kind", ["lidar_rain", "lidar_dropout"])
def test_each_turn_has_its_own_faults_and_the_same_again(kind):
    (echoes, directions), (before, _) = walls(3000), walls(3000)
    one = effect(kind)
    first, second = (one.echoes(echoes, directions, stamp, FULL) for stamp in (0, 10**8))
    assert same(first, effect(kind).echoes(echoes, directions, 0, FULL))
    assert not same(first, second)
    assert same(echoes, before)  # what the world returned is not changed


def test_the_share_of_lost_beams_is_what_is_said():
    echoes, directions = walls(20_000)
    lost = []
    for share in (0.0, 0.2, 0.6, 1.0):
        found = effect("lidar_dropout", share=share).echoes(echoes, directions, 5, FULL)
        is_lost = np.isinf(found.distance_m)
        expected = 0.2 + 0.8 * share  # 20 % met nothing
        assert is_lost.mean() == pytest.approx(expected, abs=SIGMAS * 0.5 / math.sqrt(20_000))
        np.testing.assert_array_equal(found.distance_m[~is_lost], echoes.distance_m[~is_lost])
        lost.append(is_lost)
    assert (lost[1] <= lost[2]).all()


def test_faults_of_beams_follow_each_other_and_loss_is_silence():
    def active(kind, **values):
        loaded = load_fault(kind, values, where="test")
        timing = FaultTiming(begin_ns=100, duration_s=1.0)
        return activated(kind, loaded, timing, np.random.default_rng(3))

    echoes, directions = walls(500)
    both = [active("lidar_rain"), active("lidar_dropout", share=1.0)]
    assert np.isinf(met_echoes(both, echoes, directions, 200).distance_m).all()
    assert same(met_echoes(both, echoes, directions, 99), echoes)
    assert not is_silent(both, 200)
    for kind in ("lidar_loss", "radar_loss"):
        assert is_silent([*both, active(kind)], 200)
        assert not is_silent([*both, active(kind)], 99)
