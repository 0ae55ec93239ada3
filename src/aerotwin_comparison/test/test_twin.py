# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Twins: verdicts on maps whose difference is known, tables, pictures, run folders, the command."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_comparison import run_folder as runs
from aerotwin_comparison.run_folder import is_run_folder, open_run_folder
from aerotwin_comparison.schemas import TWIN_SCHEMA
from aerotwin_comparison.twin import (
    TwinProtocol,
    TwinSide,
    compare_twins,
    side_of_run,
    twin_section,
)
from aerotwin_comparison.twin.comparison import SIMULATED_BOTH
from aerotwin_comparison.twin.differences import Distances, differences, noticed_noise
from aerotwin_core.bag import BagWriter
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.camera_messages import camera_info_message
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.messages import odometry_message, point_cloud_message, serialize
from aerotwin_core.trajectory import Trajectory
from aerotwin_map_evaluation import MapProtocol, SurfaceReference
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_registration import write_cloud
from aerotwin_report import faults, write_report
from aerotwin_report.metrics import plain

ROUNDING = 1e-9
N_TRIALS = 40
RIGHT = 0.95  # share of trials with the right verdict
HALF_NORMAL_MEAN = np.sqrt(2.0 / np.pi)
# Coarse voxels, no sensitivity curve of the map evaluation: the comparison is what is tested.
QUICK_MAP = MapProtocol(voxel_m=1.0, sensitivity_m=(), floor_spacing_m=0.5)
QUICK = TwinProtocol(n_resamples=300, noise_m=(0.02, 0.3))


def field(rng, points, reach_m=2.0, n_waves=80):
    """Return a Gaussian field of unit variance that hangs together over reach_m."""
    waves = rng.normal(0.0, 1.0 / reach_m, (n_waves, 2))
    phases = rng.uniform(0.0, 2.0 * np.pi, n_waves)
    return np.cos(points[:, :2] @ waves.T + phases).sum(axis=1) * np.sqrt(2.0 / n_waves)


def errors_of_a_map(seed, sigma_m, n=1500):
    """Return the distances of a map of a plane of 80 m by 50 m whose errors hang together."""
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(0.0, 80.0, n), rng.uniform(0.0, 50.0, n), np.zeros(n)])
    values = np.abs(sigma_m * field(rng, points))
    return Distances(
        points_map=points,
        values=values,
        is_retained=np.ones(n, dtype=bool),
        is_within=values <= 1.0,
    )


def verdicts(sigma_b_m, seed=1000):
    found = []
    for trial in range(N_TRIALS):
        a = errors_of_a_map(seed + 2 * trial, 0.10)
        b = errors_of_a_map(seed + 2 * trial + 1, sigma_b_m)
        found.append(differences("surface", "distances", a, b, replace(QUICK, seed=trial)))
    return found


def test_maps_that_are_equally_good_are_called_equivalent():
    found = verdicts(0.10)
    assert np.mean([d.verdict == "equivalent" for d in found]) >= RIGHT
    assert not any(d.verdict == "different" for d in found)


def test_maps_that_are_not_equally_good_are_called_different():
    found = verdicts(0.25)
    assert np.mean([d.verdict == "different" for d in found]) >= RIGHT
    assert not any(d.verdict == "equivalent" for d in found)
    truth = 0.15 * HALF_NORMAL_MEAN
    held = [d.mean.interval.low <= truth <= d.mean.interval.high for d in found]
    assert np.mean(held) >= 0.90 - 4 * np.sqrt(0.9 * 0.1 / N_TRIALS)


def test_the_cubes_are_larger_than_what_hangs_together():
    a, b = errors_of_a_map(0, 0.1), errors_of_a_map(1, 0.1)
    d = differences("surface", "x", a, b, QUICK)
    assert d.block.edge >= 4.0
    assert d.block.n_blocks >= 20
    single = replace(QUICK, block_edges_m=(0.05,))
    alone = differences("surface", "distances", a, b, single)
    honest = d.mean.interval.standard_error
    assert alone.mean.interval.standard_error < 0.6 * honest
    apart = differences("surface", "distances", a, b, replace(QUICK, shares_blocks=False))
    # The two fields are independent: drawn together or apart, the error is the same.
    assert apart.mean.interval.standard_error == pytest.approx(honest, rel=0.35)


def test_a_margin_that_is_finer_than_the_map_allows_is_not_decided():
    fine = replace(QUICK, mean_margin_m=0.001)
    pairs = [(errors_of_a_map(2 * k, 0.1), errors_of_a_map(2 * k + 1, 0.1)) for k in range(5)]
    found = [differences("surface", "x", a, b, fine).verdict for a, b in pairs]
    assert found.count("not decided") >= 4
    assert "equivalent" not in found


def test_too_few_cubes_decide_nothing():
    small = [
        Distances(
            points_map=np.random.default_rng(k).uniform(0.0, 1.5, (200, 3)),
            values=np.full(200, 0.1) + 1e-3 * np.random.default_rng(k).normal(size=200),
            is_retained=np.ones(200, dtype=bool),
            is_within=np.ones(200, dtype=bool),
        )
        for k in (0, 1)
    ]
    d = differences("surface", "x", *small, QUICK)
    assert d.block.n_blocks < 10
    assert d.verdict == "not decided"


def test_what_the_margins_can_see_is_said():
    points = np.random.default_rng(0).uniform(0.0, 10.0, (5000, 3)) * [1.0, 1.0, 0.0]
    seen = dict(noticed_noise(points, lambda p: np.abs(p[:, 2]), np.inf, QUICK))
    # Noise sigma makes the mean 0.8 sigma: 0.02 stays below 0.05, 0.3 does not.
    assert seen == {0.02: False, 0.3: True}


# --- whole maps ------------------------------------------------------------------------------


def terrain():
    x, y = np.meshgrid(np.linspace(0.0, 30.0, 61), np.linspace(0.0, 20.0, 41))
    z = 1.5 * np.sin(x / 3.0) * np.cos(y / 2.5) + 3.0 * (np.abs(x - 15.0) < 2.0)
    vertices = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    k = np.arange(40)[:, None] * 61 + np.arange(60)
    squares = np.stack([k, k + 1, k + 62, k + 61], axis=-1).reshape(-1, 4)
    triangles = np.vstack([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]])
    return vertices, triangles


def samples(seed, noise_m, n=6000):
    """Return points of the terrain with noise across it."""
    rng = np.random.default_rng(seed)
    vertices, triangles = terrain()
    corners = vertices[triangles[rng.integers(0, len(triangles), n)]]
    u, v = rng.uniform(size=(2, n))
    u, v = np.where(u + v > 1.0, (1.0 - u, 1.0 - v), (u, v))
    points = corners[:, 0] + u[:, None] * (corners[:, 1] - corners[:, 0])
    points += v[:, None] * (corners[:, 2] - corners[:, 0])
    return points + rng.normal(0.0, noise_m, points.shape)


def odom(seed):
    """Return T_map_odom: a frame of its own for each map."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("z", 20.0 + 10.0 * seed, degrees=True).as_matrix()
    T[:3, 3] = [3.0, -2.0, 1.0 + seed]
    return T


def side(seed, noise_m, **more):
    T = odom(seed)
    R, t = T[:3, :3], T[:3, 3]
    along = np.linspace(0.0, 1.0, 40)
    path = np.column_stack([5.0 + 20.0 * along, 10.0 + 0.0 * along, 8.0 + 0.0 * along])
    poses = Trajectory(
        (np.arange(40) * 10**8).astype(np.int64), (path - t) @ R, np.tile([0, 0, 0, 1.0], (40, 1))
    )
    near = odom(seed)
    near[:3, 3] += [0.1, -0.1, 0.05]
    return TwinSide(
        label=f"map {seed}",
        points_odom=(samples(seed, noise_m) - t) @ R,
        trajectory=poses,
        T_reference_odom=near,
        **more,
    )


@pytest.fixture(scope="module")
def surface():
    return SurfaceReference(*terrain())


@pytest.fixture(scope="module")
def alike(surface):
    sides = [side(k, 0.03, kind="simulated") for k in (0, 1)]
    return compare_twins(*sides, surface, map_protocol=QUICK_MAP, protocol=QUICK)


def test_two_maps_of_one_place_are_registered_and_equivalent(alike):
    assert alike.is_aligned
    assert alike.verdict == "equivalent"
    # 0.03 m across the surface: the mean distance is 0.8 of that.
    for m in (alike.map_a, alike.map_b):
        assert m.judged_distances.mean() == pytest.approx(0.03 * HALF_NORMAL_MEAN, abs=0.01)
    path = alike.path_map("a")
    np.testing.assert_allclose(path[0], [5.0, 10.0, 8.0], atol=0.5)
    assert min(alike.overlap) > 0.99


def test_a_worse_map_is_reported_by_the_surface_where_voxels_see_nothing(surface):
    twin = compare_twins(
        side(0, 0.02), side(1, 0.25), surface, map_protocol=QUICK_MAP, protocol=QUICK
    )
    assert twin.verdict == "different"
    assert twin.published.verdict == "equivalent"
    assert twin.sentence.startswith("Different: by the distances of all points to the true surf")
    table = next(t for t in twin_section(twin).tables if t.title == "Verdicts")
    assert [(row[1], row[-1]) for row in table.rows] == [("equivalent", ""), ("different", "yes")]
    assert twin.judged.mean.interval.estimate == pytest.approx(0.23 * HALF_NORMAL_MEAN, abs=0.03)


def test_the_verdict_is_one_sentence_that_stands_once_in_what_the_section_says(alike):
    chapter = twin_section(alike)
    # A full stop inside a number is none.
    assert len(re.findall(r"\.(\s|$)", chapter.verdict)) == 1
    assert chapter.verdict.startswith("Equivalent: by the distances of all points")
    assert SIMULATED_BOTH in chapter.verdict and alike.metrics()["are_both_simulated"] is True
    said = [chapter.text, *chapter.warnings, *(tile.meaning for tile in chapter.headline)]
    assert not any(chapter.verdict in text or SIMULATED_BOTH in text for text in said)


def test_a_map_of_another_place_is_not_decided_and_says_why(surface):
    far = replace(side(1, 0.03), T_reference_odom=np.eye(4), label="elsewhere")
    far = replace(far, points_odom=far.points_odom + 500.0)
    twin = compare_twins(side(0, 0.03), far, surface, map_protocol=QUICK_MAP, protocol=QUICK)
    assert twin.verdict == "not decided"
    assert "elsewhere could not be aligned" in twin.sentence
    assert twin.judged is None
    assert faults(json.loads(json.dumps(plain(twin.metrics()))), TWIN_SCHEMA) == []


def test_a_cloud_may_be_the_model_and_a_scale_is_found(surface):
    model = samples(7, 0.0, 20_000)
    shrunk = side(1, 0.02)
    shrunk = replace(shrunk, points_odom=shrunk.points_odom / 1.05)
    choices = replace(QUICK_MAP, with_scale=True, cut_m=0.5)
    twin = compare_twins(
        side(0, 0.02),
        shrunk,
        MapReference.of(None, model, choices),
        map_protocol=choices,
        protocol=QUICK,
    )
    assert twin.judged is twin.published
    # Its points lie 0.17 m apart: most of what is compared is that, not the maps.
    assert sum("spacing of the reference" in text for text in twin.warnings()) == 2
    assert twin.map_b.registration.scale == pytest.approx(1.05, abs=0.005)
    assert twin.map_a.registration.scale == pytest.approx(1.0, abs=0.005)
    # The path shrinks and grows with its map.
    length = np.linalg.norm(np.diff(twin.path_map("b"), axis=0), axis=1).sum()
    assert length == pytest.approx(20.0 * twin.map_b.registration.scale, rel=1e-6)


def test_the_report_has_both_tables_and_the_three_figures(alike, tmp_path):
    section = twin_section(alike)
    titles = [table.title for table in section.tables]
    assert titles[0].startswith("Table I:") and titles[1].startswith("Table II:")
    captions = " ".join(figure.caption for figure in section.figures)
    assert all(f"Fig. {k} of the paper" in captions for k in (9, 10, 11))
    rows = {row[0]: row[1:] for row in section.tables[1].rows}
    assert rows["map points"] == ("6,000", "6,000")
    assert "mean of a perfect map [m]" in rows
    write_report(tmp_path, title="t", sections=[section], configuration={})
    document = json.loads((tmp_path / "metrics.json").read_text())
    assert document["sections"]["twin"]["verdict"] == "equivalent"
    assert faults(document["sections"]["twin"], TWIN_SCHEMA) == []


# --- run folders and the command ---------------------------------------------------------------


def write_run(folder, seed, noise_m, *, parameters=True):
    """Write what a flight over the terrain leaves behind."""
    provided = side(seed, noise_m)
    (folder / "bag").parent.mkdir(parents=True)
    kinds = {
        runs.TRUTH: "nav_msgs/msg/Odometry",
        runs.SLAM_ODOM: "nav_msgs/msg/Odometry",
        runs.SLAM_MAP: "sensor_msgs/msg/PointCloud2",
        runs.LEFT_INFO: "sensor_msgs/msg/CameraInfo",
    }
    camera = PinholeCamera(width=640, height=480, fx=320.0, fy=320.0, cx=319.5, cy=239.5)
    T = odom(seed)
    turn = Rotation.from_matrix(T[:3, :3]).as_quat()
    with BagWriter(folder / "bag") as bag:
        for topic, kind in kinds.items():
            bag.add_topic(topic, kind)
        for stamp, p in zip(provided.trajectory.stamps_ns, provided.trajectory.p_ref_body):
            zero = (0.0, 0.0, 0.0)
            pose = odometry_message(int(stamp), "odom", "base_link", p, (0, 0, 0, 1), zero, zero)
            lost = odometry_message(
                int(stamp) + 1, "odom", "base_link", p + 9.0, (0, 0, 0, 1), zero, zero,
                pose_variances=(1e6,) * 6,
            )  # fmt: skip
            truth = odometry_message(
                int(stamp), "map", "base_link_truth", T[:3, :3] @ p + T[:3, 3], turn, zero, zero
            )
            info = camera_info_message(int(stamp), "left", camera)
            bag.write(runs.SLAM_ODOM, int(stamp), serialize(pose))
            bag.write(runs.SLAM_ODOM, int(stamp), serialize(lost))
            bag.write(runs.TRUTH, int(stamp), serialize(truth))
            bag.write(runs.LEFT_INFO, int(stamp), serialize(info))
        cloud = point_cloud_message(5 * 10**9, "odom", provided.points_odom)
        bag.write(runs.SLAM_MAP, 5 * 10**9, serialize(cloud))
    groups = "mission: {file: m.yaml}, wind: {east_m_s: 2.5}"
    text = f"{{world: terrain, seed: 3, {groups}}}" if parameters else "{}"
    (folder / "config.yaml").write_text(f"parameters: {text}\n")


def test_a_run_folder_gives_map_path_start_and_sensing(tmp_path):
    write_run(tmp_path / "runs" / "one", 1, 0.03)
    assert is_run_folder(tmp_path / "runs") and is_run_folder(tmp_path / "runs" / "one")
    run = open_run_folder(tmp_path / "runs")
    found = side_of_run(run, "x")
    assert found.kind == "simulated"
    assert len(found.trajectory) == 40  # without the lost ones
    np.testing.assert_allclose(found.T_reference_odom, odom(1), atol=ROUNDING)
    assert (found.sensing.width, found.sensing.height, found.sensing.n_frames) == (640, 480, 40)
    assert found.sensing.rate_hz == pytest.approx(10.0)
    assert found.sensing.field_of_view_deg == pytest.approx(90.0)
    assert found.settings["wind.east_m_s"] == 2.5


def test_a_bag_that_was_only_evaluated_is_not_called_simulated(tmp_path):
    write_run(tmp_path / "one", 1, 0.03, parameters=False)
    assert side_of_run(open_run_folder(tmp_path / "one"), "x").kind is None


def test_folders_that_are_no_run_or_several_are_refused(tmp_path):
    with pytest.raises(UserError, match="no run folder"):
        open_run_folder(tmp_path)
    for name in "ab":
        (tmp_path / name / "bag").mkdir(parents=True)
        (tmp_path / name / "config.yaml").write_text("{}")
    with pytest.raises(UserError, match=r"holds 2 runs \(a, b\)"):
        open_run_folder(tmp_path)


@pytest.fixture
def files(tmp_path):
    vertices, triangles = terrain()
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [
        "f " + " ".join(str(k + 1) for k in t) for t in triangles
    ]
    (tmp_path / "model.obj").write_text("\n".join(lines))
    for name, seed, noise in (("a", 0, 0.02), ("b", 1, 0.03)):
        write_cloud(tmp_path / f"{name}.ply", samples(seed, noise))
    (tmp_path / "quick.yaml").write_text(
        "name: quick\nmap: {sensitivity_m: [], floor_spacing_m: 0.5}\n"
        "twin: {n_resamples: 300, noise_m: [0.3]}\n"
    )
    return tmp_path


def twin_command(files, *more):
    tokens = [str(files / "a.ply"), str(files / "b.ply"), "--reference", str(files / "model.obj")]
    return main(["evaluate", "twin", *tokens, "--protocol", str(files / "quick.yaml"), *more])


def test_the_command_compares_writes_and_judges(files, capsys):
    out = files / "out"
    conditions = ["--fail-if", "equivalent < 1", "--fail-if", "surface_mean_difference_m > 0.05"]
    assert twin_command(files, "-o", str(out), "--json", "-", "--kind-a", "simulated",
                        "--kind-b", "real", *conditions) == 0  # fmt: skip
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["verdict"] == "equivalent"
    assert numbers["protocol"]["map"]["name"] == numbers["protocol"]["twin"]["name"] == "quick"
    assert numbers["are_both_simulated"] is False
    for name in ("report.html", "metrics.json", "registered_a.ply", "registered_b.ply"):
        assert (out / name).is_file()
    assert twin_command(files, "--fail-if", "equivalent > 0") == 3
    assert "Equivalent" in capsys.readouterr().out


def test_a_misspelt_condition_is_refused_before_a_map_is_read(capsys):
    tokens = ("gone.ply", "gone.ply", "--reference", "gone.ply", "--fail-if", "equivalnt < 1")
    assert main(["evaluate", "twin", *tokens]) == 2
    assert "the result has no number 'equivalnt'" in capsys.readouterr().err


def test_the_command_ends_with_1_when_a_map_does_not_fit(files, capsys):
    write_cloud(files / "b.ply", samples(1, 0.02) + 700.0)
    assert twin_command(files) == 1
    assert "could not be aligned" in capsys.readouterr().out


def test_the_command_refuses_what_is_not_there(files, capsys):
    assert main(["evaluate", "twin", "x.ply", "y.ply", "--reference", "z"]) == 2
    assert "x.ply" in capsys.readouterr().err
    assert twin_command(files, "--trajectory-a", "no.txt") == 2
