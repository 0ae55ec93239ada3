# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The detector against closed forms: false alarms in noise, peaks between bins, and a slow twin."""

import dataclasses

import numpy as np
import pytest

from aerotwin_sensor_models import DetectorParameters, detect, peak_points

SIGMAS = 5.0
ROUNDED = 0.08
"""Share by which steps of 0.5 dB move a rate of false alarms: levels stand for 6 % of power each
way, and of an exponential's tail more falls in from below than out above."""
BIN_M = 0.05
PLAIN = DetectorParameters(
    false_alarm_rate=1e-2, offset_db=-100.0, n_side=20, n_guard=2, n_strongest=256,
    min_range_m=0.0, max_range_m=1e4,
)  # fmt: skip


def levels_of(power):
    return np.clip(np.round(20.0 * np.log10(np.maximum(power, 1.0))), 0, 255).astype(np.uint8)


def noise(shape, mean, seed=0):
    return mean * np.random.default_rng(seed).standard_exponential(shape)


def lobe(x):
    """Return the power of a point seen through a Hann window of 4 bins a cell."""
    u = x / 4.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(np.abs(np.abs(u) - 1.0) < 1e-9, 0.5, np.sinc(u) / (1.0 - u**2))
    return np.where(np.abs(u) < 2.0, value**2, 0.0)


def slow(levels, p):
    """Return azimuth, range and height of each peak, cell by cell as the text says."""
    power = 10.0 ** (0.05 * levels.astype(float))
    found = []
    for row, line in enumerate(power):
        hit = np.zeros(len(line), bool)
        for b in range(len(line)):
            cells = [k for k in range(b - p.n_guard - p.n_side, b + p.n_guard + p.n_side + 1)
                     if 0 <= k < len(line) and abs(k - b) > p.n_guard]  # fmt: skip
            hit[b] = line[b] > p.factor * line[cells].mean() + p.offset
        edges = np.flatnonzero(np.diff(np.concatenate([[0], hit.astype(int), [0]])))
        peaks = []
        for low, high in edges.reshape(-1, 2):
            b, mass = np.arange(low, high), line[low:high]
            peaks.append((row, (np.average(b, weights=mass) + 0.5) * BIN_M, mass.max()))
        strongest = sorted(peaks, key=lambda peak: -peak[2])[: p.n_strongest]
        found += sorted(strongest, key=lambda peak: peak[1])
    return np.array(found).reshape(-1, 3)


@pytest.mark.parametrize("rate", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("mean", [30.0, 3000.0])
def test_false_alarms_in_exponential_noise_are_as_rare_as_designed(rate, mean):
    """Adjacent ones are joined: a run begins where a cell is above and the one before is not."""
    p = dataclasses.replace(PLAIN, false_alarm_rate=rate)
    levels = levels_of(noise((200, 2000), mean))
    n, cells = len(detect(levels, BIN_M, p)), levels.size
    expected = rate * (1.0 - rate) * cells
    assert n == pytest.approx(expected, rel=ROUNDED + SIGMAS / np.sqrt(expected))


def test_an_offset_bounds_the_false_alarms_of_low_noise():
    """P = exp(-b / mean) (1 + a / N)^-N."""
    mean, offset = 100.0, 200.0
    p = dataclasses.replace(PLAIN, false_alarm_rate=1e-1, offset_db=float(10.0 * np.log10(offset)))
    levels = levels_of(noise((400, 2000), mean, seed=1))
    rate = np.exp(-offset / mean) * (1.0 + p.factor / 40.0) ** -40.0
    expected = rate * (1.0 - rate) * levels.size
    assert rate == pytest.approx(0.1 * np.exp(-2.0))
    n = len(detect(levels, BIN_M, p))
    assert n == pytest.approx(expected, rel=ROUNDED + SIGMAS / np.sqrt(expected))


def test_the_factor_is_that_of_the_closed_form():
    """N (P^(-1/N) - 1), which tends to -ln P for many cells."""
    many = dataclasses.replace(PLAIN, n_side=4096)
    assert many.factor == pytest.approx(-np.log(1e-2), rel=1e-3)
    assert PLAIN.factor == pytest.approx(40.0 * (100.0 ** (1.0 / 40.0) - 1.0))


@pytest.mark.parametrize("place", [300.0, 300.25, 300.5, 300.81])
def test_a_point_is_found_between_the_bins(place):
    """To a twentieth of a bin: what rounding to 0.5 dB and the threshold's edge leave."""
    power = 10.0 + 1e6 * lobe(np.arange(800) - place)
    peaks = detect(levels_of(power)[None], BIN_M, DetectorParameters(n_guard=10))
    assert peaks.range_m == pytest.approx([(place + 0.5) * BIN_M], abs=0.05 * BIN_M)
    assert peaks.level_db == pytest.approx([60.0], abs=0.5)
    assert peaks.azimuth.tolist() == [0]


def test_noise_and_points_are_found_as_by_the_slow_version():
    rng = np.random.default_rng(3)
    power = noise((12, 400), 20.0, seed=2)
    for row, place in zip(rng.integers(0, 12, 40), rng.uniform(0, 400, 40)):
        power[row] += 10.0 ** rng.uniform(2.0, 6.0) * lobe(np.arange(400) - place)
    levels = levels_of(power)
    for p in (PLAIN, dataclasses.replace(PLAIN, n_strongest=2, offset_db=25.0)):
        peaks, expected = detect(levels, BIN_M, p), slow(levels, p)
        order = np.lexsort((peaks.range_m, peaks.azimuth))
        np.testing.assert_array_equal(peaks.azimuth[order], expected[:, 0])
        if p is PLAIN:
            np.testing.assert_allclose(peaks.range_m[order], expected[:, 1], rtol=1e-12)
        # of peaks of one level either may be left out
        for row in range(12):
            heights = np.sort(10.0 ** (0.1 * peaks.level_db[peaks.azimuth == row]))
            np.testing.assert_allclose(heights, np.sort(expected[expected[:, 0] == row, 2]))
        assert len(peaks) > 10


def test_nothing_is_found_outside_of_the_ranges_and_in_silence():
    power = 10.0 + 1e6 * (lobe(np.arange(800) - 40.0) + lobe(np.arange(800) - 700.0))
    p = DetectorParameters(n_guard=10, min_range_m=2.5, max_range_m=30.0)
    assert len(detect(levels_of(power)[None], BIN_M, p)) == 0
    assert len(detect(np.zeros((4, 100), np.uint8), BIN_M, p)) == 0
    assert len(detect(levels_of(power)[None, :10], BIN_M, p)) == 0


def test_what_is_no_turn_is_refused():
    with pytest.raises(ValueError, match=r"levels must be \(n_azimuths, n_bins\) uint8"):
        detect(np.zeros((4, 100)), BIN_M)
    with pytest.raises(ValueError, match="bin_m positive"):
        detect(np.zeros((4, 100), np.uint8), 0.0)


def test_points_stand_in_the_direction_of_their_azimuth():
    levels = np.zeros((4, 400), np.uint8)
    levels[1, 99:102] = 160
    azimuths = np.radians([180.0, 90.0, 0.0, -90.0])
    points = peak_points(detect(levels, BIN_M, DetectorParameters(n_guard=10)), azimuths)
    np.testing.assert_allclose(points, [[0.0, 100.5 * BIN_M, 0.0]], atol=1e-6)
