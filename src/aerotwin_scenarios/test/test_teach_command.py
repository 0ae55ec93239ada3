# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin teach` and `aerotwin teach info`, run as a user would."""

import json
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_registration import write_cloud
from aerotwin_scenarios.world_routes import route_of_world
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.teaching import load_route, smooth_waypoints

CONFIG = Path(__file__).resolve().parents[3] / "config" / "routes"
ROAD_STEP_M = 0.5
"""Points of a generated road stand so far apart."""
LOOP = """
name: yard
is_closed: true
waypoints_m: [[6, 0], [0, 6], [-6, 0], [0, -6]]
markers_s_m: [10, 30]
"""


def yard(*, with_post: bool = False) -> np.ndarray:
    """A floor of 30 m with a house beside the route, and if wanted a post on it."""
    rng = np.random.default_rng(4)
    floor = np.column_stack([rng.uniform(-15, 15, (40_000, 2)), np.zeros(40_000)])
    wall = np.column_stack([rng.uniform(9, 14, 4000), np.full(4000, 9.0), rng.uniform(0, 5, 4000)])
    side = np.column_stack([np.full(4000, 9.0), rng.uniform(9, 14, 4000), rng.uniform(0, 5, 4000)])
    post = np.column_stack([np.full(20, 0.0), np.full(20, 6.0), np.linspace(0.1, 2, 20)])
    return np.concatenate([floor, wall, side, post] if with_post else [floor, wall, side])


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_cloud("yard.ply", yard())
    write_cloud("post.ply", yard(with_post=True))
    Path("loop.yaml").write_text(LOOP)
    Path("small.yaml").write_text("submaps: {radius_m: 10.0}")
    return tmp_path


def teach(*arguments: str) -> int:
    return main(["teach", *arguments, "--parameters", "small.yaml"])


def test_a_route_through_a_cloud_is_taught(work, capsys):
    assert teach("yard.ply", "--route", "loop.yaml", "-o", "g", "--json", "r.json") == 0
    said = capsys.readouterr().out
    assert "passable on 100.0%" in said
    assert Path("g.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(Path("r.json").read_text())
    graph = RouteGraph.load("g")
    assert found["n_vertices"] == len(graph)
    assert found["length_m"] == pytest.approx(graph.length_m(), rel=1e-3)
    assert [row["s_m"] for row in found["markers"]] == [10, 30]
    assert graph.about["markers_s_m"] == [10, 30]
    assert graph.about["route"]["name"] == "yard"
    # The markers stand on the path.
    for row in found["markers"]:
        gaps = graph.poses_map()[:, :2, 3] - [row["x_m"], row["y_m"]]
        assert np.linalg.norm(gaps, axis=1).min() < 0.16


def test_a_route_that_is_blocked_is_refused_written_anyway_or_led_round(work, capsys):
    asked = ("post.ply", "--route", "loop.yaml", "-o", "g", "--no-picture")
    assert teach(*asked) == 1
    assert "clearance" in capsys.readouterr().out
    assert not Path("g").exists()
    assert teach(*asked, "--anyway", "--json", "r.json") == 1
    assert json.loads(Path("r.json").read_text())["traversability"]["passable_share"] < 1.0
    assert len(RouteGraph.load("g")) > 100
    assert teach(*asked, "--avoid-m", "3", "--write-route", "round.yaml") == 0
    gaps = load_route("round.yaml").waypoints - [0.0, 6.0]
    assert np.linalg.norm(gaps, axis=1).min() > 0.69


def test_what_was_written_for_the_wrapper_is_taught_again(work):
    assert teach("yard.ply", "--route", "loop.yaml", "-o", "g", "--write-vtr", "vtr") == 0
    asked = ("vtr/cloud.ply", "--route", "vtr/relative_transforms.csv", "-o", "h")
    assert teach(*asked, "--no-picture", "--submap-format", "ply") == 0
    first, second = RouteGraph.load("g"), RouteGraph.load("h")
    assert len(first) == len(second)
    # Both are cut evenly; the second from the chords of the first.
    assert np.abs(first.poses_map() - second.poses_map()).max() < 0.02


def test_a_driven_path_is_laid_onto_the_ground(work):
    turn = np.linspace(0.0, 3.0, 60)
    rows = [f"{k} {6 * np.cos(a)} {6 * np.sin(a)} 1.5 0 0 0 1" for k, a in enumerate(turn)]
    Path("drive.tum").write_text("\n".join(rows))
    asked = ("yard.ply", "--route", "drive.tum", "--on-ground", "-o", "g", "--no-picture")
    assert teach(*asked) == 0
    assert np.abs(RouteGraph.load("g").poses_map()[:, 2, 3]).max() < 1e-6


def test_info_describes_a_graph_and_finds_what_is_damaged(work, capsys):
    assert teach("yard.ply", "--route", "loop.yaml", "-o", "g", "--no-picture") == 0
    capsys.readouterr()
    assert main(["teach", "info", "g", "--route", "0", "20", "--json", "i.json"]) == 0
    assert "run 0: vertex 0 to" in capsys.readouterr().out
    found = json.loads(Path("i.json").read_text())
    assert found["route"]["ids"] == list(range(21))
    assert found["n_damaged"] == 0
    submap = next(Path("g/submaps").iterdir())
    submap.write_bytes(submap.read_bytes()[:-1])
    assert main(["teach", "info", "g"]) == 1
    assert "1 damaged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none.ply", "--route", "loop.yaml"], "no such file"),
        (["yard.ply"], "has no route of its own"),
        (["yard.ply", "--route", "none.tum"], "none.tum"),
        (["yard.ply", "--route", "loop.yaml", "--avoid-m", "-1"], "--avoid-m must be"),
        (["yard.ply", "--route", "loop.yaml", "--picture", "a.jpg"], "is a .png file"),
    ],
)
def test_bad_calls_end_with_one_line(work, capsys, arguments, reason):
    assert teach(*arguments, "-o", "g") == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("seed", [7, 1000, 1003])
@pytest.mark.parametrize(("name", "length_m"), [("campus", 300.0), ("route", 998.0)])
def test_a_world_s_route_lies_on_its_road(name, length_m, seed):
    from aerotwin_generated_worlds.campus import campus_road
    from aerotwin_generated_worlds.route import route_road

    route = route_of_world(f"{name}@{seed}")
    path = smooth_waypoints(route.waypoints, is_closed=route.is_closed)
    road = {"campus": campus_road, "route": route_road}[name](seed)
    assert path.length_m == pytest.approx(length_m, abs=0.2)
    assert road.nearest(*path.points_m.T)[0].max() < ROAD_STEP_M / 2.0 + 0.1
    assert len(route.markers_s_m) == round(length_m / 25.0)


@pytest.mark.parametrize("name", ["campus", "route"])
def test_the_route_files_are_those_of_the_default_seed(name):
    assert load_route(CONFIG / f"{name}.yaml") == route_of_world(name)


def test_a_world_without_a_route_says_so():
    with pytest.raises(UserError, match="stadium: has no route of its own"):
        route_of_world("stadium")
