# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a report says of a trajectory: the sentence, the warnings, the pictures, the schema."""

import dataclasses
import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.charts import thinned
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_core.trajectory import Trajectory
from aerotwin_report import faults, measures, schema, write_report
from aerotwin_trajectory_evaluation import (
    StereoCamera,
    TrajectoryProtocol,
    evaluate_trajectory,
    section,
)
from aerotwin_trajectory_evaluation.comparison import are_alike, comparison_section
from aerotwin_trajectory_evaluation.figures import _paths, is_unaligned_shown, plane_of
from aerotwin_trajectory_evaluation.sections import scene
from aerotwin_trajectory_evaluation.summary import cautions, score_rows, verdict

NOISE_M = 0.02


def flight(n=1200):
    t = np.arange(n) * 0.05
    p = np.column_stack([6 * np.sin(0.3 * t), 4 * np.cos(0.47 * t), 2 + np.sin(0.9 * t)])
    angles = np.column_stack([0.3 * np.sin(0.8 * t), 0.2 * np.cos(1.1 * t), np.sin(0.4 * t)])
    stamps = np.round(t * 1e9).astype(np.int64)
    return Trajectory(stamps, p, Rotation.from_rotvec(angles).as_quat())


def estimate(change=None, *, noise_m=NOISE_M, seed=1000):
    truth = flight()
    p = truth.p_ref_body + np.random.default_rng(seed).normal(0, noise_m, (len(truth), 3))
    if change is not None:
        change(truth.stamps_ns * 1e-9, p)
    return Trajectory(truth.stamps_ns, p, truth.q_ref_body)


def judged(change=None, **options):
    if not options:
        return judged_once(change)
    return evaluate_trajectory(flight(), estimate(change), **options)


@functools.cache
def judged_once(change):
    return evaluate_trajectory(flight(), estimate(change))


def test_a_good_estimate_is_said_to_be_good_and_nothing_else():
    said = verdict(judged())
    assert said.startswith("The estimate is 3.4 cm RMS from truth over ")
    assert "shift and rotation fitted; 3.4 cm as given (nothing fitted)" in said
    assert said.endswith("; it covers 100% of the reference.")
    assert cautions(judged()) == []


def jump(t, p):
    p[t > 40.0] += [0.0, 9.0, 0.0]


def test_what_went_wrong_stands_in_the_sentence_and_in_a_table():
    chapter = section(judged(jump, protocol=TrajectoryProtocol(align="none")))
    assert "33% of it is lost; with 1 jump" in chapter.verdict
    (table,) = [t for t in chapter.tables if t.title == "What went wrong"]
    assert [row[0] for row in table.rows] == ["jump", "lost"]
    assert table.rows[1][1:3] == ("40.05", "59.95")


def test_a_late_estimate_is_warned_of_until_its_offset_is_taken_out():
    truth = flight()
    late = dataclasses.replace(estimate(), stamps_ns=truth.stamps_ns + 120_000_000)
    protocol = TrajectoryProtocol(max_gap_s=0.03)
    provided = evaluate_trajectory(truth, late, protocol=protocol)
    assert any("-120" in line and "--apply-time-offset" in line for line in cautions(provided))
    assert any("120.0 ms too late: -120.0 ± " in line for line in cautions(provided))
    assert "its stamps are 120.0 ms too late, not taken out" in verdict(provided)
    assert provided.metrics()["calibration"]["time_offset_s"] == pytest.approx(-0.12, abs=1e-3)
    (row,) = [row for row in score_rows(provided) if row.label == "time offset"]
    assert float(row.text) == pytest.approx(-120.0, abs=1.0)
    assert "negative: they are too late" in row.meaning
    early = dataclasses.replace(estimate(), stamps_ns=truth.stamps_ns - 120_000_000)
    said = verdict(evaluate_trajectory(truth, early, protocol=protocol))
    assert "its stamps are 120.0 ms too early, not taken out" in said
    applied = dataclasses.replace(protocol, apply_time_offset=True)
    mended = evaluate_trajectory(truth, late, protocol=applied)
    assert cautions(mended) == []
    assert "its stamps are 120.0 ms too late, taken out" in verdict(mended)


def test_another_scale_is_warned_of_with_the_option_that_fits_it():
    truth = flight()
    small = dataclasses.replace(estimate(), p_ref_body=estimate().p_ref_body / 2.2)
    (line,) = [
        text for text in cautions(evaluate_trajectory(truth, small)) if "another scale" in text
    ]
    assert "another scale: times 2.2 it is 0.034" in line
    assert "--align sim3" in line
    fitted = evaluate_trajectory(truth, small, protocol=TrajectoryProtocol(align="sim3"))
    assert not any("another scale" in text for text in cautions(fitted))


def test_what_was_removed_is_the_opposite_of_the_error():
    truth = flight()
    turn = Rotation.from_euler("z", 10.0, degrees=True)
    turned = dataclasses.replace(
        truth,
        p_ref_body=0.5 * turn.apply(truth.p_ref_body),
        q_ref_body=(turn * Rotation.from_quat(truth.q_ref_body)).as_quat(),
    )
    found = evaluate_trajectory(truth, turned, protocol=TrajectoryProtocol(align="sim3"))
    removed = found.metrics()["alignment"]["removed"]
    assert removed["yaw_deg"] == pytest.approx(-10.0)
    assert removed["scale_percent"] == pytest.approx(100.0)
    said = {row.label: row.meaning for row in score_rows(found)}
    assert said["removed: yaw"] == "how far it turned the estimate about the vertical"


def test_few_pairs_come_with_the_options_that_find_more():
    truth = flight()  # at 20 Hz
    between = truth.interpolate(truth.stamps_ns[:-1] + 24_000_000)
    some = truth.stamps_ns[:-1].copy()
    some[::2] += 24_000_000
    mixed = truth.interpolate(some)
    (line,) = [text for text in cautions(evaluate_trajectory(truth, mixed)) if "judged" in text]
    option = "--association interpolate --max-gap-s 0.15"
    assert f"{option} judges those between" in line
    with pytest.raises(UserError, match=f"{option} judges the 1199 between"):
        evaluate_trajectory(truth, between)
    better = TrajectoryProtocol(association="interpolate", max_gap_s=0.15)
    assert len(evaluate_trajectory(truth, between, protocol=better).reference) == 1199
    elsewhere = dataclasses.replace(between, stamps_ns=between.stamps_ns + 10**12)
    with pytest.raises(UserError, match="check clocks and units"):
        evaluate_trajectory(truth, elsewhere)


def test_another_point_of_the_body_is_warned_of():
    truth = flight()
    moved = truth.p_ref_body + truth.R_ref_body @ np.array([0.3, 0.0, 0.1])
    result = evaluate_trajectory(truth, Trajectory(truth.stamps_ns, moved, truth.q_ref_body))
    assert any("different points of the body" in line for line in cautions(result))


def test_little_coverage_is_a_warning_and_a_bad_tile():
    result = evaluate_trajectory(flight(), estimate().select(np.arange(600)))
    chapter = section(result)
    assert any("Only 50% of the reference" in line for line in chapter.warnings)
    assert {tile.label: tile.status for tile in chapter.headline}["Coverage"] == "bad"


def test_a_straight_path_is_drawn_and_explained():
    t = np.arange(100) * 0.1
    line = np.outer(t, [1.0, 0.0, 0.0])
    still = np.tile([0, 0, 0, 1.0], (100, 1))
    truth = Trajectory((t * 1e9).astype(np.int64), line, still)
    chapter = section(evaluate_trajectory(truth, truth))
    assert any("straight line" in text for text in chapter.warnings)
    assert len(chapter.figures) == 8
    stands = Trajectory(truth.stamps_ns, 0 * line, still)
    result = evaluate_trajectory(stands, stands)
    assert result.metrics()["segments"]["mean_percent"] is None
    assert "stands still" in verdict(result)


def test_every_score_says_what_it_means_and_most_how_it_came():
    covariances = np.tile(np.eye(6) * NOISE_M**2, (len(flight()), 1, 1))
    camera = StereoCamera(baseline_m=0.11, focal_px=458.0, distance_m=10.0)
    result = judged(covariances=covariances)
    scores = score_rows(result, camera)
    assert all(score.meaning for score in scores)
    labels = [score.label for score in scores]
    assert len(set(labels)) == len(labels)
    assert {"NEES, position", "possible: drift", "lever arm z", "time offset"} <= set(labels)
    chapter = section(result, camera=camera)
    assert len(chapter.tables[0].hints) == len(scores)
    assert [f.title for f in chapter.figures][-2:] == [
        "Consistency of the position",
        "Consistency of the pose",
    ]


def test_numbers_obey_their_schema_and_can_be_compared(tmp_path):
    alone = judged(covariances=np.tile(np.eye(6) * NOISE_M**2, (len(flight()), 1, 1)))
    chapters = [section(alone), section(judged(jump), title="Other", name="other")]
    both = comparison_section({"one": alone, "other": judged(jump)})
    for chapter, labels in (
        (chapters[0], {"coverage", "path tracked", "APE aligned, position, RMSE"}),
        (chapters[1], {"drift, mean", "turn drift, mean"}),
        (both, {"one, APE, RMSE", "other, coverage"}),
    ):
        merged = schema({chapter.name: chapter.schema})
        below = merged["properties"]["sections"]["properties"][chapter.name]
        rooted = {**below, "$defs": merged["$defs"]}
        assert faults(chapter.metrics, rooted) == []
        found = {measure.label for measure in measures(chapter.metrics, rooted)}
        assert labels <= found
    write_report(tmp_path, title="Both", sections=[both, *chapters], configuration={"seed": 1})
    assert (tmp_path / "report.html").stat().st_size < 5e6


def test_a_comparison_marks_the_better_one():
    chapter = comparison_section({"good": judged(), "poor": judged(jump)})
    (table,) = chapter.tables
    row = next(i for i, cells in enumerate(table.rows) if cells[0] == "APE aligned, RMSE")
    assert table.columns == ("quantity", "unit", "good", "poor")
    assert table.rows[row][1] == "m"
    assert (row, 2) in table.best
    assert (row, 3) not in table.best
    assert chapter.verdict.startswith("good is nearest to truth")
    assert [layer.name for layer in chapter.scenes[0].layers] == ["truth", "good", "poor"]


@pytest.mark.parametrize("part", [slice(0, 300), slice(0, 1150)])
def test_no_best_is_named_where_estimates_cover_different_parts(part):
    short = evaluate_trajectory(flight(), estimate().select(np.arange(1200)[part]))
    rough = evaluate_trajectory(flight(), estimate(noise_m=0.1))
    chapter = comparison_section({"short": short, "rough": rough})
    share = f"short {short.coverage:.0%}, rough 100%"
    assert f"No best is named: the estimates cover different parts of the reference ({share})" in (
        chapter.verdict
    )
    assert "--common-stamps" in chapter.verdict
    assert chapter.tables[0].best == ()


def test_equal_coverage_of_different_halves_is_not_comparable():
    halves = [np.arange(0, 600), np.arange(600, 1200)]
    both = {
        f"{k}": evaluate_trajectory(flight(), estimate().select(h)) for k, h in enumerate(halves)
    }
    assert both["0"].coverage == both["1"].coverage
    assert not are_alike(both)


def test_all_of_the_truth_is_drawn_whatever_the_estimate_covers():
    short = evaluate_trajectory(flight(), estimate().select(np.arange(300, 600)))
    assert len(short.reference) == 300
    for shown in (scene(short), comparison_section({"a": short, "b": short}).scenes[0]):
        np.testing.assert_array_equal(shown.layers[0].points_map, flight().p_ref_body)
    truth, *estimates = _paths(short)
    np.testing.assert_array_equal(truth.p, flight().p_ref_body[thinned(len(flight()))])
    # The estimate begins where the body had been after 300 poses.
    before = flight().select(np.arange(301)).path_length_m
    assert [path.along_m[0] for path in estimates] == pytest.approx([before] * len(estimates))


def test_without_an_alignment_nothing_is_called_aligned():
    provided = judged(protocol=TrajectoryProtocol(align="none"))
    labels = [score.label for score in score_rows(provided)]
    assert "APE, RMSE" in labels
    chapter = section(provided)
    tokens = [*labels, chapter.text, *(tile.label for tile in chapter.headline)]
    tokens += [figure.caption for figure in chapter.figures]
    assert not any("aligned" in text.replace("Nothing was aligned", "") for text in tokens)
    assert [tile.label for tile in chapter.headline] == [
        *("APE, RMSE", "RPE, RMSE", "Drift", "Coverage")
    ]
    merged = schema({"trajectory": chapter.schema})
    rooted = {
        **merged["properties"]["sections"]["properties"]["trajectory"],
        "$defs": merged["$defs"],
    }
    assert faults(chapter.metrics, rooted) == []
    found = {measure.label for measure in measures(chapter.metrics, rooted)}
    assert "APE without alignment, position, RMSE" in found
    assert not any("aligned" in label for label in found)


def test_the_label_of_the_score_before_the_alignment_says_how_the_estimate_was_placed():
    placed = judged(T_reference_estimate=make_transform(np.eye(3), [1.0, 0.0, 0.0]))
    before = {
        name: [row for row in score_rows(found) if row.label.startswith(f"APE {name}, RMSE")]
        for name, found in (("as given", judged()), ("placed", placed))
    }
    for (row,), found in zip(before.values(), (judged(), placed)):
        assert row.value == found.ape_unaligned.plain()["trans_m"]["rmse"]
    labels = [row.label for row in score_rows(placed) if "as given" in row.label]
    assert labels == ["APE as given, RMSE"]
    assert not [row for row in score_rows(judged()) if "placed" in row.label]
    tiles = [section(found).headline[0].label for found in (judged(), placed)]
    assert tiles == ["APE as given, RMSE", "APE placed, RMSE"]


def test_a_relative_error_as_large_as_its_step_is_flagged_with_its_cause():
    truth = flight()
    optical = Rotation.from_quat(truth.q_ref_body) * Rotation.from_euler("xz", [-90, -90], True)
    other_axes = Trajectory(truth.stamps_ns, truth.p_ref_body, optical.as_quat())
    said, turned = cautions(evaluate_trajectory(truth, other_axes))
    assert "turned by the same 120 deg" in turned
    assert said.startswith("RPE over 1 m is 1.")
    assert "as large as the step itself" in said
    assert "other body axes" in said
    still = np.tile(truth.p_ref_body[:1], (len(truth), 1))
    frozen = Trajectory(truth.stamps_ns, still, truth.q_ref_body)
    along = TrajectoryProtocol(rpe_path="reference", align="none")
    stands = evaluate_trajectory(truth, frozen, protocol=along)
    assert any("hardly moves" in said for said in cautions(stands))
    assert not any("step itself" in said for said in cautions(judged()))


@pytest.mark.parametrize(
    ("order", "plane"), [([0, 1, 2], (0, 1, 2)), ([0, 2, 1], (0, 2, 1)), ([2, 0, 1], (1, 2, 0))]
)
def test_paths_are_drawn_in_the_plane_of_the_motion(order, plane):
    """A flat path in x and y; the same in camera axes, as KITTI's: x and z."""
    truth = flight()
    p = (truth.p_ref_body * [1.0, 1.0, 0.1])[:, order]
    turned = Trajectory(truth.stamps_ns, p, truth.q_ref_body)
    assert plane_of(evaluate_trajectory(turned, turned)) == plane


def test_an_estimate_far_off_is_not_drawn_unaligned():
    def far(t, p):
        p += 100.0

    assert is_unaligned_shown(judged())
    assert not is_unaligned_shown(judged(far))
    layers = scene(judged(far)).layers
    assert [layer.is_shown for layer in layers] == [True, True, False]
