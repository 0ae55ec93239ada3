# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import argparse
import json

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_map_evaluation import MapProtocol, MapReference, command
from aerotwin_map_evaluation.declared_metrics import MAP_SCHEMA, STATISTICS_SCHEMA
from aerotwin_registration import read_cloud, write_cloud
from aerotwin_registration.ply import read_ply
from aerotwin_report.schema_check import faults

OF_CLOUD = {"map_plane_rmse_m", "spacing_m"}
"""Short names of numbers that a reference with a surface has not."""


def parse(*arguments):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return parser.parse_args([str(token) for token in arguments])


@pytest.fixture
def mesh(tmp_path):
    """A rough hill as OBJ: heights in closed form on a 1 m grid."""
    n = 31
    x, y = np.meshgrid(np.arange(n) - 15.0, np.arange(n) - 15.0, indexing="ij")
    z = 2.0 * np.sin(0.4 * x) + 2.0 * np.cos(0.37 * y)
    lines = [f"v {a} {b} {c}" for a, b, c in zip(x.ravel(), y.ravel(), z.ravel())]
    for i in range(n - 1):
        for j in range(n - 1):
            a = i * n + j + 1
            lines += [f"f {a} {a + n} {a + n + 1} {a + 1}"]
    path = tmp_path / "hill.obj"
    path.write_text("\n".join(lines))
    points = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    return path, np.vstack([points, points[:-1] * 0.5 + points[1:] * 0.5])


def test_the_verb_writes_the_agreed_keys_and_pictures(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points)
    out = tmp_path / "out"
    args = parse(path, tmp_path / "map.ply", "--placed", "--json", "-", "-o", out)
    assert command.run(args) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["alignment"]["converged"] is True
    assert np.array(result["alignment"]["T_reference_estimate"]).shape == (4, 4)
    assert result["correspondences"].keys() >= {"n", "share", "mean_m", "std_m", "rmse_m"}
    assert 0.2 < result["floor"]["mean_m"] < 0.6
    document = json.loads((out / "metrics.json").read_text())
    assert document["sections"]["map"] == result
    assert faults(result, MAP_SCHEMA) == []
    assert (out / "report.html").read_text().count("<svg") >= 8
    assert len(read_cloud(out / "map_error.ply")) == len(points)


def test_a_sparse_reference_is_warned_of_where_the_scores_are_printed(tmp_path, capsys):
    rng = np.random.default_rng(1000)
    for name, n in (("sparse", 900), ("map", 20_000)):
        ground = rng.uniform(-15.0, 15.0, (n, 2))
        height = np.sin(0.1 * ground[:, 0]) + np.cos(0.13 * ground[:, 1])
        write_cloud(tmp_path / f"{name}.ply", np.column_stack([ground, height]))
    args = parse(tmp_path / "sparse.ply", tmp_path / "map.ply", "--placed")
    assert command.run(args) == 0
    printed = capsys.readouterr().out
    assert "spacing of the reference" in printed
    assert "caution: Most of the distance is the spacing of the reference" in printed
    args = parse(tmp_path / "sparse.ply", tmp_path / "map.ply", "--placed", "--distance", "planes",
                 "--fail-if", "map_plane_rmse_m > 0.1", "--fail-if", "map_mean_m > 0.1",
                 "--fail-if", "spacing_m > 1.2", "--json", "-")  # fmt: skip
    assert command.run(args) == 0
    pairs = json.loads(capsys.readouterr().out)["correspondences"]
    assert pairs["to"] == "planes"


def test_columns_of_the_two_clouds_may_differ(tmp_path, capsys):
    rng = np.random.default_rng(1000)
    points = rng.uniform(-5.0, 5.0, (2000, 3)).astype(np.float32)
    points.tofile(tmp_path / "map.bin")
    np.column_stack([points, points[:, 0]]).astype(np.float32).tofile(tmp_path / "reference.bin")
    arguments = (tmp_path / "reference.bin", tmp_path / "map.bin", "--bin-columns", "xyz",
                 "--align", "none", "--json", "-")  # fmt: skip
    assert command.run(parse(*arguments, "--reference-bin-columns", "xyzi")) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n_points"] == result["n_voxels"] == len(points)
    assert result["both_ways"]["accuracy"]["max_m"] == 0.0


def test_a_failed_alignment_ends_with_exit_code_1(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points + np.array([300.0, 0.0, 0.0]))
    assert command.run(parse(path, tmp_path / "map.ply")) == 1
    printed = capsys.readouterr().out
    assert "NOT ALIGNED" in printed
    assert "precision" not in printed
    assert command.run(parse(path, tmp_path / "map.ply", "--align", "none")) == 0
    printed = capsys.readouterr().out
    assert "judged where it stands" in printed
    assert "aligned: judged" not in printed


def test_a_protocol_file_changes_the_choices(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points)
    (tmp_path / "p.yaml").write_text("name: half\nmap: {voxel_m: 0.5, cut_m: 0.5}\n")
    args = parse(path, tmp_path / "map.ply", "--protocol", tmp_path / "p.yaml", "--json", "-")
    command.run(args)
    result = json.loads(capsys.readouterr().out)
    assert result["protocol"]["name"] == "half"
    assert result["protocol"]["choices"]["voxel_m"] == 0.5
    assert result["n_voxels"] > 3000  # 30 m x 30 m of half-metre columns
    assert 0.0 < result["floor"]["mean_m"] < 0.3


def quick(tmp_path):
    """A protocol without the sensitivity curve, for speed."""
    path = tmp_path / "quick.yaml"
    path.write_text("name: quick\nmap: {sensitivity_m: []}\n")
    return path


def judged(capsys, *arguments):
    code = command.run(parse(*arguments, "--json", "-"))
    return code, json.loads(capsys.readouterr().out)


def test_options_change_a_protocol_and_its_name(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points)
    region = ("--region", -9, -9, -9, 9, 9, 9)
    code, result = judged(
        capsys, path, tmp_path / "map.ply", "--protocol", quick(tmp_path), "--method",
        "point_to_plane", "--scale", "--voxel-m", 0.5, *region,
    )  # fmt: skip
    assert code == 0
    choices = result["protocol"]["choices"]
    assert result["protocol"]["name"] == "quick, changed by options"
    assert (choices["method"], choices["with_scale"]) == ("point_to_plane", True)
    assert choices["regions_m"] == [-9, -9, -9, 9, 9, 9]


def test_conditions_fail_the_command_with_their_own_code(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points)
    arguments = (path, tmp_path / "map.ply", "--protocol", quick(tmp_path), "--placed")
    assert judged(capsys, *arguments, "--fail-if", "map_rmse_m > 0.5")[0] == 0
    assert judged(capsys, *arguments, "--fail-if", "chamfer_m < 5")[0] == 3
    assert judged(capsys, *arguments, "--fail-if", "precision < 0.01", "--fail-if", "f > 2")[0] == 0


def test_every_short_name_is_a_number_of_the_result(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", np.vstack([points + 0.01 * k for k in range(12)]))
    of_surface = command.ALIASES.keys() - OF_CLOUD
    conditions = [token for name in of_surface for token in ("--fail-if", f"{name} < -1e9")]
    code, _ = judged(capsys, path, tmp_path / "map.ply", "--protocol", quick(tmp_path), *conditions)
    assert code == 0  # a name that is not judged would fail


def test_a_start_is_read_and_its_end_is_the_whole_transform(mesh, tmp_path, capsys):
    path, points = mesh
    shift = np.array([120.0, -80.0, 3.0])
    write_cloud(tmp_path / "map.xyz", points - shift)
    T = np.eye(4)
    T[:3, 3] = shift + np.array([0.2, -0.1, 0.1])
    np.savetxt(tmp_path / "T.txt", T)
    arguments = (path, tmp_path / "map.xyz", "--protocol", quick(tmp_path))
    code, result = judged(capsys, *arguments, "--initial", tmp_path / "T.txt", "--voxel-m", 0.3)
    assert code == 0
    found = np.array(result["alignment"]["T_reference_estimate"])
    centre = points.mean(axis=0)
    # Within a voxel the ICP onto centres is nearly blind (errata_and_protocols).
    np.testing.assert_allclose(found[:3, :3] @ (centre - shift) + found[:3, 3], centre, atol=0.3)
    assert result["is_pose_known"] is False
    assert judged(capsys, *arguments)[0] == 1


def test_places_on_earth_give_a_start_too(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.xyz", points - [0.0, 111.2, 0.0])
    arguments = (path, tmp_path / "map.xyz", "--protocol", quick(tmp_path))
    # One thousandth of a degree of latitude is 111.2 m at 47 degrees.
    places = ("--reference-origin", "47,8,400", "--origin", "47.001,8,400")
    code, result = judged(capsys, *arguments, *places)
    assert code == 0
    assert result["alignment"]["T_reference_estimate"][1][3] == pytest.approx(111.2, abs=0.5)
    with pytest.raises(UserError, match="--reference-origin"):
        command.run(parse(*arguments, "--origin", "47,8"))
    with pytest.raises(UserError, match="LAT,LON"):
        command.run(parse(*arguments, "--origin", "north", "--reference-origin", "47,8"))


def test_what_was_not_seen_is_not_asked_for(mesh, tmp_path, capsys):
    path, points = mesh
    west = points[points[:, 0] < -2]
    write_cloud(tmp_path / "map.ply", west)
    # A camera 30 m above the western half, looking down (90 degrees about y).
    rows = [[k, -9.0, y, 30.0, 0, np.sqrt(0.5), 0, np.sqrt(0.5)] for k, y in enumerate((-7, 7))]
    np.savetxt(tmp_path / "truth.tum", rows)
    arguments = (path, tmp_path / "map.ply", "--placed", "--protocol", quick(tmp_path))
    _, everything = judged(capsys, *arguments)
    camera = ("--camera", 400, 200, 500, 500, 199.5, 99.5)
    _, seen = judged(capsys, *arguments, "--poses", tmp_path / "truth.tum", *camera)
    assert everything["completeness"]["within"]["1"] == pytest.approx(13 / 30, abs=0.05)
    assert seen["completeness"]["within"]["1"] > 0.95
    assert seen["completeness"]["area_m2"] < 0.5 * everything["completeness"]["area_m2"]
    assert "seen from the true poses" in seen["floor"]["region"]
    with pytest.raises(UserError, match="--lidar"):
        command.run(parse(*arguments, "--poses", tmp_path / "truth.tum"))
    with pytest.raises(UserError, match="nothing of the reference"):
        command.run(
            parse(*arguments, "--poses", tmp_path / "truth.tum", "--lidar", 10, 20, "--range-m", 5)
        )


def test_the_written_cloud_carries_each_points_error(mesh, tmp_path):
    path, points = mesh
    write_cloud(
        tmp_path / "map.ply", points + [0.0, 0.0, 40.0] * (np.arange(len(points)) < 1)[:, None]
    )
    out = tmp_path / "out"
    arguments = (path, tmp_path / "map.ply", "--placed", "--protocol", quick(tmp_path), "-o", out)
    assert command.run(parse(*arguments)) == 0
    columns = read_ply(out / "map_error.ply")[0]
    assert columns["error_m"][0] > 20.0
    assert columns["error_m"][1:].max() < 1.5
    assert {"red", "green", "blue"} <= columns.keys()


@pytest.mark.parametrize("how", ["-", "--no-reference"])
def test_without_reference_the_sharpness_is_judged(mesh, tmp_path, capsys, how):
    _, points = mesh
    write_cloud(tmp_path / "map.ply", np.vstack([points + 0.02 * k for k in range(12)]))
    code, result = judged(capsys, how, tmp_path / "map.ply", "-o", tmp_path / "out")
    assert code == 0
    assert result["entropy"]["mme"] is not None
    assert faults(result, STATISTICS_SCHEMA) == []
    assert (tmp_path / "out" / "report.html").exists()
    assert judged(capsys, how, tmp_path / "map.ply", "--fail-if", "mme > -1000")[0] == 3


def test_a_reference_is_missed_by_name(tmp_path):
    with pytest.raises(UserError, match="REFERENCE"):
        command.run(parse(tmp_path / "map.ply"))


def test_voxels_are_given_a_floor_by_the_surface_beside_them(mesh, tmp_path, capsys):
    from aerotwin_voxel_cloud import load_surface, voxelise, write_binvox

    path, points = mesh
    surface = load_surface(path)
    write_binvox(tmp_path / "hill.binvox", voxelise(surface.vertices, surface.triangles, 1.0))
    write_cloud(tmp_path / "map.ply", points)
    arguments = (tmp_path / "hill.binvox", tmp_path / "map.ply", "--protocol", quick(tmp_path))
    _, alone = judged(capsys, *arguments)
    _, beside = judged(capsys, *arguments, "--surface", path)
    assert alone["floor"] is None
    assert faults(alone, MAP_SCHEMA) == []
    assert alone["reference"]["voxel_m"] == pytest.approx(1.0)
    assert beside["correspondences"]["mean_m"] == alone["correspondences"]["mean_m"]
    # The same voxels made from the surface itself have the same floor.
    _, made = judged(capsys, path, tmp_path / "map.ply", "--protocol", quick(tmp_path))
    assert beside["floor"]["mean_m"] == pytest.approx(made["floor"]["mean_m"], abs=0.01)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("1 2 3", "16 or 12"), ("a b", "not a table"), ("2 0 0 0 0 2 0 0 0 0 2 0", "--scale")],
)
def test_a_transform_that_is_none_is_refused(mesh, tmp_path, text, arguments):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points)
    (tmp_path / "T.txt").write_text(text)
    with pytest.raises(UserError, match=arguments):
        command.run(parse(path, tmp_path / "map.ply", "--initial", tmp_path / "T.txt"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--camera", 1, 1, 1, 1, 0, 0), "--camera"),
        (("--lidar", -15, 15), "--lidar"),
        (("--range-m", 5), "--range-m"),
        (("--mount", "T.txt"), "--mount"),
        (("--poses", "p", "--lidar", 0, 9, "--camera", 1, 1, 1, 1, 0, 0), "--camera and --lidar"),
        (("--no-reference",), "alone"),
        (("--align", "none", "--scale"), "--scale"),
        (("--align", "none", "--method", "gicp"), "--method"),
        (("--fail-if", "map_rsme_m > 1"), "map_rmse_m"),
    ],
)
def test_options_that_would_be_ignored_are_refused_before_anything_is_read(arguments, named):
    with pytest.raises(UserError, match=named):
        command.run(parse("no_such_reference.obj", "no_such_map.ply", *arguments))


@pytest.mark.parametrize(
    "arguments", [("--align", "icp"), ("--surface", "m.obj"), ("--placed",), ("--cut-m", 1)]
)
def test_without_reference_there_is_nothing_to_align_to(arguments):
    with pytest.raises(UserError, match=f"{arguments[0]} needs a reference"):
        command.run(parse("-", "no_such_map.ply", *arguments))


def test_a_mesh_as_map_is_judged_by_its_surface(mesh, tmp_path, capsys):
    """A slab of two triangles 1 m above a plane hill: its four corners say nothing of it."""
    path, _ = mesh
    corners = [(-10, -10), (10, -10), (10, 10), (-10, 10)]
    lines = [f"v {x} {y} 0.5" for x, y in corners] + ["f 1 2 3", "f 1 3 4"]
    (tmp_path / "map.obj").write_text("\n".join(lines))
    arguments = (path, tmp_path / "map.obj", "--placed", "--protocol", quick(tmp_path))
    _, result = judged(capsys, *arguments)
    assert result["n_points"] == 400 / 0.25**2
    command.run(parse(*arguments))
    assert "6400 samples of its surface" in capsys.readouterr().out


def test_a_map_of_another_scale_starts_with_it(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.xyz", 0.4 * points)
    np.savetxt(tmp_path / "S.txt", np.diag([2.45, 2.45, 2.45, 1.0]))
    arguments = (path, tmp_path / "map.xyz", "--protocol", quick(tmp_path), "--voxel-m", 0.3)
    method = ("--method", "point_to_plane")
    start = ("--scale", "--initial", tmp_path / "S.txt")
    code, result = judged(capsys, *arguments, *method, *start)
    assert code == 0
    assert result["alignment"]["scale"] == pytest.approx(2.5, rel=0.01)
    R = np.array(result["alignment"]["T_reference_estimate"])[:3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-9)


def test_the_cell_of_a_binvox_is_taken_from_its_header(mesh, tmp_path):
    """Cells that do not touch look like a cloud; their file says that they are none."""
    from aerotwin_voxel_cloud import load_map, load_surface, voxelise, write_binvox

    surface = load_surface(mesh[0])
    write_binvox(tmp_path / "hill.binvox", voxelise(surface.vertices, surface.triangles, 0.5))
    provided = load_map(tmp_path / "hill.binvox", unit="cm")
    assert provided.edge_m == pytest.approx(0.005)
    apart = 1.5 * np.stack(np.meshgrid(*[np.arange(6.0)] * 3), axis=-1).reshape(-1, 3)
    assert MapReference.of(None, apart, MapProtocol(), edge_m=0.5).edge_m == 0.5


def test_scans_that_crowd_near_the_lidar_align_when_thinned(shared_data, tmp_path, capsys):
    """A published pair: GICP at 0.25 m lands 0.7 cm and 0.33 deg from the truth (its notes)."""
    folder = shared_data("point_clouds/small_gicp")
    pair = folder / "target.ply", folder / "source.ply", "--method", "gicp"
    assert command.run(parse(*pair)) == 1
    assert "try: thinner clouds (--thin-m)" in capsys.readouterr().out
    assert command.run(parse(*pair, "--thin-m", 0.25, "--json", tmp_path / "m.json")) == 0
    found = json.loads((tmp_path / "m.json").read_text())["alignment"]["T_reference_estimate"]
    truth = np.loadtxt(folder / "T_target_source.txt")
    error = np.linalg.inv(truth) @ np.array(found)
    assert np.linalg.norm(error[:3, 3]) < 0.012
    assert np.degrees(np.arccos((np.trace(error[:3, :3]) - 1.0) / 2.0)) < 0.6


def test_reference_surface_and_map_have_units_of_their_own(mesh, tmp_path, capsys):
    """A model and its voxels in millimetres, a map in feet: as if all were metres."""
    path, points = mesh
    lines = path.read_text().splitlines()
    corners = [1000.0 * float(x) for line in lines if line[0] == "v" for x in line.split()[1:]]
    grown = [f"v {x} {y} {z}" for x, y, z in zip(*[iter(corners)] * 3)]
    (tmp_path / "mm.obj").write_text("\n".join([*grown, *(t for t in lines if t[0] == "f")]))
    np.save(tmp_path / "mm.npy", 1000.0 * points)
    np.save(tmp_path / "m.npy", points)
    np.save(tmp_path / "feet.npy", points / 0.3048)
    quickly = ("--placed", "--protocol", quick(tmp_path))
    _, metres = judged(capsys, tmp_path / "m.npy", tmp_path / "m.npy", "--surface", path, *quickly)
    units = ("--unit", "ft", "--reference-unit", "mm", "--surface-unit", "mm")
    arguments = (tmp_path / "mm.npy", tmp_path / "feet.npy", "--surface", tmp_path / "mm.obj")
    _, found = judged(capsys, *arguments, *units, *quickly)
    # A placed map of its own reference: what is left is the surface's, and rounding.
    assert found["correspondences"]["n"] == metres["correspondences"]["n"] == len(points)
    rmse_m = metres["surface"]["unaligned"]["rmse_m"]
    assert found["surface"]["unaligned"]["rmse_m"] == pytest.approx(rmse_m, rel=1e-6)


def test_a_wrong_unit_is_named_by_its_option(mesh, tmp_path):
    path, points = mesh
    np.save(tmp_path / "m.npy", points)
    with pytest.raises(UserError, match="--reference-unit must be one of"):
        command.run(parse(path, tmp_path / "m.npy", "--reference-unit", "ell"))
    with pytest.raises(UserError, match="--surface-unit is the unit of --surface"):
        command.run(parse(path, tmp_path / "m.npy", "--surface-unit", "mm"))
    with pytest.raises(UserError, match="--reference-unit needs a reference"):
        command.run(parse("-", tmp_path / "m.npy", "--reference-unit", "mm"))


def test_the_scale_has_the_name_of_the_other_verb_too():
    assert parse("a", "b", "--with-scale").scale and parse("a", "b", "--scale").scale
