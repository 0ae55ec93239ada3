# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds as others write them: other orders of columns, other types, other headers."""

import struct

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_registration import read_cloud
from aerotwin_registration.clouds import CLOUD_SUFFIXES
from aerotwin_registration.las_process import read_las
from aerotwin_registration.ply import count_faces, read_ply

FLOAT32 = 1e-5
MILLIMETRE = 1e-3  # the step of the LAS files below
ROUNDING = 1e-9
UTM = np.array([500_000.0, 5_400_000.0, 300.0])


def some_points(n=40):
    return np.random.default_rng(3).uniform(-50, 50, (n, 3))


@pytest.mark.parametrize(("order", "name"), [("<", "little"), (">", "big")])
def test_binary_ply_of_doubles_in_any_order_with_lists_and_faces_is_read(tmp_path, order, name):
    points = some_points()
    head = (
        f"ply\nformat binary_{name}_endian 1.0\ncomment made by hand\nelement vertex 40\n"
        "property double z\nproperty list uchar short tags\nproperty uchar red\n"
        "property double x\nproperty double y\nelement face 2\n"
        "property list uchar float texcoord\nproperty list uchar uint vertex_indices\n"
        "property int texnumber\nend_header\n"
    )
    body = b""
    for k, (x, y, z) in enumerate(points):
        body += struct.pack(f"{order}dB{k % 3}hB2d", z, k % 3, *range(k % 3), 7, x, y)
    body += struct.pack(f"{order}B2fB3Ii", 2, 0.0, 0.5, 3, 0, 1, 2, 0)
    body += struct.pack(f"{order}BB4Ii", 0, 4, 3, 4, 5, 6, 0)
    (tmp_path / "a.ply").write_bytes(head.encode() + body)
    np.testing.assert_array_equal(read_cloud(tmp_path / "a.ply").points, points)
    assert read_ply(tmp_path / "a.ply")[1].tolist() == [[0, 1, 2], [3, 4, 5], [3, 5, 6]]
    assert count_faces(tmp_path / "a.ply") == 2


def test_a_ply_that_holds_more_than_it_counts_is_refused(tmp_path):
    head = "ply\nformat ascii 1.0\nelement vertex 1\n"
    head += "".join(f"property float {axis}\n" for axis in "xyz") + "end_header\n"
    (tmp_path / "a.ply").write_text(head + "0 0 0\n1 1 1\n")
    with pytest.raises(UserError, match="5 bytes follow its last element"):
        read_cloud(tmp_path / "a.ply")


@pytest.mark.parametrize("mode", ["ascii", "binary"])
def test_pcd_fields_of_any_order_size_and_count_are_read(tmp_path, mode):
    points = some_points()
    head = (
        "VERSION .7\nFIELDS histogram z _ y x intensity\nSIZE 4 8 1 8 8 2\nTYPE F F U F F U\n"
        f"COUNT 3 1 4 1 1 1\nWIDTH 20\nHEIGHT 2\nPOINTS 40\nDATA {mode}\n"
    )
    rows = [(0.5, 1.5, 2.5, z, 1, 2, 3, 4, y, x, k) for k, (x, y, z) in enumerate(points)]
    if mode == "ascii":
        body = "\n".join(" ".join(map(repr, map(float, row))) for row in rows).encode()
    else:
        body = b"".join(struct.pack("<3fd4B2dH", *row) for row in rows)
    (tmp_path / "a.pcd").write_bytes(head.encode() + body)
    cloud = read_cloud(tmp_path / "a.pcd")
    np.testing.assert_array_equal(cloud.points, points)
    np.testing.assert_array_equal(cloud.intensity, np.arange(40))


def test_packed_pcd_with_repeats_is_read_as_open3d_reads_it(tmp_path):
    o3d = pytest.importorskip("open3d")
    points = np.tile(some_points(5), (400, 1))  # LZF finds much to refer to
    path = tmp_path / "a.pcd"
    theirs = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points))
    assert o3d.io.write_point_cloud(str(path), theirs, compressed=True)
    assert path.stat().st_size < 2 * points.size
    np.testing.assert_allclose(read_cloud(path).points, points, atol=FLOAT32)


@pytest.mark.parametrize(
    "change",
    [
        ("WIDTH 20", "WIDTH 21"),
        ("POINTS 40", "POINTS 41"),
        ("TYPE F", "TYPE X"),
        ("SIZE 8", "SIZE 3"),
    ],
)
def test_pcd_headers_that_contradict_themselves_are_refused(tmp_path, change):
    head = (
        "FIELDS x y z\nSIZE 8 8 8\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 20\nHEIGHT 2\nPOINTS 40\n"
        "DATA binary\n"
    )
    (tmp_path / "a.pcd").write_bytes(head.replace(*change).encode() + bytes(960))
    with pytest.raises(UserError, match="damaged PCD file"):
        read_cloud(tmp_path / "a.pcd")


TEXTS = {
    "blanks": "1 2 3\n4 5 6\n",
    "commas": "1,2,3\n4,5,6\n",
    "commas at the end": "1,2,3,\n4,5,6,\n",
    "names in another order": "time,z,y,x,i\n9,3,2,1,7\n9,6,5,4,8\n",
    "names in a comment": "# z y x\n3 2 1\n6 5 4\n",
    "names of CloudCompare": "//X Y Z Intensity\n1 2 3 7\n4 5 6 8\n",
    "names without x": "East North Up\n1 2 3\n4 5 6\n",
    "count first (PTS)": "2\n1 2 3 100\n4 5 6 100\n",
    "decimal commas": "1,0;2,0;3,0\n4,0;5,0;6,0\n",
    "a mark of UTF-8 and ends of Windows": "\ufeff1 2 3\r\n4 5 6\r\n",
    "blanks around commas": "x,y,z,nx,ny,nz\n1 , 2 , 3 , 0,0,1\n4 , 5 , 6 , 0,0,1\n",
    "comments between": "# a cloud\n1 2 3\n\n# more\n4 5 6\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_many_habits_is_read(tmp_path, name):
    path = tmp_path / "a.txt"
    path.write_text(TEXTS[name], encoding="utf-8", newline="")
    cloud = read_cloud(path)
    assert cloud.points.tolist() == [[1, 2, 3], [4, 5, 6]]
    if "i\n" in TEXTS[name] or "Intensity" in TEXTS[name]:
        assert cloud.intensity.tolist() == [7, 8]


@pytest.mark.parametrize(
    "text", ["", "# only words\n", "1 2\n3 4\n", "1 2 3\n4 5\n", "1 2 3\n4 x 6\n", "1 2 3\n4,5,6\n"]
)
def test_text_that_is_no_table_is_refused(tmp_path, text):
    (tmp_path / "a.xyz").write_text(text)
    with pytest.raises(UserError, match=r"a\.xyz: not a table of x y z"):
        read_cloud(tmp_path / "a.xyz")


def test_arrays_with_fields_and_of_other_names_are_read(tmp_path):
    points = some_points()
    table = np.zeros(40, dtype=[("i", "u1"), ("z", "f8"), ("x", "f8"), ("y", "f8")])
    for k, axis in enumerate("xyz"):
        table[axis] = points[:, k]
    np.save(tmp_path / "a.npy", table.reshape(8, 5))
    np.savez(tmp_path / "b.npz", other=np.eye(2), xyz=points)
    for name in ("a.npy", "b.npz"):
        np.testing.assert_array_equal(read_cloud(tmp_path / name).points, points)


def npy(shape: str, body: bytes, kind: str = "<f8") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body


@pytest.mark.parametrize(
    "data",
    [
        npy("(1000000000000, 3)", bytes(24)),
        npy("(-1, 3)", bytes(24)),
        npy("(1, 3)", bytes(24), kind="|O"),
        npy("(" * 3000 + ")" * 3000, bytes(24)),
        b"\x93NUMPY\x07\x00",
    ],
)
def test_a_numpy_header_that_lies_takes_no_memory(tmp_path, data):
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.raises(UserError, match=r"a\.npy: damaged NumPy file"):
        read_cloud(tmp_path / "a.npy")


@pytest.fixture
def las_file(tmp_path):
    """Return a function that writes points as LAS or LAZ, with records of the coordinate system."""
    laspy = pytest.importorskip("laspy")

    def write(points, suffix=".las", records=(), version="1.4", point_format=6):
        header = laspy.LasHeader(point_format=point_format, version=version)
        header.offsets, header.scales = np.floor(points.min(axis=0)), np.full(3, 0.001)
        for number, data in records:
            header.vlrs.append(laspy.VLR("LASF_Projection", number, "", data))
        las = laspy.LasData(header)
        las.x, las.y, las.z = points.T
        las.intensity = np.arange(len(points))
        las.write(tmp_path / f"a{suffix}")
        return tmp_path / f"a{suffix}"

    return write


@pytest.mark.parametrize("suffix", [".las", ".laz"])
@pytest.mark.parametrize(("version", "point_format"), [("1.2", 3), ("1.4", 6)])
def test_las_keeps_millimetres_of_large_coordinates(las_file, suffix, version, point_format):
    points = UTM + some_points()
    path = las_file(points, suffix, version=version, point_format=point_format)
    cloud = read_cloud(path)
    np.testing.assert_allclose(cloud.points, points, atol=MILLIMETRE)
    np.testing.assert_array_equal(cloud.intensity, np.arange(40))
    assert (cloud.frame, cloud.metres_per_unit, cloud.notes) == ("", None, ())


def geo_keys(*keys: tuple[int, int]) -> tuple[int, bytes]:
    values = [1, 1, 0, len(keys), *(v for key, value in keys for v in (key, 0, 1, value))]
    return 34735, struct.pack(f"<{len(values)}H", *values)


WKT = (
    'COMPD_CS["a",PROJCS["WGS 84 / UTM zone 33N",GEOGCS["WGS 84",DATUM["W",SPHEROID["WGS 84",'
    '6378137,298.257]],UNIT["degree",0.01745],AUTHORITY["EPSG","4326"]],UNIT["{unit}",{metres}],'
    'AUTHORITY["EPSG","32633"]],VERT_CS["h",UNIT["metre",1],AUTHORITY["EPSG","5783"]]]'
)


@pytest.mark.parametrize(
    ("record", "name", "metres"),
    [
        (geo_keys((1024, 1), (3072, 32633), (3076, 9001)), "EPSG:32633", 1.0),
        (geo_keys((3072, 2228), (3076, 9003)), "EPSG:2228", 1200 / 3937),
        ((2112, WKT.format(unit="metre", metres=1).encode()), "EPSG:32633", 1.0),
        ((2112, WKT.format(unit="foot", metres=0.3048).encode()), "EPSG:32633", 0.3048),
        ((2112, b'PROJCS["Campus grid"]\x00'), "Campus grid", None),
        # Codes of parts, the unit's the last of all, are not the system's.
        (
            (
                2112,
                b'PROJCS["Feet [local]",GEOGCS["NAD83",UNIT["degree",0.1,AUTHORITY["EPSG","9122"]],'
                b'AUTHORITY["EPSG","4269"]],UNIT["foot",0.3048,AUTHORITY["EPSG","9002"]]]',
            ),
            "Feet [local]",
            0.3048,
        ),
        (
            (
                2112,
                b'COMPOUNDCRS["c",PROJCRS["p",BASEGEOGCRS["NAD83",ID["EPSG",4269]],CONVERSION["v",'
                b'ID["EPSG",15307]],LENGTHUNIT["foot",0.3048,ID["EPSG",9002]],ID["EPSG",2225]],'
                b'VERTCRS["z",LENGTHUNIT["metre",1,ID["EPSG",9001]],ID["EPSG",5703]]]',
            ),
            "EPSG:2225",
            0.3048,
        ),
    ],
)
def test_the_coordinate_system_of_las_is_reported(las_file, record, name, metres):
    path = las_file(some_points(), records=[record])
    cloud = read_cloud(path)
    assert cloud.frame == name
    assert cloud.metres_per_unit == (None if metres is None else pytest.approx(metres))
    assert read_las(path).system.name == name


@pytest.mark.parametrize("record", [geo_keys((2048, 4326)), (2112, b'GEOGCS["WGS 84"]')])
def test_las_in_degrees_is_refused(las_file, record):
    with pytest.raises(UserError, match="its coordinates are degrees"):
        read_cloud(las_file(some_points(), records=[record]))


@pytest.mark.parametrize("suffix", [".las", ".laz"])
def test_a_las_that_is_cut_or_counts_too_much_is_refused(las_file, suffix):
    path = las_file(some_points(2000), suffix)
    data = path.read_bytes()
    for keep in (50, 300, len(data) // 2):
        path.write_bytes(data[:keep])
        with pytest.raises(UserError, match=path.name):
            read_cloud(path)
    path.write_bytes(data[:247] + struct.pack("<Q", 1 << 40) + data[255:])  # LAS 1.4's count
    with pytest.raises(UserError, match=path.name):
        read_cloud(path)


@pytest.mark.parametrize(("place", "kind"), [(100, "<I"), (243, "<I")])
def test_a_las_that_names_too_many_records_is_refused_at_once(las_file, place, kind):
    path = las_file(some_points())
    data = bytearray(path.read_bytes())
    struct.pack_into(kind, data, place, 1 << 30)
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"its header names 1073741824 (extended )?records"):
        read_cloud(path)


def test_a_las_with_points_outside_of_its_own_box_says_so(las_file):
    path = las_file(some_points())
    data = bytearray(path.read_bytes())
    data[179:187] = struct.pack("<d", 10.0)  # max x
    path.write_bytes(data)
    assert "x spans" in read_cloud(path).notes[0]


def test_floats_without_a_header_are_read_only_on_request(tmp_path, shared_data):
    points = np.column_stack([some_points(), np.arange(40)]).astype("<f4")
    (tmp_path / "a.bin").write_bytes(points.tobytes())
    cloud = read_cloud(tmp_path / "a.bin", bin_columns="xyzi")
    np.testing.assert_array_equal(cloud.points, points[:, :3])
    np.testing.assert_array_equal(cloud.intensity, points[:, 3])
    with pytest.raises(UserError, match="say what its float32 columns are"):
        read_cloud(tmp_path / "a.bin")
    with pytest.raises(UserError, match="no whole number of points"):
        read_cloud(tmp_path / "a.bin", bin_columns="xyzita")
    with pytest.raises(UserError, match="letters with x, y and z"):
        read_cloud(tmp_path / "a.bin", bin_columns="xyy")
    for number, n in enumerate((25_109, 20_061, 24_649)):
        for kind in ("raw", "deskewed"):
            path = shared_data(f"point_clouds/gtsam_points/newer_06/{kind}_0{number}.bin")
            assert len(read_cloud(path, bin_columns="xyz")) == n


def test_points_that_are_no_numbers_are_dropped_only_when_asked(tmp_path):
    points = some_points()
    points[[3, 7], 1] = np.nan, np.inf
    np.savez(tmp_path / "a.npz", points=points, intensity=np.arange(40.0))
    with pytest.raises(UserError, match=r"2 of 40 points are NaN or infinite; .*--drop-invalid"):
        read_cloud(tmp_path / "a.npz")
    cloud = read_cloud(tmp_path / "a.npz", drop_invalid=True)
    np.testing.assert_array_equal(cloud.points, np.delete(points, [3, 7], axis=0))
    assert cloud.intensity.tolist() == [k for k in range(40) if k not in (3, 7)]
    assert cloud.notes == ("2 of 40 points are NaN or infinite; they are left out",)
    np.savez(tmp_path / "b.npz", points=np.full((3, 3), np.nan))
    with pytest.raises(UserError, match="all of its 3 points"):
        read_cloud(tmp_path / "b.npz", drop_invalid=True)


def test_every_scan_of_the_lounge_is_read(shared_data):
    folder = shared_data("point_clouds/balm_hku_lounge")
    counts = [len(read_cloud(path)) for path in sorted(folder.glob("scan_*.npy"))]
    assert (len(counts), sum(counts), min(counts), max(counts)) == (23, 456_714, 16_649, 22_441)


def test_the_suffixes_that_are_named_are_known(tmp_path):
    for suffix in CLOUD_SUFFIXES:
        (tmp_path / f"a{suffix}").write_bytes(b"")
        with pytest.raises(UserError, match=rf"a\{suffix}") as error:
            read_cloud(tmp_path / f"a{suffix}")
        assert "unknown cloud format" not in str(error.value)


# Bags ---------------------------------------------------------------------------------------------
