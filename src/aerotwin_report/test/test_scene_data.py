# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a page carries of a scene: thinned, on a lattice, packed; and its still picture."""

import base64
import io
import json
import re
import zlib

import numpy as np
import pytest
from matplotlib.image import imread

from aerotwin_report import PathLayer, PointLayer, ReportScene, Section, write_report
from aerotwin_report.scene_data import (
    FINEST_M,
    LATTICE,
    MAX_PATH_POINTS,
    NOT_JUDGED,
    VALUE_STEPS,
    lattice_of,
    morton_codes,
    pack,
    scene_document,
    shares,
    thin,
    thinned_scenes,
    value_codes,
)
from aerotwin_report.still import HEIGHT_PX, WIDTH_PX, still_picture

ROUNDING = 1e-9
# Five standard deviations of the mean of n uniform numbers of width 1.
MEAN_ERROR = 5.0 / np.sqrt(12.0)


def slow_morton(cell):
    code = 0
    for bit in range(16):
        for axis in range(3):
            code |= ((int(cell[axis]) >> bit) & 1) << (3 * bit + axis)
    return code


def unpacked(data, n):
    """Undo `pack` in the obvious way."""
    planes = np.frombuffer(zlib.decompress(data), dtype=np.uint8).reshape(-1, n).astype(int)
    columns = []
    for low, high in zip(planes[::2], planes[1::2]):
        code, column = 0, []
        for folded in low + 256 * high:
            step = folded // 2 if folded % 2 == 0 else -(folded + 1) // 2
            code = (code + step) % 65536
            column.append(code)
        columns.append(column)
    return np.array(columns)


def cloud(n, seed=1000):
    return np.random.default_rng(seed).uniform([-50.0, 10.0, 0.0], [70.0, 90.0, 30.0], (n, 3))


def test_codes_along_mortons_curve():
    cells = np.random.default_rng(1000).integers(0, LATTICE + 1, (200, 3))
    assert morton_codes(cells).tolist() == [slow_morton(cell) for cell in cells]


def test_a_lattice_spans_the_cloud_and_is_no_finer_than_asked():
    points = cloud(500)
    low, step = lattice_of(points, FINEST_M)
    cells = (points - low) / step
    assert cells.min() >= 0.0
    assert cells.max() <= LATTICE + ROUNDING
    assert lattice_of(points * 1e-4, FINEST_M)[1] == FINEST_M


def test_few_points_are_all_retained_and_many_fill_the_budget():
    codes = morton_codes(np.random.default_rng(1001).integers(0, LATTICE + 1, (5000, 3)))
    assert sorted(thin(codes, 5000)) == list(range(5000))
    for budget in (0, 1, 777, 4999):
        retained = thin(codes, budget)
        assert len(retained) == len(set(retained.tolist())) == budget
        assert (np.diff(codes[retained].astype(np.int64)) >= 0).all()
        assert np.array_equal(retained, thin(codes, budget))


def test_every_occupied_cell_keeps_a_point():
    rng = np.random.default_rng(1002)
    # 64 cells of 2^13 steps, most points in one of them.
    corners = np.array(np.meshgrid(*[np.arange(4)] * 3)).reshape(3, -1).T << 13
    crowd = np.vstack([corners[np.zeros(20_000, dtype=int)], corners])
    cells = crowd + rng.integers(0, 2**13, crowd.shape)
    retained = thin(morton_codes(cells), 100)
    assert len({tuple(cell) for cell in cells[retained] >> 13}) == 64


def test_thinning_prefers_no_corner_of_a_cell():
    rng = np.random.default_rng(1003)
    cells = rng.integers(0, 2**12, (40_000, 3))
    retained = cells[thin(morton_codes(cells), 512)]  # 8 x 8 x 8 cells of 2^9 steps
    offset = (retained % 2**9) / 2.0**9 - 0.5
    assert np.abs(offset.mean(axis=0)).max() < MEAN_ERROR / np.sqrt(len(retained))


def test_points_in_one_place_are_thinned_too():
    assert len(thin(np.zeros(100, dtype=np.uint64), 10)) == 10


def test_a_budget_is_shared_by_need():
    assert shares([], 5) == []
    assert shares([3, 3], 10) == [3, 3]
    assert shares([1000, 10, 1000], 100) == [45, 10, 45]
    assert sum(shares([7, 100, 33, 100], 101)) == 101


def test_packed_columns_come_back():
    rng = np.random.default_rng(1004)
    columns = [rng.integers(0, 65536, 300).astype(np.uint16) for _ in range(3)]
    columns += [np.array([0, 65535] * 150, dtype=np.uint16)]
    assert np.array_equal(unpacked(pack(columns), 300), np.array(columns))


def test_values_come_back_within_half_a_step():
    values = np.append(np.random.default_rng(1005).exponential(0.1, 1000), [np.nan, 40.0])
    codes, low, step = value_codes(values, (0.0, 0.3))
    judged = np.isfinite(values)
    assert np.abs(low + codes[judged] * step - values[judged]).max() <= step / 2 + ROUNDING
    assert codes[~judged].tolist() == [NOT_JUDGED]
    assert step <= 40.0 / (NOT_JUDGED - 1)
    assert value_codes(np.array([0.0, 1e-9]), (0.0, 1.0))[2] == 1.0 / VALUE_STEPS
    assert value_codes(np.full(2, np.nan), (0.0, 1.0))[0].tolist() == [NOT_JUDGED] * 2


def test_a_scene_comes_back_from_the_page(tmp_path):
    points, values = cloud(400) + np.array([5e5, 4e6, 100.0]), np.linspace(0.0, 1.0, 400)
    scene = ReportScene(
        title="</script><b>",
        layers=(
            PointLayer(name="map", points_map=points, values=values, unit="m"),
            PathLayer(name="path", points_map=points[:7]),
        ),
    )
    section = Section(title="A", name="a", scenes=(scene,))
    page = write_report(tmp_path, title="x", sections=[section], configuration={}).read_text()
    text = re.search(r'class="scene-data">(.*?)</script>', page)[1]
    document = json.loads(text)
    assert document["title"] == scene.title
    layer = document["layers"][0]
    columns = unpacked(base64.b64decode(layer["data"]), layer["n"])
    found = columns[:3].T * layer["step_m"] + layer["low_m"] + document["origin_m"]
    apart = np.linalg.norm(found[:, None] - points[None], axis=2)
    which = apart.argmin(axis=1)
    assert apart.min(axis=1).max() <= layer["step_m"] * np.sqrt(3.0) / 2.0 + ROUNDING
    assert sorted(which.tolist()) == list(range(400))
    value = layer["values"]
    assert np.abs(value["low"] + columns[3] * value["step"] - values[which]).max() < value["step"]
    path = document["layers"][1]
    assert path["kind"] == "path"
    along = unpacked(base64.b64decode(path["data"]), 7).T * path["step_m"] + path["low_m"]
    assert np.abs(along + document["origin_m"] - points[:7]).max() <= path["step_m"]


def test_scenes_of_a_page_share_its_budget_and_paths_are_thinned():
    layers = [PointLayer(name=str(k), points_map=cloud(n)) for k, n in enumerate((100, 5000, 5000))]
    path = PathLayer(name="path", points_map=cloud(9000))
    scenes = [ReportScene(title="a", layers=(layers[0], layers[1], path))]
    scenes += [ReportScene(title="b", layers=(layers[2],))]
    counts = [[len(part.which) for part in shown] for shown in thinned_scenes(scenes, 1100)]
    assert counts == [[100, 500, MAX_PATH_POINTS], [500]]
    path_kept = thinned_scenes(scenes, 1100)[0][2].which
    assert path_kept[[0, -1]].tolist() == [0, 8999]


def test_a_point_far_from_all_others_is_left_out_and_said(tmp_path):
    points = np.vstack([cloud(2000), [[1e6, 0.0, 0.0], [0.0, -1e6, 0.0]]])
    scene = ReportScene(title="a", layers=(PointLayer(name="map", points_map=points),))
    shown = thinned_scenes([scene])[0]
    assert sorted(shown[0].which.tolist()) == list(range(2000))
    assert scene_document(scene, shown)["layers"][0]["step_m"] < 0.01
    section = Section(title="A", name="a", scenes=(scene,))
    page = write_report(tmp_path, title="x", sections=[section], configuration={}).read_text()
    assert "map: 2,000 of 2,002 points shown, 2 far from all others left out" in page


def test_a_layer_without_points_is_left_out_of_the_view():
    empty = PointLayer(name="none", points_map=np.zeros((0, 3)), values=np.zeros(0))
    scene = ReportScene(title="a", layers=(empty,))
    shown = thinned_scenes([scene])[0]
    assert scene_document(scene, shown)["layers"] == []
    assert still_picture(shown).startswith(b"\x89PNG")


def picture_of(*layers):
    scene = ReportScene(title="a", layers=layers)
    return imread(io.BytesIO(still_picture(thinned_scenes([scene])[0])))


def test_a_still_picture_shows_points_in_their_colours_on_nothing():
    corners = np.array([[x, y, 0.0] for x in (0.0, 10.0) for y in (0.0, 10.0)])
    picture = picture_of(PointLayer(name="a", points_map=corners, colour="#ff0000"))
    assert picture.shape == (HEIGHT_PX, WIDTH_PX, 4)
    drawn = picture[..., 3] > 0
    assert 4 <= drawn.sum() <= 4 * 16
    assert np.allclose(picture[drawn], [1.0, 0.0, 0.0, 1.0])
    # From the south-west: the south-western corner is the lowest, the north-eastern the highest.
    rows = np.flatnonzero(drawn.any(axis=1))
    assert rows[0] < HEIGHT_PX / 2 < rows[-1]


def test_what_is_near_hides_what_is_far_in_a_still_picture():
    x, z = np.meshgrid(np.linspace(0, 10, 400), np.linspace(0, 10, 400))
    walls = [np.column_stack([x.ravel(), np.full(x.size, y), z.ravel()]) for y in (0.0, 0.5)]
    picture = picture_of(
        PointLayer(name="south", points_map=walls[0], colour="#ff0000"),
        PointLayer(name="north", points_map=walls[1], colour="#0000ff"),
    )
    middle = picture[HEIGHT_PX // 2 - 60 : HEIGHT_PX // 2 + 60, WIDTH_PX // 2]
    assert (middle[:, 0] > 0.9).mean() > 0.95


@pytest.mark.parametrize("values", [[0.0, 1.0], [np.nan, np.nan]])
def test_a_path_is_drawn_without_gaps(values):
    path = PathLayer(
        name="a", points_map=[[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]], values=np.array(values)
    )
    drawn = picture_of(path)[..., 3] > 0
    columns = np.flatnonzero(drawn.any(axis=0))
    assert len(columns) == columns[-1] - columns[0] + 1
    assert len(columns) > WIDTH_PX * 0.9


def test_layers_that_are_off_are_not_in_the_still_picture():
    layer = PointLayer(name="a", points_map=cloud(100), is_shown=False)
    assert not (picture_of(layer)[..., 3] > 0).any()
