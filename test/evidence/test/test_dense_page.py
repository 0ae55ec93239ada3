# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a study of dense localisation says what was put in."""

import dataclasses
import re
from itertools import product

import numpy as np
import pytest

from aerotwin_campaign import FinishedRun
from aerotwin_core.errors import UserError
from aerotwin_report import faults, report_page, schema
from aerotwin_scenarios.dense_localization.scan_controls import ControlResult, Removal
from evidence.dense_study.page import _evidence, _thresholds
from evidence.dense_study.page_figures import NAMES, pair_picture
from evidence.dense_study.results import (
    IMAGES,
    MAPPINGS,
    METHODS,
    ImagePair,
    MapResult,
    ScanResult,
    SeedResult,
    SurfaceScore,
    write_result,
)
from evidence.dense_study.thresholds import (
    NOT_COMPARABLE,
    THRESHOLDS,
    closest_distance_m,
    rows_of,
    value_text,
)
from evidence.verification.dense import figures

SEEDS = (1000, 1001)
ERROR_M = {"dense": 0.01, "orb_mapping": 0.03, "sift_mapping": 0.02, "orb_virtual": 0.015,
           "sift_virtual": 0.005}  # fmt: skip
N, N_FEW = 1901, 20
ORB_LOST = 5
"""Of the images at 1 m, against the mapping key-frames."""


def scan(distance_m, mapping, images, method, error_m, n, n_lost):
    """Return a scan whose errors lie between half and one and a half times their mean."""
    spread = np.linspace(0.5, 1.5, n - n_lost)
    errors = tuple((error_m * spread).tolist()) + (None,) * n_lost
    return ScanResult(
        distance_m=distance_m, mapping=mapping, images=images, method=method, n_frames=n,
        n_lost=n_lost, ate_mean_m=error_m, ate_rmse_m=error_m * 1.04, ate_max_m=1.5 * error_m,
        ate_unaligned_mean_m=error_m + 0.3, turn_mean_deg=0.123, scale_percent=0.045,
        s_m=tuple(np.linspace(0.0, 60.0, n).tolist()), errors_m=errors,
    )  # fmt: skip


def scans(seed):
    """Return scans at 2 and 1 m; the second seed errs twice as much."""
    factor = 1.0 + (seed - SEEDS[0])
    error_m = ERROR_M["dense"] * factor
    found = [scan(2.0, m, i, "dense", error_m, N, 0) for m, i in product(MAPPINGS, IMAGES)]
    found += [scan(1.0, m, "plain", "dense", 2.0 * error_m, N_FEW, 0) for m in MAPPINGS]
    for distance_m, method in product((2.0, 1.0), METHODS[1:]):
        n_lost = ORB_LOST if (method, distance_m) == ("orb_mapping", 1.0) else 0
        error_m = ERROR_M[method] * factor
        found.append(scan(distance_m, "estimated", "plain", method, error_m, N_FEW, n_lost))
    return tuple(found)


def map_result(mapping):
    score = SurfaceScore.of(np.linspace(0.0, 0.05 if mapping == "estimated" else 0.12, 1001))
    return MapResult(
        mapping=mapping, n_splats=2_345_678, n_keyframes=22, n_links=91, points_to_mesh=score,
        points_to_mesh_unaligned=SurfaceScore.of(np.full(10, 0.371)), completeness_10cm=0.987,
        keyframes_mean_m=0.008, keyframes_unaligned_mean_m=0.412,
        removed=Removal(scale_percent=0.051, tilt_deg=0.212, yaw_deg=-0.432, offset_m=0.413),
    )  # fmt: skip


def seed_result(seed, pictures=()):
    return SeedResult(
        seed=seed,
        world=f"cliff@{seed}",
        maps=tuple(map_result(mapping) for mapping in MAPPINGS),
        scans=scans(seed),
        controls=(
            ControlResult(name="1 % scale", expected_m=0.08, measured_m=0.081, seen_by="APE"),
        ),
        pictures=pictures,
        configuration={"seed": seed, "world": f"cliff@{seed}"},
    )


@pytest.fixture(scope="module")
def results():
    return [seed_result(seed) for seed in SEEDS]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The text of the page, and what its metrics.json holds."""
    folder, files = tmp_path_factory.mktemp("study"), []
    grey = np.tile(np.arange(64.0) * 4.0, (40, 1))
    for seed in SEEDS:
        parts = folder / str(seed)
        parts.mkdir()
        pair = ImagePair.write(parts, "near", grey, np.full((40, 64), np.nan), distance_m=2.0)
        files.append(parts / "result.json")
        write_result(files[-1], seed_result(seed, (pair,)))
    found = figures([finished(file.parent) for file in files])
    assert found.values == {"n_bars_missed": sum(not row.is_met for row in rows_of_seeds())}
    text, document = report_page(title="Campaign dense", sections=found.sections, configuration={})
    assert faults(document, schema()) == []
    return text, document


def finished(folder):
    """Return the run that left a folder."""
    return FinishedRun(id="a", axes={}, seed=0, repeat=0, metrics={}, is_success=True, outcome="",
                       folder=folder)  # fmt: skip


def rows_of_seeds():
    return rows_of([seed_result(seed) for seed in SEEDS])


def test_a_study_without_a_result_misses_its_bars(tmp_path):
    assert figures([finished(tmp_path)]).values == {"n_bars_missed": None}


def table(text, title):
    """Return the rows of cells of a table of the page."""
    part = text[text.index(f"<h3>{title}</h3>") :]
    part = part[: part.index("</table>")]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", part, flags=re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.S) for row in rows]
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in row] for row in cells]


def test_bars_of_every_seed_stand_on_the_page(page):
    text, document = page
    rows = table(text, "Bars of each seed")
    assert rows[0][3:6] == ["seed 1000", "seed 1001", "all"]
    assert rows[1] == [
        "ATE at 2 m, mean",
        "estimated",
        "≤ 5.00",
        "1.00",
        "2.00",
        "1.50",
        "cm",
        "met",
    ]
    by_name = {(row[0], row[1]): row for row in rows[1:]}
    # Twelve centimetres, evenly: a mean of 6 cm and five of six below 10 cm.
    assert by_name["map points to the true mesh, mean", "true"][3:] == [
        "6.00", "6.00", "6.00", "cm", "missed",
    ]  # fmt: skip
    assert by_name["map points nearer than 10 cm", "true"][3] == "83.32"
    assert by_name["ATE at 1 m, mean", "true"][4:] == ["4.00", "3.00", "cm", "missed"]
    assert by_name["frames of the scan at 2 m", "true"][5:] == ["1901", "–", "met"]
    missed = sum(row[-1] == "missed" for row in rows)
    assert missed == 3  # with the third, ATE at 1 m with true poses
    retained = document["sections"]["dense_bars"]["rows"]
    assert len(retained) == len(THRESHOLDS) * 2 * 3
    n_met = sum(row["is_met"] for row in retained if row["seed"] is not None)
    assert f"{n_met} of 40 bars are met, seed by seed." in text


def test_published_figures_stand_beside_and_are_not_compared(page):
    text, _ = page
    rows = table(text, "Beside the paper, all seeds together")
    assert rows[1][:4] == ["ATE at 2 m, mean", "16.00", "1.50", "≤ 5.00"]
    assert {row[-1] for row in rows[1:]} == {"no"}
    assert NOT_COMPARABLE in text
    assert "mean of the paper (not comparable)" in text


def test_every_method_stands_at_every_distance(page):
    text, _ = page
    shares = {row[0]: row[1:] for row in table(text, "Images localised [%]")}
    errors = {row[0]: row[1:] for row in table(text, "Mean error of the images localised [cm]")}
    assert shares["method"] == ["2 m", "1 m"]
    assert shares[NAMES["dense"]] == ["100.0", "100.0"]
    assert shares[NAMES["orb_mapping"]] == ["100.0", "75.0"]
    for method, error_m in ERROR_M.items():
        near = 2.0 if method == "dense" else 1.0
        expected = [f"{150.0 * error_m:.2f}", f"{150.0 * near * error_m:.2f}"]
        assert errors[NAMES[method]] == expected, method
    assert "ORB, mapping key-frames 2 m;" in text  # nearest without a loss


def test_what_the_alignment_removed_stands_beside_aligned_and_unaligned_scores(page):
    text, _ = page
    assert table(text, "Alignments of the maps")[1] == [
        "1000", "estimated", "0.80", "41.20", "0.413", "0.212", "-0.432", "0.051",
    ]  # fmt: skip
    assert table(text, "Maps")[1] == [
        "1000", "estimated", "2.35", "22", "91", "2.50", "2.50", "100.00", "100.00", "37.10",
        "98.70",
    ]  # fmt: skip
    rows = table(text, "Scans")
    assert len(rows) == 1 + len(SEEDS) * 14
    assert rows[1] == [
        "1000", "2", "dense", "estimated", "plain", "1901", "0", "0", "0", "1.00",
        "1.04", "1.50", "31.00", "0.123", "0.045",
    ]  # fmt: skip
    assert table(text, "Negative controls")[1][1:] == ["1 % scale", "0.080", "0.081", "APE"]


def test_figures_have_axes_with_units_bars_and_methods(page):
    text, _ = page
    drawings = re.findall(r"<svg.*?</svg>", text, flags=re.S)
    assert len(drawings) == 6
    words_of = [set(re.findall(r">([^<>]+)</text>", svg)) for svg in drawings]
    along, features, distances, each, cumulative, spread = words_of
    assert {"way along the scan [m]", "threshold of the mean, 5 cm", "lost above 50 cm"} <= along
    assert set(NAMES.values()) <= features
    assert set(NAMES.values()) | {"distance to the wall [m]", "images localised [%]"} <= distances
    assert {"threshold of the mean, 5 cm", "the paper's method (not comparable)"} <= distances
    assert {"at most this error [cm]", "2 m", "1 m"} <= each
    assert {"threshold with estimated poses", "points of the map [%]"} <= cumulative
    assert "distance to the true mesh [cm]" in spread
    assert text.count("data:image/png") == 1  # the pair of the first seed


def test_what_was_not_measured_is_not_met(results):
    far = [
        dataclasses.replace(one, scans=tuple(s for s in one.scans if s.distance_m > 1.0))
        for one in results
    ]
    rows = [row for row in rows_of(far) if row.bar.figure == "ATE at 1 m, mean"]
    assert {row.is_met for row in rows} == {None}
    assert value_text(None, "m") == ("not measured", "cm")
    section = _thresholds(far, rows_of(far))
    assert "8 were not measured" in section.verdict
    (tile,) = (one for one in section.headline if one.label == "ATE at 1 m, mean")
    assert (tile.value, tile.status) == ("not measured", "warn")


def test_a_study_without_scans_and_pictures_has_a_page(results, tmp_path):
    empty = dataclasses.replace(results[0], scans=(), controls=())
    write_result(tmp_path / "result.json", empty)
    text, _ = report_page(
        title="x", sections=figures([finished(tmp_path)]).sections, configuration={}
    )
    assert "4 of 20 bars are met, seed by seed, 14 were not measured." in text
    assert "nearest to the wall" not in text


def test_the_closest_distance_is_one_that_every_seed_holds(results):
    assert closest_distance_m(results, "estimated") == 1.0
    corrupted = scan(1.0, "estimated", "plain", "dense", 0.01, N_FEW, 1)
    others = tuple(s for s in results[1].scans if s.distance_m > 1.0)
    lost = dataclasses.replace(results[1], scans=(*others, corrupted))
    assert closest_distance_m([results[0], lost], "estimated") == 2.0
    assert closest_distance_m([dataclasses.replace(lost, scans=(corrupted,))], "estimated") is None


def test_a_control_that_no_score_saw_is_a_warning(results):
    unseen = ControlResult(name="frozen", expected_m=1.0, measured_m=0.0, seen_by="")
    blind = dataclasses.replace(results[0], controls=(unseen,))
    section = _evidence([blind])
    assert section.warnings and "0 of 1 negative controls" in section.verdict


def test_pictures_are_files_beside_the_result(tmp_path):
    outside = ImagePair(distance_m=2.0, scan="../secret.png", rendered="b.png")
    with pytest.raises(UserError, match="name of a file beside the result"):
        pair_picture(tmp_path, outside)
    with pytest.raises(UserError, match="no picture; run the study anew"):
        pair_picture(tmp_path, ImagePair(distance_m=2.0, scan="a.png", rendered="b.png"))
