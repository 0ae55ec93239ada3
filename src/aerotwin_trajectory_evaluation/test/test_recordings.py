# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings: ULog files written here by the format's description, CSV, poses, and real files."""

import struct
from math import cos, pi, radians, sin
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_trajectory_evaluation import read_recording

DIGIT_1E7_DEG_M = 0.012
FLOAT32 = 1e-5
PX4_RADIUS_M = 6371000.0
N = 50
T_US = [1_000_000 + 100_000 * k for k in range(N)]
_CODES = {"uint64_t": "Q", "float": "f", "double": "d", "uint8_t": "B", "int32_t": "i"}


def _message(kind: str, body: bytes) -> bytes:
    return struct.pack("<HB", len(body), ord(kind)) + body


def write_ulog(path: Path, topics: dict[str, dict[str, tuple[str, list]]]) -> Path:
    """Write topics, name -> field -> (type, values), as the PX4 guide describes ULog."""
    parts = [b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0), _message("B", bytes(40))]
    for name, fields in topics.items():
        text = f"{name}:" + "".join(f"{kind} {field};" for field, (kind, _) in fields.items())
        parts.append(_message("F", text.encode()))
    for number, name in enumerate(topics):
        parts.append(_message("A", struct.pack("<BH", 0, number) + name.encode()))
    for number, fields in enumerate(topics.values()):
        layout = "<H" + "".join(_CODES[kind] for kind, _ in fields.values())
        for row in zip(*(values for _, values in fields.values())):
            parts.append(_message("D", struct.pack(layout, number, *row)))
    path.write_bytes(b"".join(parts))
    return path


def _local(**changes):
    """Return a flight to the north-east and up, NED."""
    fields = {
        "timestamp": ("uint64_t", T_US),
        "ref_lat": ("double", [47.0] * N),
        "ref_lon": ("double", [8.0] * N),
        "x": ("float", [0.2 * k for k in range(N)]),
        "y": ("float", [0.1 * k for k in range(N)]),
        "z": ("float", [-0.05 * k for k in range(N)]),
        "delta_xy[0]": ("float", [0.0] * N),
        "delta_xy[1]": ("float", [0.0] * N),
        "delta_z": ("float", [0.0] * N),
        "ref_alt": ("float", [500.0] * N),
        "xy_valid": ("uint8_t", [1] * N),
        "z_valid": ("uint8_t", [1] * N),
        "xy_global": ("uint8_t", [0] * N),
        "xy_reset_counter": ("uint8_t", [0] * N),
        "z_reset_counter": ("uint8_t", [0] * N),
    }
    return fields | changes


def _attitude(heading):
    """Return a level attitude with a heading from north, clockwise; (w, x, y, z)."""
    half = heading / 2.0
    fields = {"timestamp": ("uint64_t", T_US)}
    for k, value in enumerate((cos(half), 0.0, 0.0, sin(half))):
        fields[f"q[{k}]"] = ("float", [value] * N)
    return fields


def test_a_log_gives_its_local_position_east_north_up(tmp_path):
    path = write_ulog(
        tmp_path / "a.ulg",
        {"vehicle_local_position": _local(), "vehicle_attitude": _attitude(radians(90.0))},
    )
    recording = read_recording(path)
    assert not recording.is_geodetic
    assert recording.position[10] == pytest.approx([1.0, 2.0, 0.5], abs=FLOAT32)
    assert recording.t == pytest.approx(0.1 * np.arange(N))
    assert recording.yaw == pytest.approx(np.zeros(N), abs=FLOAT32)  # heading east
    assert "vehicle_local_position" in recording.kind


def test_a_heading_to_the_south_is_a_yaw_of_minus_90_degrees(tmp_path):
    topics = {"vehicle_local_position": _local(), "vehicle_attitude": _attitude(pi)}
    recording = read_recording(write_ulog(tmp_path / "a.ulg", topics))
    assert recording.yaw[0] == pytest.approx(-pi / 2.0, abs=FLOAT32)


def test_a_local_position_with_a_reference_is_geodetic(tmp_path):
    topics = {"vehicle_local_position": _local(xy_global=("uint8_t", [1] * N))}
    recording = read_recording(write_ulog(tmp_path / "a.ulg", topics))
    latitude, longitude, altitude = recording.position[10]
    assert recording.is_geodetic
    assert radians(latitude - 47.0) * PX4_RADIUS_M == pytest.approx(2.0, abs=1e-4)
    assert radians(longitude - 8.0) * PX4_RADIUS_M * cos(radians(47.0)) == pytest.approx(
        1.0, abs=1e-4
    )
    assert altitude == pytest.approx(500.5, abs=FLOAT32)


def test_jumps_of_the_estimator_are_taken_out(tmp_path):
    jumps = [0.0] * N
    jumps[20] = 5.0
    x = [0.2 * k + (5.0 if k >= 20 else 0.0) for k in range(N)]
    counter = [0] * 20 + [1] * (N - 20)
    topics = {
        "vehicle_local_position": _local(
            x=("float", x),
            **{"delta_xy[0]": ("float", jumps), "xy_reset_counter": ("uint8_t", counter)},
        )
    }
    recording = read_recording(write_ulog(tmp_path / "a.ulg", topics))
    assert recording.position[:, 1] == pytest.approx(5.0 + 0.2 * np.arange(N), abs=FLOAT32)
    assert any("reset" in note for note in recording.notes)


def test_a_track_with_a_reset_lies_where_the_last_reference_says(tmp_path):
    """The estimator found at sample 20 that it is 5 m further north: it was so all along."""
    jumps = [0.0] * N
    jumps[20] = 5.0
    topics = {
        "vehicle_local_position": _local(
            x=("float", [0.2 * k + (5.0 if k >= 20 else 0.0) for k in range(N)]),
            xy_global=("uint8_t", [1] * N),
            xy_reset_counter=("uint8_t", [0] * 20 + [1] * (N - 20)),
            **{"delta_xy[0]": ("float", jumps)},
        )
    }
    latitude = read_recording(write_ulog(tmp_path / "a.ulg", topics)).position[:, 0]
    north = np.radians(latitude - 47.0) * PX4_RADIUS_M
    assert north[[0, -1]] == pytest.approx([5.0, 5.0 + 0.2 * (N - 1)], abs=1e-3)


def test_only_valid_samples_count(tmp_path):
    valid = [0] * 10 + [1] * (N - 10)
    topics = {"vehicle_local_position": _local(xy_valid=("uint8_t", valid))}
    recording = read_recording(write_ulog(tmp_path / "a.ulg", topics))
    assert len(recording.t) == N - 10
    assert recording.position[0] == pytest.approx([1.0, 2.0, 0.5], abs=FLOAT32)


@pytest.mark.parametrize("is_new", [False, True], ids=["integers", "degrees"])
def test_without_an_estimate_the_receiver_counts(tmp_path, is_new):
    latitudes = [47.0 + 1e-6 * k for k in range(N)]
    if is_new:
        fields = {
            "latitude_deg": ("double", latitudes),
            "longitude_deg": ("double", [8.0] * N),
            "altitude_msl_m": ("double", [500.0] * N),
        }
    else:
        fields = {
            "lat": ("int32_t", [round(v * 1e7) for v in latitudes]),
            "lon": ("int32_t", [80_000_000] * N),
            "alt": ("int32_t", [500_000] * N),
        }
    fields = {"timestamp": ("uint64_t", T_US), **fields, "fix_type": ("uint8_t", [0] + [3] * 49)}
    topics = {
        "vehicle_local_position": _local(z_valid=("uint8_t", [0] * N)),
        "vehicle_gps_position": fields,
    }
    recording = read_recording(write_ulog(tmp_path / "a.ulg", topics))
    assert recording.is_geodetic and len(recording.t) == N - 1
    assert recording.position[-1] == pytest.approx([47.0 + 49e-6, 8.0, 500.0], abs=1e-7)


def test_a_log_without_a_flight_says_what_it_holds(tmp_path):
    topics = {"vehicle_local_position": _local(xy_valid=("uint8_t", [0] * N))}
    with pytest.raises(UserError, match="valid in 0 of its 50 samples; no vehicle_global"):
        read_recording(write_ulog(tmp_path / "a.ulg", topics))


@pytest.mark.parametrize("n_bytes", [30, 400])
def test_a_damaged_log_is_one_line(tmp_path, n_bytes):
    path = write_ulog(tmp_path / "a.ulg", {"vehicle_local_position": _local()})
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(UserError, match=r"a\.ulg"):
        read_recording(path)


def _csv(path: Path, header: str, rows: list) -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.mark.parametrize(
    ("header", "factor"),
    [
        ("time_s,lat,lon,alt", 1.0),
        ("timestamp_ms,Latitude,Longitude,Altitude_m", 1e3),
        ("t_us,latitude_deg,lng,alt_msl", 1e6),
        ("stamp_ns,lat_deg,lon_deg,height", 1e9),
    ],
)
def test_a_csv_is_read_by_the_names_of_its_columns(tmp_path, header, factor):
    rows = [(0.5 * k * factor, 47.0 + 1e-6 * k, 8.0, 500.0 + k) for k in range(20)]
    recording = read_recording(_csv(tmp_path / "a.csv", header, rows))
    assert recording.is_geodetic and recording.yaw is None
    assert recording.t == pytest.approx(0.5 * np.arange(20))
    assert recording.position[3] == pytest.approx([47.000003, 8.0, 503.0])


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("time_s,lat_deg,lon_deg,alt_mm", (47.0, 8.0, 500_000), (47.0, 8.0, 500.0)),
        ("time_s,lat_1e7,lon_1e7,alt_m", (50, 80_000_000, 500), (5e-6, 8.0, 500.0)),
        ("time_s,lat_e7,lon_e7,alt", (470_000_000, 80_000_000, 1500), (47.0, 8.0, 1.5)),
        ("time_s,lat,lon,alt", (47.0, 8.0, 500_000), (47.0, 8.0, 500.0)),
        ("time_s,lat,lon,alt", (470_000_000, 80_000_000, 500.5), (47.0, 8.0, 500.5)),
        ("time_s,lat,lon,alt", (10, 80_000_000, 500.5), (1e-6, 8.0, 500.5)),
    ],
)
def test_units_of_a_csv_are_those_of_its_names_else_of_its_sizes(tmp_path, header, row, expected):
    rows = [(k, *row) for k in range(5)]
    recording = read_recording(_csv(tmp_path / "a.csv", header, rows))
    assert recording.position[0] == pytest.approx(expected)


def test_columns_may_stand_in_any_order_and_bad_rows_are_left_out(tmp_path):
    rows = [(500.0, 8.0, 47.0, "x", k) for k in range(9)]
    rows[4] = ("nan", 8.0, 47.0, "x", 4)
    rows[5] = ("oops",)
    recording = read_recording(_csv(tmp_path / "a.csv", "alt,lon,lat,mode,time_s", rows))
    assert len(recording.t) == 7
    assert recording.position[0] == pytest.approx([47.0, 8.0, 500.0])
    assert any(note.startswith("2 rows could not be read") for note in recording.notes)


def test_seconds_since_1970_are_known_by_their_size(tmp_path):
    rows = [(1_700_000_000_000 + 100 * k, 47.0, 8.0, 500.0) for k in range(9)]
    recording = read_recording(_csv(tmp_path / "a.csv", "time,lat,lon,alt", rows))
    assert recording.t == pytest.approx(0.1 * np.arange(9), abs=1e-3)  # the float of a stamp


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("time,lat,lon", (1, 47.0, 8.0), "no altitude"),
        ("lat,lon,alt", (47.0, 8.0, 1.0), "no time"),
        ("time,lat,lon,alt", (100_000.0, 47.0, 8.0, 500.0), "unit of its stamps is not known"),
        ("time_s,lat,lon,alt", (1.0, 4.7e12, 8.0, 500.0), "out of range"),
    ],
)
def test_a_csv_that_cannot_be_understood_says_why(tmp_path, header, row, message):
    rows = [(row[0] * (k + 1), *row[1:]) if "time" in header else row for k in range(5)]
    with pytest.raises(UserError, match=message):
        read_recording(_csv(tmp_path / "a.csv", header, rows))


def test_poses_of_a_tum_file_are_a_local_recording_with_yaw(tmp_path):
    rows = [f"{k / 10} {k} 0 2 0 0 {sin(0.4)} {cos(0.4)}" for k in range(20)]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(rows))
    recording = read_recording(path)
    assert not recording.is_geodetic
    assert recording.yaw == pytest.approx(np.full(20, 0.8))


def test_kitti_poses_are_no_flight(tmp_path):
    path = tmp_path / "poses.txt"
    path.write_text("\n".join(["1 0 0 0 0 1 0 0 0 0 1 0"] * 5))
    with pytest.raises(UserError, match="camera that looks along z"):
        read_recording(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere\.ulg: no such file"):
        read_recording(tmp_path / "nowhere.ulg")


# -- files made by others -------------------------------------------------------------------------


def test_the_real_log_without_a_position_is_refused_with_its_counts(shared_data):
    """AUAV_X21 on the ground: 678 local positions, none horizontally valid, no receiver."""
    with pytest.raises(UserError, match="valid in 0 of its 678 samples"):
        read_recording(shared_data("px4/pyulog/sample.ulg"))


def test_the_log_of_a_px4_sitl_gives_its_receiver(shared_data):
    path = shared_data("px4/pyulog/sample_logging_tagged_and_default_params.ulg")
    recording = read_recording(path)
    assert "vehicle_gps_position" in recording.kind
    assert recording.position[0, :2] == pytest.approx([47.3977419, 8.5455939], abs=1e-6)
    assert recording.yaw is not None


def test_hil_gps_of_hakoniwa_climbs_ten_metres_and_flies_45_m_east(shared_data):
    recording = read_recording(shared_data("px4/hakoniwa_airsim_hil/log_comm_hil_gps.csv"))
    assert recording.t[-1] == pytest.approx(61.80, abs=0.01)
    assert recording.position[0] == pytest.approx([47.6414679, -122.1401650, 122.146])
    assert np.ptp(recording.position[:, 2]) == pytest.approx(10.08, abs=0.01)
    east = radians(float(np.ptp(recording.position[:, 1]))) * PX4_RADIUS_M * cos(radians(47.64))
    assert east == pytest.approx(45.3, abs=0.1)


def test_euroc_ground_truth_is_a_recording(shared_data):
    recording = read_recording(shared_data("trajectories/evo/V102_groundtruth.csv"))
    assert (len(recording.t), recording.is_geodetic) == (16702, False)
    assert recording.t[-1] == pytest.approx(83.5, abs=0.1)
