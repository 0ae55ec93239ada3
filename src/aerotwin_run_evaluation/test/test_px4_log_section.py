# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapter on PX4's log, from a log with known errors."""

from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.trajectory import Trajectory
from aerotwin_px4_bridge.ulog import LogMessage, PX4Log
from aerotwin_run_evaluation.report.px4_log_section import px4_log_section

PLANE = LocalTangentPlane(
    GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
)
N = 50
PLANE_CURVATURE_M = 1e-3  # 100 m from the origin the Earth has fallen by 0.8 mm


def truth() -> Trajectory:
    stamps = np.arange(N, dtype=np.int64) * 100_000_000
    east = np.linspace(0.0, 20.0, N)
    p = np.column_stack([east, 2.0 * np.ones(N), 5.0 * np.ones(N)])
    return Trajectory(stamps, p, np.tile([0.0, 0.0, 0.0, 1.0], (N, 1)))


def log(**replaced: np.ndarray) -> PX4Log:
    """Return a log whose estimate is off by 0.3 m east, -0.4 m north; its origin is elsewhere."""
    p = truth().p_ref_body + np.array([0.3, -0.4, 0.0])
    latitude, longitude, altitude = PLANE.to_geodetic([50.0, -80.0, 3.0])
    position = {
        "timestamp": (truth().stamps_ns // 1000 + 2000).astype(np.uint64),
        "timestamp_sample": (truth().stamps_ns // 1000).astype(np.uint64),
        "x": p[:, 1] + 80.0,
        "y": p[:, 0] - 50.0,
        "z": -(p[:, 2] - 3.0),
        "xy_global": np.ones(N, np.uint8),
        "ref_lat": np.full(N, latitude),
        "ref_lon": np.full(N, longitude),
        "ref_alt": np.full(N, altitude, np.float32),
    } | replaced
    ratios = {
        "timestamp": position["timestamp_sample"],
        "gps_hpos[0]": np.full(N, 0.2, np.float32),
        "gps_hpos[1]": np.linspace(0.0, 1.5, N, dtype=np.float32),
        "gps_vpos": np.zeros(N, np.float32),
        "ev_hpos[0]": np.full(N, 3e38, np.float32),
    }
    return PX4Log(
        path=Path("flight.ulg"),
        topics={"vehicle_local_position": position, "estimator_innovation_test_ratios": ratios},
        messages=(LogMessage(time_us=2_000_000, level="warning", text="low battery"),),
        parameters={},
        n_dropouts=0,
    )


def test_the_estimate_is_moved_into_map_and_compared_with_truth():
    error = px4_log_section(log(), truth(), PLANE).metrics["estimate_error_m"]
    assert error["rms"] == pytest.approx(0.5, abs=PLANE_CURVATURE_M)
    assert error["max"] == pytest.approx(0.5, abs=PLANE_CURVATURE_M)


def test_only_what_was_tested_is_reported_with_its_share_of_refusals():
    section = px4_log_section(log(), truth(), PLANE)
    (tests,) = section.metrics["innovation_tests"].items()
    largest = np.maximum(0.2, np.linspace(0.0, 1.5, N))
    assert tests[0] == "GNSS position"
    assert tests[1]["median_ratio"] == pytest.approx(np.median(largest), rel=1e-6)  # float32
    assert tests[1]["refused_share"] == np.mean(largest > 1.0)
    assert section.tables[0].rows == (("2.00", "warning", "low battery"),)


def test_a_log_without_a_global_position_still_makes_a_chapter():
    section = px4_log_section(log(xy_global=np.zeros(N, np.uint8)), truth(), PLANE)
    assert "estimate_error_m" not in section.metrics
    assert section.headline == ()


def without(field: str) -> PX4Log:
    found = log()
    del found.topics["vehicle_local_position"][field]
    return found


def test_a_log_without_the_time_of_the_sample_uses_that_of_writing():
    error = px4_log_section(without("timestamp_sample"), truth(), PLANE).metrics["estimate_error_m"]
    written_later_m = 20.0 / 4.9 * 0.002  # truth moves on for 2 ms
    assert error["rms"] == pytest.approx(0.5, abs=written_later_m)


@pytest.mark.parametrize("field", ["timestamp", "xy_global", "ref_lat", "ref_alt", "z"])
def test_a_log_of_another_program_that_lacks_a_field_makes_a_chapter_that_says_so(field):
    section = px4_log_section(without(field), truth(), PLANE)
    assert "estimate_error_m" not in section.metrics
    assert f"lacks {field}: the position is not compared" in section.text
    assert "innovation_tests" in section.metrics
