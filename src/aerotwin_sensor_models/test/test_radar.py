# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The spinning radar against closed forms: walls, poles, mirrors, motion, speckle and noise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import kstest

from aerotwin_core.trajectory import Trajectory
from aerotwin_sensor_models import Radar, RadarParameters, load_preset

SIGMAS = 5.0
ROUNDING_DB = 0.26  # half a step, and single precision
IDEAL = load_preset("radar", "ideal")
SMALL = replace(IDEAL, n_azimuths=100, n_columns=8, n_rings=5, n_bins=700)
AROUND = replace(SMALL, n_azimuths=96, n_bins=600)
ROWS = np.arange(0, 96, 4)  # those that look at the middle of `plates`
STILL = np.array([0.0, 0.0, 0.0, 1.0])


def nothing(rays):
    return np.full(len(rays), np.inf, np.float32), np.zeros((len(rays), 3), np.float32), None


def wall(normal, offset):
    """Return what casts rays on the plane normal . x = offset."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)

    def cast(rays):
        o, d = rays[:, :3].astype(float), rays[:, 3:].astype(float)
        with np.errstate(divide="ignore"):
            t = (offset - o @ normal) / (d @ normal)
        t = np.where(t > 0.0, t, np.inf).astype(np.float32)
        return t, np.tile(normal.astype(np.float32), (len(t), 1)), None

    return cast


def plates(distance, half_m, tilt=0.0):
    """Return what casts rays on square plates every 15 degrees, square on to the origin.

    Or turned by a tilt [rad] about their upright axes.
    """

    def cast(rays):
        o, d = rays[:, :3].astype(float), rays[:, 3:].astype(float)
        towards = np.radians(15.0) * np.round(np.degrees(np.arctan2(d[:, 1], d[:, 0])) / 15.0)
        middle = distance * np.column_stack([np.cos(towards), np.sin(towards), 0.0 * towards])
        turned = towards + tilt
        normals = np.column_stack([np.cos(turned), np.sin(turned), 0.0 * turned])
        t = ((middle - o) * normals).sum(1) / (d * normals).sum(1)
        off = o + t[:, None] * d - middle
        aside = off[:, 1] * normals[:, 0] - off[:, 0] * normals[:, 1]
        t[(np.abs(aside) > half_m) | (np.abs(off[:, 2]) > half_m)] = np.inf
        return t.astype(np.float32), normals.astype(np.float32), None

    return cast


def nearest(*casts):
    def cast(rays):
        found = [one(rays) for one in casts]
        which = np.argmin([t for t, _, _ in found], axis=0)
        rows = np.arange(len(rays))
        return (
            np.array([t for t, _, _ in found])[which, rows],
            np.array([n for _, n, _ in found])[which, rows],
            None,
        )

    return cast


def at_rest(p=(0.0, 0.0, 0.0), q=STILL):
    return Trajectory(np.array([0, 250_000_000]), np.tile(p, (2, 1)), np.tile(q, (2, 1)))


def mean_power(parameters, cast, motion=None, *, n=40):
    """Return the power of each cell, the mean of turns with noise of their own."""
    total = 0.0
    for seed in range(n):
        levels = Radar(parameters, seed).scan(cast, motion or at_rest(), 0).levels
        total = total + 10.0 ** (0.05 * levels)
    return total / n


def azimuth_of(parameters, degrees):
    """Return the row that looks in a direction."""
    return int(
        np.argmin(np.abs(np.angle(np.exp(1j * (parameters.azimuths - np.radians(degrees))))))
    )


@pytest.mark.parametrize("distance", [8.0, 20.0])
def test_a_wall_square_on_has_its_level_at_its_range(distance):
    """40 dB at 50 m, 1 / R^2 for what fills the beam; exponential, so sigma = mean / sqrt(n)."""
    n = 24
    power = mean_power(AROUND, plates(distance, 0.9), n=n)[ROWS].mean(axis=0)
    peak = int(np.argmax(power))
    assert (peak + 0.5) * AROUND.bin_m == pytest.approx(distance, abs=0.2 * AROUND.resolution_m)
    expected = 1e4 * (50.0 / distance) ** 2
    assert power[peak] == pytest.approx(expected, rel=SIGMAS / np.sqrt(len(ROWS) * n))


def test_what_is_smaller_than_the_beam_falls_with_the_fourth_power():
    """Plates of 0.3 m in a beam of 6 degrees, rays 0.19 degrees apart: 8 x 8 of them, or 4 x 4.

    In the beam's gain, 1 over the smaller one, 0.97 is left over the larger. By the third power it
    would be 8.
    """
    fine = replace(AROUND, n_columns=20, n_rings=60, beam_azimuth_deg=6.0, beam_elevation_deg=6.0)
    n = 16
    near, far = (mean_power(fine, plates(x, 0.15), n=n)[ROWS].max(axis=1).mean() for x in (12, 24))
    assert near / far == pytest.approx(16.0, rel=SIGMAS * np.sqrt(2.0 / (len(ROWS) * n)))


def test_lambert_dims_a_wall_by_the_square_of_the_cosine():
    """Per area of the wall cos^2, of which a ray meets R^2 dOmega / cos: P = K cos / R^2.

    At 60 degrees the echo spreads over range; the sum over a row is its power.
    """
    n = 16
    square, oblique = (
        mean_power(AROUND, plates(12.0, 1.4, tilt), n=n)[ROWS].sum() for tilt in (0.0, np.pi / 3)
    )
    assert oblique / square == pytest.approx(0.5, rel=SIGMAS * np.sqrt(2.0 / (len(ROWS) * n)))


def test_a_point_has_the_lobe_of_a_hann_window():
    """One ray, one phase: sinc(x) / (1 - x^2) squared, whatever the seed."""
    one = replace(SMALL, n_columns=1, n_rings=1, beam_azimuth_deg=0.1, saturation_level_db=127.5)
    levels = Radar(one, 3).scan(wall([1, 0, 0], 15.0), at_rest(), 0).levels
    x = ((np.arange(one.n_bins) + 0.5) * one.bin_m - 15.0) / one.resolution_m
    lobe = np.sinc(x) / (1.0 - x**2)
    near = np.abs(x) < 1.8
    expected = 40.0 + 20.0 * np.log10(50.0 / 15.0) + 20.0 * np.log10(np.abs(lobe[near]))
    np.testing.assert_allclose(0.5 * levels[azimuth_of(one, 0.0)][near], expected, atol=ROUNDING_DB)
    assert (levels[azimuth_of(one, 0.0)][np.abs(x) > 2.0] == 0).all()


def test_the_beam_is_as_wide_as_it_says():
    """A pole much narrower than the beam: two-way gain 1/4 at half the width, one way 1/2."""
    p = replace(SMALL, n_azimuths=400, n_columns=5, beam_azimuth_deg=3.6)
    step = 360.0 / p.n_azimuths
    power = mean_power(p, plates(20.0, 0.06), n=30).max(axis=1)
    row = azimuth_of(p, 0.0)
    at_half_width = row + round(0.5 * p.beam_azimuth_deg / step)
    assert power[at_half_width] / power[row] == pytest.approx(0.25, rel=0.1)
    assert power[row + round(1.2 * p.beam_azimuth_deg / step)] <= 1.0


def test_the_beam_is_as_high_as_it_says():
    """Plates half a beam width above the middle of the beam: a quarter of the power, two ways."""
    p, n = replace(AROUND, n_rings=60, beam_elevation_deg=3.6), 16
    below = 20.0 * np.tan(np.radians(0.5 * p.beam_elevation_deg))
    middle, above = (
        mean_power(p, plates(20.0, 0.3), at_rest((0.0, 0.0, -z)), n=n)[ROWS].max(axis=1).mean()
        for z in (0.0, below)
    )
    assert above / middle == pytest.approx(0.25, rel=SIGMAS * np.sqrt(2.0 / (len(ROWS) * n)))


def test_one_literal_azimuth_looks_left_and_the_turn_goes_clockwise():
    def middle(motion):
        levels = Radar(SMALL, 0).scan(wall([0, 1, 0], 10.0), motion, 0).levels
        return np.flatnonzero(levels.any(axis=1)).mean()

    assert np.degrees(SMALL.azimuths[25]) == pytest.approx(90.0)
    assert middle(at_rest()) == pytest.approx(25.0, abs=1.0)
    # a radar that faces north has the wall ahead, half a turn after what is behind
    north = at_rest(q=Rotation.from_euler("z", 90, degrees=True).as_quat())
    assert middle(north) == pytest.approx(50.0, abs=1.0)


def test_every_azimuth_is_measured_from_where_the_radar_then_is():
    """Towards a wall at 4 m/s: ahead the range is that at half of the turn."""
    motion = Trajectory(
        np.array([0, 250_000_000]), np.array([[0.0, 0, 0], [1.0, 0, 0]]), np.tile(STILL, (2, 1))
    )
    for shift in (0.0, 0.049):
        p = replace(SMALL, doppler_shift_s=shift)
        row = azimuth_of(p, 0.0)
        power = mean_power(p, wall([1, 0, 0], 12.0), motion, n=60)[row]
        found = (int(np.argmax(power)) + 0.5) * p.bin_m
        # closing at 4 m/s an up-chirp reads 4 x 0.049 m short
        assert found == pytest.approx(11.5 - 4.0 * shift, abs=p.bin_m)


def test_speckle_is_exponential_where_many_rays_meet():
    """A wall at 30 m, cells a beam apart: P(power > x) = exp(-x / mean)."""
    p, powers = replace(SMALL, n_bins=800), []
    for seed in range(150):
        levels = Radar(p, seed).scan(wall([1, 0, 0], 30.0), at_rest(), 0).levels
        b = round(30.0 / p.bin_m - 0.5)
        powers.append(10.0 ** (0.05 * levels[azimuth_of(p, 0.0), b]))
    powers = np.array(powers)
    assert kstest(powers / powers.mean(), "expon").pvalue > 1e-3


def test_the_receiver_s_noise_is_exponential_with_its_mean():
    p = RadarParameters(n_bins=400, noise_level_db=20.0, minimum_range_m=0.0, mirror_share=0.0)
    levels = Radar(p, 5).scan(nothing, at_rest(), 0).levels
    power = 10.0 ** (0.05 * levels.astype(float))
    assert power.mean() == pytest.approx(100.0, rel=SIGMAS / np.sqrt(power.size) + 0.002)
    for factor in (1.0, 3.0, 5.0):
        share = np.mean(power > factor * 100.0 * 10.0 ** (0.025))
        expected = np.exp(-factor * 10.0**0.025)
        slack = SIGMAS * np.sqrt(expected / power.size)
        # a threshold falls anywhere between levels 0.5 dB apart
        assert np.exp(-factor * 10.0**0.05) - slack < share < np.exp(-factor) + slack
        assert share == pytest.approx(expected, rel=0.2)


def test_a_mirror_shows_a_ghost_behind_it_at_the_range_of_the_whole_way():
    """Ahead a wall at 10 m, behind one at 6 m: a ghost at 10 + 16 m, weaker by (share R / R')^2."""
    p = replace(SMALL, mirror_share=0.25)
    cast = nearest(wall([1, 0, 0], 10.0), wall([-1, 0, 0], 6.0))
    n, row = 100, azimuth_of(p, 0.0)
    power = mean_power(p, cast, n=n)[row]
    b = round(26.0 / p.bin_m - 0.5)
    assert power[: b - 10].max() == power.max()
    expected = 1e4 * (50.0 / 26.0) ** 2 * 0.25**2
    assert power[b - 1 : b + 2].max() == pytest.approx(expected, rel=SIGMAS / np.sqrt(n))
    assert mean_power(SMALL, cast, n=4)[row][b] <= 1.0


def test_levels_saturate_and_near_bins_are_empty():
    p = replace(SMALL, saturation_level_db=30.0, minimum_range_m=2.5)
    levels = Radar(p, 0).scan(wall([1, 0, 0], 2.0), at_rest(), 0).levels
    assert levels.max() == 60
    assert (levels[:, : int(2.5 / p.bin_m)] == 0).all()


def test_one_scan_has_one_set_of_bytes_whatever_came_before():
    cast, p = wall([1, 0, 0], 10.0), replace(load_preset("radar", "navtech_cir304"), n_bins=400)
    radar, stamp = Radar(p, 7), 20_000_000
    motion = Trajectory(np.array([0, 10**9]), np.zeros((2, 3)), np.tile(STILL, (2, 1)))
    radar.scan(cast, motion, 0)
    again = radar.scan(cast, motion, stamp).levels
    np.testing.assert_array_equal(again, Radar(p, 7).scan(cast, motion, stamp).levels)
    for other in (Radar(p, 8), Radar(p, 7, vehicle=1)):
        assert (other.scan(cast, motion, stamp).levels != again).mean() > 0.5


def test_motion_that_does_not_cover_the_turn_and_negative_seeds_are_refused():
    late = Trajectory(np.array([10, 250_000_000]), np.zeros((2, 3)), np.tile(STILL, (2, 1)))
    with pytest.raises(ValueError, match="motion must hold two poses at least and cover 0 to"):
        Radar(SMALL).scan(nothing, late, 0)
    with pytest.raises(ValueError, match="seed and vehicle must not be negative"):
        Radar(SMALL, -1)
