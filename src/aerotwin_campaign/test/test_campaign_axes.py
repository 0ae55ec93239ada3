# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
import scipy.stats
from scipy.stats import qmc

from aerotwin_campaign.axes import ListedAxis, read_axis
from aerotwin_campaign.sampling import unit_points
from aerotwin_core.errors import ParameterError

ROUNDING = 1e-12  # relative; two ways to evaluate one quantile
U = np.concatenate([np.random.default_rng(5).random(200), [1e-9, 0.5, 1.0 - 1e-9]])
ORACLES = {
    "normal": ({"normal": {"mean": 2, "std": 0.5}}, scipy.stats.norm(2, 0.5)),
    "uniform": ({"uniform": {"from": -3, "to": 5}}, scipy.stats.uniform(-3, 8)),
    "log_uniform": ({"log_uniform": {"from": 0.01, "to": 10}}, scipy.stats.loguniform(0.01, 10)),
}


@pytest.mark.parametrize("kind", ORACLES)
def test_a_distribution_has_the_quantiles_of_scipy(kind):
    entry, oracle = ORACLES[kind]
    found = [read_axis(entry, "axis").value(float(u)) for u in U]
    np.testing.assert_allclose(found, oracle.ppf(U), rtol=ROUNDING, atol=ROUNDING)


def test_integers_have_the_quantiles_of_scipy_and_include_both_limits():
    axis = read_axis({"integers": {"from": -2, "to": 4}}, "axis")
    found = [axis.value(float(u)) for u in U]
    assert found == scipy.stats.randint(-2, 5).ppf(U).astype(int).tolist()
    assert all(type(value) is int for value in found)
    assert (axis.value(0.0), axis.value(math.nextafter(1.0, 0.0))) == (-2, 4)


def test_choices_have_equal_shares_of_the_unit_interval():
    axis = read_axis({"choice": ["a", "b", "c", "d"]}, "axis")
    found = [axis.value(u) for u in (0.0, 0.24, 0.25, 0.5, 0.76, math.nextafter(1.0, 0.0))]
    assert found == ["a", "a", "b", "c", "d", "d"]


@pytest.mark.parametrize("entry", [entry for entry, _ in ORACLES.values()])
def test_quantiles_at_the_ends_are_finite_and_inside(entry):
    axis = read_axis(entry, "axis")
    low, high = axis.value(0.0), axis.value(math.nextafter(1.0, 0.0))
    assert math.isfinite(low) and math.isfinite(high) and low < high
    if "normal" not in entry:
        ((_, limits),) = entry.items()
        assert limits["from"] <= low and high <= limits["to"]


def test_ranges_include_their_ends():
    assert read_axis({"from": 0, "to": 1, "steps": 5}, "a").values == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert read_axis({"from": 1, "to": 7, "step": 3}, "a").values == (1, 4, 7)
    assert read_axis({"from": 3, "to": 0, "step": -1.5}, "a").values == (3.0, 1.5, 0.0)
    assert len(read_axis({"from": 0, "to": 0.3, "step": 0.1}, "a")) == 4  # 0.3 / 0.1 < 3
    assert read_axis([1, "x", None, 1.0, True], "a") == ListedAxis(values=(1, "x", None, 1.0, True))


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (5, "axis: expected a list"),
        ([], "axis: expected a list of values"),
        ([1, 1], r"axis\[1\]: 1 \(int\) is there twice"),
        ({"gauss": {"mean": 1}}, "one distribution of normal"),
        ({"normal": {"mean": 1, "sd": 1}}, r"axis.normal: expected \{mean, std\}"),
        ({"normal": {"mean": 1, "std": 0}}, "std: expected more than 0"),
        ({"normal": {"mean": "x", "std": 1}}, "mean: expected a number"),
        ({"uniform": {"from": 2, "to": 2}}, "'from' must be less"),
        ({"log_uniform": {"from": 0, "to": 2}}, "from: expected more than 0"),
        ({"integers": {"from": 0.5, "to": 2}}, "whole numbers"),
        ({"from": 0, "to": 1}, r"\{from, to, steps\}"),
        ({"from": 0, "to": 1, "steps": 2.5}, "steps: expected a number"),
        ({"from": 0, "to": 1, "steps": 10**9}, "steps: expected a number"),
        ({"from": 0, "to": 1, "step": -1}, "does not lead"),
        ({"from": 0, "to": 1, "step": 1e-12}, "more than 1000000 values"),
        ({"from": 0, "to": float("inf"), "step": 1}, "to: expected a number"),
        ([float("nan")], "finite"),
    ],
)
def test_what_is_no_axis_is_refused(entry, text):
    with pytest.raises(ParameterError, match=text):
        read_axis(entry, "axis")


def test_sobol_points_are_those_of_scipy():
    expected = qmc.Sobol(3, rng=np.random.default_rng(9)).random(64)
    np.testing.assert_array_equal(unit_points("sobol", 64, 3, 9), expected)
    # the first of more points: a campaign can be made longer
    np.testing.assert_array_equal(unit_points("sobol", 40, 3, 9), expected[:40])


def test_a_latin_hypercube_has_one_point_in_each_slice():
    points = unit_points("latin_hypercube", 50, 4, 1)
    expected = qmc.LatinHypercube(4, rng=np.random.default_rng(1)).random(50)
    np.testing.assert_array_equal(points, expected)
    assert (np.sort(np.floor(points * 50), axis=0) == np.arange(50)[:, None]).all()


def test_random_points_are_those_of_the_generator():
    expected = np.random.default_rng(4).random((10, 2))
    np.testing.assert_array_equal(unit_points("random", 10, 2, 4), expected)
    assert (unit_points("random", 10, 2, 5) != expected).any()
    with pytest.raises(ValueError, match="method must be one of"):
        unit_points("grid", 1, 1, 0)
