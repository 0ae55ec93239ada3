# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json

import numpy as np
import pytest

from aerotwin_repeat_evaluation import (
    TEACH_REPEAT_SCHEMA,
    methods_section,
    metrics_of,
    section_of,
    true_poses,
)
from aerotwin_report import write_report
from aerotwin_report.schema_check import faults
from support.deviation_cases import Affine, Waves, beside, evaluation_of

WARP = Waves(0.30, 100.0)
JITTER_M = 0.008
CHORD_M = 2e-3  # of vertices a metre apart, and of the oracle's values 6 m apart


@pytest.fixture(scope="module")
def warped():
    return evaluation_of(WARP, jitter_m=JITTER_M, full_floor=True, method="virtual, waves")


@pytest.fixture(scope="module")
def metrics(warped):
    return metrics_of(warped)


def test_a_robot_with_the_oracles_localiser_scores_the_floor_and_its_jitter(metrics):
    assert metrics["floor_m"]["rmse"] > 0.05  # the case is worth a test
    expected = np.hypot(metrics["floor_m"]["rmse"], JITTER_M)
    assert metrics["pte_m"]["rmse"] == pytest.approx(expected, rel=0.05)
    assert metrics["marks"]["bias_rms_m"] == pytest.approx(metrics["floor_m"]["rmse"], rel=0.05)
    assert metrics["true_path_m"]["rmse"] == pytest.approx(
        np.hypot(metrics["floor_route_m"]["rmse"], JITTER_M), rel=0.05
    )


def test_belief_and_repeatability_see_the_jitter_only(metrics):
    # 50 marks on jitter that keeps for 20 m: some 15 independent places, 3 runs, 2 of them free.
    sample_error = 4.0 / np.sqrt(2.0 * 2.0 * 15.0)
    assert metrics["repeatability_m"] == pytest.approx(JITTER_M, rel=sample_error)
    assert metrics["belief_m"]["at_marks"]["rmse"] == pytest.approx(JITTER_M, rel=sample_error)
    assert metrics["belief_m"]["length_rmse"] == pytest.approx(JITTER_M, rel=0.1)
    assert metrics["repeats_m"]["rmse"] == pytest.approx(JITTER_M * np.sqrt(2.0), rel=sample_error)


def test_the_localisation_error_is_the_floor_with_the_other_sign(warped):
    """The vehicle stands left of where it believes: the belief is to the right of the truth."""
    floor = warped.floor.lateral_m[20:-20]
    stretch = 0.03 * np.abs(floor).max()  # the map stretches lengths by up to 2 %
    for found in warped.localization:
        np.testing.assert_allclose(found.lateral_m[20:-20], -floor, atol=stretch + CHORD_M)


def test_an_offset_and_a_turn_of_the_whole_map_cost_nothing():
    c, s = np.cos(0.1), np.sin(0.1)
    found = metrics_of(evaluation_of(Affine(((c, -s), (s, c)), (100.0, -7.0)), jitter_m=1e-6))
    assert found["pte_m"]["max"] < CHORD_M
    assert found["gnss_m"]["marks_rmse"] == pytest.approx(0.02, rel=0.1)  # the receiver's noise


def test_the_metrics_obey_their_schema_and_are_plain(metrics):
    assert faults(metrics, TEACH_REPEAT_SCHEMA) == []
    json.dumps(metrics, allow_nan=False)
    bare = metrics_of(evaluation_of(Affine(), n_runs=1))
    assert faults(bare, TEACH_REPEAT_SCHEMA) == []
    json.dumps(bare, allow_nan=False)
    assert bare["floor_m"] is None
    assert bare["repeatability_m"] is None
    assert bare["repeats_m"] is None
    assert bare["interventions"]["km_per_intervention"] is None


def test_interventions_count_by_the_true_way_driven(warped):
    runs = [dataclasses.replace(run, n_interventions=k) for k, run in enumerate(warped.runs)]
    found = metrics_of(dataclasses.replace(warped, runs=runs))["interventions"]
    assert found["n"] == 3
    assert found["driven_km"] == pytest.approx(0.9, rel=0.02)
    assert found["km_per_intervention"] == pytest.approx(found["driven_km"] / 3.0)


def test_a_run_that_ends_early_misses_marks_and_the_report_says_so(warped):
    short = dataclasses.replace(
        warped.runs[0],
        is_completed=False,
        stamps_ns=warped.runs[0].stamps_ns[:150],
        T_true_base=warped.runs[0].T_true_base[:150],
        T_map_base=warped.runs[0].T_map_base[:150],
        is_localized=np.arange(150) < 140,
    )
    found = dataclasses.replace(warped, runs=[short, *warped.runs[1:]])
    assert 20 <= metrics_of(found)["marks"]["n_missed"] <= 30
    assert metrics_of(found)["localisation"]["n_failed"] == 10
    warnings = " ".join(section_of(found).warnings)
    assert "missing" in warnings
    assert "1 of 3 runs did not reach the goal" in warnings


def test_the_report_warns_where_the_robots_own_figure_understates(warped):
    section = section_of(warped)
    assert any("understates the truth" in text for text in section.warnings)
    assert "floor of the map" in section.verdict
    published = next(t for t in section.tables if t.title == "Published in the field")
    assert "Not comparable" in published.caption
    assert all(row[-1] == "no" for row in published.rows)


def test_a_report_of_one_and_of_several_methods_is_written(warped, tmp_path):
    driven = evaluation_of(Affine(), method="taught by driving", seed=5)
    sections = [section_of(warped), methods_section([warped, driven])]
    write_report(tmp_path, title="Repeats", sections=sections, configuration={})
    page = (tmp_path / "report.html").read_text()
    for text in ("Error along the route", "rigid-fit floor", "virtual, waves", "Structured-C"):
        assert text in page
    written = json.loads((tmp_path / "metrics.json").read_text())
    assert written["sections"]["teach_repeat"]["pte_m"] == metrics_of(warped)["pte_m"]


def test_what_does_not_fit_together_is_refused(warped):
    with pytest.raises(ValueError, match="one at least"):
        dataclasses.replace(warped, runs=[])
    with pytest.raises(ValueError, match="each of the"):
        dataclasses.replace(warped, T_map_route=warped.T_map_route[:-1])
    with pytest.raises(ValueError, match="one pose for each stamp"):
        dataclasses.replace(warped.runs[0], stamps_ns=np.arange(3))


def test_the_sign_of_the_headline_is_left_of_the_mark(warped):
    route = warped.T_map_route
    left = beside(true_poses(WARP, route), np.full(len(route), 0.1))
    run = dataclasses.replace(warped.runs[0], T_true_base=left)
    found = dataclasses.replace(warped, runs=[run]).markers
    np.testing.assert_allclose(found.offsets_m, 0.1, atol=CHORD_M)
