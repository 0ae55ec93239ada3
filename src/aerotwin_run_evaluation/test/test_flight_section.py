# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_run_evaluation.report.flight_section import flight_section, path_errors, read_tracks

LEVEL = (0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)
ENDED = {"outcome": "stopped", "duration_s": 1.0, "real_time_factor": 2.0}
RESAMPLING_M = 1e-3  # the planned line is resampled every 5 cm: 0.05^2 / (8 * 0.4) at most


def _bag(path, *, truth_offset, estimate_offset):
    """A straight set-point path along x at 2 m/s; truth and estimate stand off by constants."""
    with BagWriter(path) as bag:
        bag.add_topic("/truth/odom", "nav_msgs/msg/Odometry")
        bag.add_topic("/autopilot/odom", "nav_msgs/msg/Odometry")
        bag.add_topic("/command/pose", "geometry_msgs/msg/PoseStamped")
        for k in range(201):
            stamp_ns = k * 50_000_000
            requested = np.array([0.1 * k, 0.0, 5.0])
            pose = messages.pose_stamped_message(stamp_ns, "map", requested, LEVEL)
            bag.write("/command/pose", stamp_ns, messages.serialize(pose))
            for topic, offset in (
                ("/truth/odom", truth_offset),
                ("/autopilot/odom", estimate_offset),
            ):
                odometry = messages.odometry_message(
                    stamp_ns, "map", "body", requested + offset, LEVEL, ZERO, ZERO
                )
                bag.write(topic, stamp_ns, messages.serialize(odometry))
    return BagReader(path)


def test_cross_track_control_and_estimation_errors_are_distinguished(tmp_path):
    bag = _bag(
        tmp_path / "bag",
        truth_offset=np.array([0.3, 0.4, 0.0]),  # 0.3 ahead along the path does not count
        estimate_offset=np.array([0.0, 0.0, 0.2]),
    )
    errors = path_errors(read_tracks(bag, [""]))
    assert errors is not None
    metrics = errors.metrics()
    inside = errors.cross_track[5:-5]  # beyond the end the nearest point is the end
    np.testing.assert_allclose(inside, 0.4, atol=RESAMPLING_M)
    assert metrics["control_error_m"]["rms"] == pytest.approx(0.2)
    expected = np.linalg.norm([0.3, 0.4, -0.2])
    assert metrics["estimation_error_m"]["rms"] == pytest.approx(expected)
    assert metrics["path_m"] == pytest.approx(20.0)


def test_a_bag_without_a_path_gives_a_chapter_without_errors(tmp_path):
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/truth/odom", "nav_msgs/msg/Odometry")
    assert path_errors(read_tracks(BagReader(tmp_path / "bag"), [""])) is None
    chapter = flight_section(None, **ENDED, parameters={})
    assert chapter.metrics["outcome"] == "stopped"
    assert not chapter.figures


@pytest.mark.parametrize(
    ("parameters", "leaves"),
    [
        ({"sensors": {"gnss": "gnss_default"}}, "GNSS, barometer, magnetometer and IMU leave"),
        (
            {"sensors": {"gnss": "none"}, "vision": {"source": "topic"}},
            "what external vision, barometer, magnetometer and IMU leave",
        ),
        (
            {"sensors": {"gnss": "none"}, "vision": {"source": "none"}},
            "what barometer, magnetometer and IMU leave",
        ),
    ],
)
def test_the_chapter_names_what_the_flight_had_on_board(tmp_path, parameters, leaves):
    bag = _bag(tmp_path / "bag", truth_offset=np.zeros(3), estimate_offset=np.zeros(3))
    chapter = flight_section(path_errors(read_tracks(bag, [""])), **ENDED, parameters=parameters)
    meanings = [row[3] for row in chapter.tables[0].rows]
    assert sum(leaves in text for text in meanings) == 1
    says_gnss = "GNSS" in repr((chapter.text, meanings, chapter.figures[0].caption))
    assert says_gnss is (parameters["sensors"]["gnss"] != "none")


def test_a_flight_without_autopilots_speaks_of_none(tmp_path):
    bag = _bag(tmp_path / "bag", truth_offset=np.zeros(3), estimate_offset=np.zeros(3))
    own = {"parameters": {"sensors": {"gnss": "gnss_default"}}, "has_autopilot": False}
    chapter = flight_section(path_errors(read_tracks(bag, [""])), **ENDED, **own)
    texts = repr((chapter.text, chapter.tables[0].rows))
    assert not any(word in texts for word in ("autopilot", "GNSS", "IMU"))
