# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapter on ArduPilot's log, from a log with known errors."""

from pathlib import Path

import numpy as np
import pytest

from aerotwin_ardupilot_bridge.dataflash_log import ArduPilotLog
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.report.ardupilot_log_section import ardupilot_log_section

PLANE = LocalTangentPlane(
    GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
)
N = 50
ERROR_M = np.array([0.3, -0.4, 0.0])


def truth() -> Trajectory:
    stamps = np.arange(N, dtype=np.int64) * 100_000_000
    p = np.column_stack([np.linspace(0.0, 20.0, N), np.full(N, 2.0), np.full(N, 5.0)])
    return Trajectory(stamps, p, np.tile([0.0, 0.0, 0.0, 1.0], (N, 1)))


def log(n: int = N) -> ArduPilotLog:
    places = [PLANE.to_geodetic(p + ERROR_M) for p in truth().p_ref_body[:n]]
    times_s = truth().stamps_ns[:n] * 1e-9
    return ArduPilotLog(
        path=Path("flight.bin"),
        messages=((2.0, "EKF3 lane switch 1"),),
        stamps_ns=truth().stamps_ns[:n],
        geodetic=np.array(places).reshape(-1, 3),
        ratios={"height": (times_s, np.linspace(0.0, 2.0, n))} if n else {},
        outputs=(times_s, np.full((4, n), 0.5)),
        commands=(),
        parameters=frozenset(),
    )


def test_the_estimate_is_compared_with_truth_in_map():
    section = ardupilot_log_section(log(), truth(), PLANE)
    error = section.metrics["estimate_error_m"]
    assert error["rms"] == pytest.approx(0.5, abs=1e-3)
    assert section.metrics["innovation_tests"]["height"]["refused_share"] == 0.5
    assert section.tables[0].columns == ("time [s]", "message")
    assert section.tables[0].rows == (("2.00", "EKF3 lane switch 1"),)
    assert len(section.figures) == 3


def test_a_log_of_a_moment_has_no_errors_and_names_its_vehicle():
    section = ardupilot_log_section(log(0), truth(), PLANE, "uav1", 1)
    assert section.name == "ardupilot_log_uav1_2"
    assert "uav1, log 2" in section.title
    assert "estimate_error_m" not in section.metrics
    assert section.figures == ()
