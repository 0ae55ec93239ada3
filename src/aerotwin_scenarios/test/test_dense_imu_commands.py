# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin localize --imu`: sparse images of a vehicle that sways before a painted wall."""

import csv
import json

import pytest

from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.frames import pose_from_transform
from aerotwin_dense_localization.localization import InertialFilter
from aerotwin_scenarios.dense_localization.commands import localization_page
from aerotwin_scenarios.dense_localization.commands.localization_page import localization_section
from aerotwin_scenarios.dense_localization.recordings.recorded_imu import RecordedImu
from aerotwin_scenarios.dense_localization.recordings.recording import Reading
from aerotwin_scenarios.dense_localization.recordings.sources import camera_recording
from support.wall_bag import SPARSE_NS, imu_messages, swaying_base, true_base, write_bag

START = ["--start", *(str(v) for part in pose_from_transform(swaying_base(0)) for v in part)]
PLACED_M = 0.05
"""The map's own poses are 2 cm off."""
N = 6


def sparse_bag(path, n, imu=(), base=swaying_base):
    return write_bag(path, n=n, base=base, period_ns=SPARSE_NS, imu=imu)


@pytest.fixture(scope="module")
def dense_map(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wall")
    bag = write_bag(folder / "bag", n=3, base=lambda k: true_base(3 * k))
    assert main(["map", str(bag), "-o", str(folder / "map")]) == 0
    return folder / "map"


@pytest.fixture
def page(monkeypatch):
    """What the pages would be made of, the first one's first."""
    results = []

    def keep(folder, result, arguments):
        results.append((result, arguments))
        return folder

    monkeypatch.setattr(localization_page, "write_page", keep)
    return results


def localized(dense_map, bag, out, *arguments):
    """Return the numbers, and the rows of the table."""
    arguments = [
        *START,
        "--reference",
        "truth",
        *arguments,
        "-o",
        str(out),
        "--json",
        str(out / "j"),
    ]
    out.mkdir()
    assert main(["localize", str(dense_map), str(bag), *arguments]) == 0
    with (out / "localization.csv").open() as file:
        return json.loads((out / "j").read_text()), list(csv.DictReader(file))


def test_an_imu_leads_between_sparse_images_where_the_last_motion_does_not(
    dense_map, tmp_path, page
):
    bag = sparse_bag(tmp_path / "bag", N, imu_messages(N))
    led, rows = localized(dense_map, bag, tmp_path / "led", "--imu", "imu")
    assert [row["status"] for row in rows] == ["tracked"] * N
    assert (led["n_lost"], led["n_fused"]) == (0, N)
    assert led["ate_m"]["max"] < PLACED_M
    ((result, arguments),) = page
    section = localization_section(result.located, result.dense_map, result.numbers)
    assert f"led from one to the next; {N} were fused with it." in section.text
    assert (section.metrics["n_fused"], arguments["imu"]) == (N, "imu")
    alone, rows = localized(dense_map, bag, tmp_path / "alone")
    assert alone["n_fused"] is None
    assert {"relocalized", "lost"} & {row["status"] for row in rows}


def test_an_image_where_the_imu_cannot_have_led_is_lost_and_says_so(
    dense_map, tmp_path, capsys, page
):
    def leaping(k):
        T_map_base = swaying_base(k)
        T_map_base[0, 3] += 0.4 * (k == 2)
        return T_map_base

    samples = list(imu_messages(3))  # they end before the last image
    samples[5].linear_acceleration.x = float("nan")
    samples[7].header.frame_id = "other"
    bag = sparse_bag(tmp_path / "bag", 4, samples, leaping)
    numbers, rows = localized(dense_map, bag, tmp_path / "believed", "--imu", "/imu")
    assert [row["status"] for row in rows[:3]] == ["tracked", "tracked", "lost"]
    assert rows[2]["reason"].startswith("0.4") and "from where the IMU led" in rows[2]["reason"]
    assert (numbers["n_fused"], numbers["n_lost"]) == (2, 1)
    said = capsys.readouterr().out
    assert "2 of 4 were fused with the IMU" in said
    assert "1 images are lost because the IMU led elsewhere" in said
    assert "1 placed images were not fused with the IMU, the last one: the last sample" in said
    assert "2 samples of the IMU were refused, the last one: its frame is 'other', not" in said
    (tmp_path / "p.yaml").write_text("inertial: {gate_probability: 1.0}\n")
    arguments = ["--imu", "imu", "--parameters", str(tmp_path / "p.yaml")]
    assert localized(dense_map, bag, tmp_path / "open", *arguments)[0]["n_fused"] == 3


def without_force():
    for message in imu_messages(1):
        message.linear_acceleration_covariance[0] = -1.0
        yield message


@pytest.mark.parametrize(
    ("samples", "arguments", "message"),
    [
        (imu_messages(1), ["--imu", "slam/odom"], "no sensor_msgs/msg/Imu on it; BAG holds /imu"),
        (imu_messages(1, frame="else"), ["--imu", "imu"], "does not say how 'else', its frame"),
        (imu_messages(1), ["--imu", "imu", "--camera", "right"], "give --mounting"),
        (without_force(), ["--imu", "imu"], "can be used: it has no linear_acceleration"),
        (
            imu_messages(1, delay_ns=-300_000_000),
            ["--imu", "imu"],
            "its samples end at 0.100 s, before the first image at 0.400 s",
        ),
        (
            imu_messages(1, delay_ns=10_000_000_000),
            ["--imu", "imu"],
            "its samples begin at 10.400 s, after the last image at 0.400 s",
        ),
    ],
)
def test_an_imu_that_cannot_lead_is_refused(
    dense_map, tmp_path, capsys, samples, arguments, message
):
    bag = sparse_bag(tmp_path / "bag", 1, samples)
    arguments = [*arguments, "--poses", "slam/odom", "-o", str(tmp_path / "out")]
    assert main(["localize", str(dense_map), str(bag), *arguments]) == 2
    assert message.replace("BAG", str(bag)) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_only_bags_have_samples_of_an_imu(dense_map, shared_data, tmp_path, capsys):
    arguments = ["--imu", "imu", "-o", str(tmp_path / "out")]
    assert main(["localize", str(dense_map), "cliff", *arguments]) == 2
    assert "--imu: is for a recording, and cliff is taken for a world" in capsys.readouterr().err
    folder = shared_data("image_sequences/kitti_seq_1")
    with pytest.raises(UserError, match="is a KITTI folder, which holds no samples of an IMU"):
        RecordedImu(camera_recording(folder, Reading(), "left"), "imu")


def test_samples_are_given_as_far_as_an_image_needs_them(tmp_path):
    class Heard(InertialFilter):
        def add(self, stamp_ns, omega_imu, force_imu):
            stamps.append(stamp_ns)

    bag, heard = sparse_bag(tmp_path / "bag", 1, imu_messages(3)), Heard()
    stamps = []
    imu = RecordedImu(camera_recording(bag, Reading(), "left"), "imu")
    for image_ns, newest_ns in ((405_000_000, 410_000_000), (500_000_000, 500_000_000)):
        imu.lead(heard, image_ns)
        assert stamps == list(range(SPARSE_NS, newest_ns + 1, 10_000_000))
