# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of `aerotwin repeat`: its route, its repeats and their lateral errors."""

import numpy as np
import pytest
from sample_repeats import LEFT_M, RIGHT_M, at_one_place, shift_stamps, write_run

from aerotwin_core.errors import UserError
from aerotwin_view.recorded.repeated_route import is_repeated_route, read_repeated_route

WRITTEN_M = 1e-6
"""Places in TUM files have six decimals at least."""


def test_the_error_of_the_true_path_is_positive_on_the_left(tmp_path):
    run = write_run(tmp_path)
    assert is_repeated_route(run)
    found = read_repeated_route(run)
    assert found.route[:, 0] == pytest.approx(np.arange(11.0))
    assert [repeat.name for repeat in found.repeats] == ["repeat 1", "repeat 2", "repeat 10"]
    for repeat in found.repeats:
        assert repeat.error_m == pytest.approx(np.full(17, LEFT_M), abs=WRITTEN_M)
        assert repeat.text().endswith(" poses 0.200 m, largest 0.200 m")
    assert (found.world, found.what) == ("campus", "of the true path")


def test_in_a_bent_map_it_is_what_the_robot_estimated(tmp_path):
    found = read_repeated_route(write_run(tmp_path, degradation="warp_30cm"))
    assert found.repeats[0].error_m == pytest.approx(np.full(17, RIGHT_M), abs=WRITTEN_M)
    assert "estimated by the robot" in found.what


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph": "gone"}, "the route graph gone that it repeats is not there"),
        ({"graph": 3}, "graph: expected the folder of a route graph"),
    ],
)
def test_a_run_without_its_graph_is_refused(tmp_path, changes, message):
    with pytest.raises(UserError, match=message):
        read_repeated_route(write_run(tmp_path, **changes))


def test_a_run_that_never_drove_is_refused(tmp_path):
    run = write_run(tmp_path)
    for belief in run.glob("repeat_*/belief.tum"):
        belief.unlink()
    with pytest.raises(UserError, match="expected a repeat that drove, found none"):
        read_repeated_route(run)


@pytest.mark.parametrize("degradation", [None, "warp_30cm"])
def test_estimates_before_and_after_the_truth_are_left_out(tmp_path, degradation):
    run = write_run(tmp_path, degradation=degradation)
    shift_stamps(run / "repeat_1" / "truth.tum", 500_000_000)
    shift_stamps(run / "repeat_2" / "belief.tum", 500_000_000)
    shift_stamps(run / "repeat_10" / "belief.tum", 10**11)
    found = read_repeated_route(run)
    assert [len(repeat.p_map) for repeat in found.repeats] == [12, 12]
    first_x_m = 3.5 if degradation else 1.0  # 0.5 s are 2.5 m
    assert found.repeats[0].p_map[0, 0] == pytest.approx(first_x_m, abs=WRITTEN_M)


@pytest.mark.parametrize("has_edges", [True, False])
def test_a_graph_that_is_no_path_is_refused(tmp_path, has_edges):
    run = write_run(tmp_path)
    n = 1 if has_edges else 0  # vertices that stand at one place, or one vertex alone
    at_one_place(tmp_path / "graph", n_more=n)
    with pytest.raises(UserError, match=r"run: expected a route graph whose first teach has two"):
        read_repeated_route(run)


def test_a_flight_is_none(tmp_path):
    (tmp_path / "config.yaml").write_text("parameters: {}")
    assert not is_repeated_route(tmp_path)
