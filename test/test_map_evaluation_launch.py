# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map that is judged while it grows, started as a user starts it."""

import signal

import numpy as np
import pytest

from aerotwin_core.messages import deserialize
from support.launch_listening import listen_to_launch

OFF_M = 0.2
FOUND_M = 0.03


@pytest.mark.ros
def test_the_launched_evaluation_scores_a_map_against_a_file(tmp_path):
    from diagnostic_msgs.msg import DiagnosticArray
    from sensor_msgs.msg import PointCloud2

    from aerotwin_core.ros.conversions import cloud_from_points

    x, y = np.random.default_rng(1000).uniform(-10.0, 10.0, (2, 3000))
    surface = np.column_stack([x, y, 1.5 * np.sin(0.6 * x) + 1.2 * np.cos(0.5 * y)])
    np.save(tmp_path / "mm.npy", 1000.0 * surface)
    tokens = [f"reference:={tmp_path / 'mm.npy'}", "reference_unit:=mm", "map:=mine/cloud"]
    tokens += ["period_s:=0.2", "use_sim_time:=false"]
    moved = cloud_from_points(surface + np.array([0.0, 0.0, OFF_M]), 7_000_000_000, "map")
    heard = listen_to_launch(
        "evaluate_map_live.launch.yaml", tokens, {"/diagnostics": DiagnosticArray},
        command=("mine/cloud", PointCloud2, moved), is_enough=lambda said: said["/diagnostics"],
    )  # fmt: skip
    assert heard.returncode == 128 + signal.SIGINT, heard.output
    assert "Traceback" not in heard.output, heard.output
    found = deserialize(heard.messages["/diagnostics"][0], "diagnostic_msgs/msg/DiagnosticArray")
    (status,) = found.status
    values = {item.key: item.value for item in status.values}
    assert status.name == "map_evaluation" and found.header.stamp.sec == 7
    assert float(values["up_m"]) == pytest.approx(-OFF_M, abs=FOUND_M)
    assert float(values["share"]) == 1.0
