# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_registration import read_cloud, voxel_downsample, write_cloud
from aerotwin_registration.pcd import _lzf_decompress
from aerotwin_registration.ply import read_ply

FLOAT32 = 1e-5  # coordinates below 100 m kept as float32
TEXT = 1e-6  # six decimals
SIX_DIGITS = 1e-4  # Open3D writes text with six significant digits


def some_points(n=50):
    rng = np.random.default_rng(2)
    return rng.uniform(-50, 50, (n, 3)), rng.uniform(0, 1, n)


@pytest.mark.parametrize(
    ("suffix", "tolerance"), [(".ply", FLOAT32), (".pcd", FLOAT32), (".xyz", TEXT), (".npz", 0.0)]
)
def test_what_is_written_is_read_back(tmp_path, suffix, tolerance):
    points, intensity = some_points()
    path = tmp_path / f"cloud{suffix}"
    write_cloud(path, points, intensity)
    cloud = read_cloud(path)
    np.testing.assert_allclose(cloud.points, points, atol=tolerance)
    np.testing.assert_allclose(cloud.intensity, intensity, atol=1e-6)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".ply", ".pcd"])
def test_open3d_reads_what_is_written_and_the_other_way_round(tmp_path, suffix):
    o3d = pytest.importorskip("open3d")
    points, _ = some_points()
    write_cloud(tmp_path / f"ours{suffix}", points)
    theirs = o3d.io.read_point_cloud(str(tmp_path / f"ours{suffix}"))
    np.testing.assert_allclose(np.asarray(theirs.points), points, atol=FLOAT32)
    for name, options in {
        "ascii": {"write_ascii": True},
        "packed": {"compressed": True},
        "binary": {},
    }.items():
        path = tmp_path / f"{name}{suffix}"
        assert o3d.io.write_point_cloud(str(path), theirs, **options)
        np.testing.assert_allclose(read_cloud(path).points, points, atol=SIX_DIGITS)


def test_ply_polygons_become_triangles(tmp_path):
    path = tmp_path / "quad.ply"
    path.write_text(
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
        "property float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 2\n"
    )
    _, triangles = read_ply(path)
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 2]]


def test_lzf_back_references_repeat():
    # 0x02 = three literals; 0xA0,0x02: length 5+2, offset 3
    assert _lzf_decompress(b"\x02abc\xa0\x02", 10) == b"abcabcabca"


@pytest.mark.parametrize("suffix", [".ply", ".pcd", ".npz"])
def test_a_cut_file_is_refused_in_words(tmp_path, suffix):
    points, intensity = some_points(2000)
    path = tmp_path / f"cloud{suffix}"
    write_cloud(path, points, intensity)
    data = path.read_bytes()
    for keep in (0, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:keep])
        with pytest.raises(UserError, match=path.name):
            read_cloud(path)


def test_a_header_that_promises_more_than_the_file_holds_is_refused(tmp_path):
    path = tmp_path / "huge.ply"
    path.write_bytes(
        b"ply\nformat binary_little_endian 1.0\nelement vertex 99999999999\nproperty float x\n"
        b"property float y\nproperty float z\nend_header\n"
    )
    with pytest.raises(UserError, match="damaged"):
        read_cloud(path)


def test_nan_empty_missing_and_unknown_are_refused(tmp_path):
    np.savez(tmp_path / "nan.npz", points=np.array([[0, 0, np.nan]]))
    np.savez(tmp_path / "empty.npz", points=np.empty((0, 3)))
    (tmp_path / "cloud.docx").write_text("x")
    for name, tokens in {
        "nan.npz": "1 of 1 points are NaN",
        "empty.npz": "empty",
        "cloud.docx": "unknown cloud format",
        "none.ply": "no such file",
    }.items():
        with pytest.raises(UserError, match=tokens):
            read_cloud(tmp_path / name)


def test_pickled_arrays_are_not_opened(tmp_path):
    np.save(tmp_path / "evil.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(UserError, match="damaged"):
        read_cloud(tmp_path / "evil.npy")


def test_real_files_have_the_stated_number_of_points(shared_data):
    folder = shared_data("point_clouds")
    assert len(read_cloud(folder / "small_gicp/target.ply")) == 69_088
    assert len(read_cloud(folder / "libpointmatcher/car_cloud400.csv")) == 24_989
    assert len(read_cloud(folder / "libpointmatcher/car_cloud401.csv")) == 25_193


def test_voxel_means_equal_the_slow_way():
    points, _ = some_points(400)
    expected = {}
    for p in points:
        expected.setdefault(tuple(np.floor(p / 20.0)), []).append(p)
    slow = np.array([np.mean(v, axis=0) for _, v in sorted(expected.items())])
    np.testing.assert_allclose(voxel_downsample(points, 20.0), slow, atol=1e-12)


def test_a_point_far_off_changes_no_voxel_of_the_others():
    points = np.random.default_rng(1).uniform(-5.0, 5.0, (3000, 3))
    near = voxel_downsample(points, 0.1)
    far = np.array([[1e7, -1e7, 3e7]])
    assert voxel_downsample(points, 0.1).shape == near.shape
    # Sorted by voxel: the one far along x is the last.
    np.testing.assert_array_equal(
        voxel_downsample(np.vstack([far, points]), 0.1), np.vstack([near, far])
    )
