# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of a flight that a vehicle has joined."""

import json
from types import SimpleNamespace

import numpy as np
import yaml

from aerotwin_core.bag import BagWriter
from aerotwin_core.messages import odometry_message, serialize
from aerotwin_run_evaluation.report.flight_report import JudgedSlam, write_flight_report
from aerotwin_worlds import load_world

LEVEL, ZERO = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)


def vehicle(name: str) -> SimpleNamespace:
    return SimpleNamespace(
        name=name, instance=0, kind="iris", has_autopilot=True, outcome="flown", n_missed=0,
        commanders=(),
    )  # fmt: skip


def test_a_vehicle_without_a_name_has_one_trajectory_when_another_has_joined(tmp_path):
    with BagWriter(tmp_path / "bag") as bag:
        for k in range(40):
            p = np.array([0.1 * k, 0.0, 2.0])
            places = {"/truth/odom": p, "/slam/odom": p, "/uav0/truth/odom": p + 5.0}
            for topic, place in places.items():
                if not k:
                    bag.add_topic(topic, "nav_msgs/msg/Odometry")
                stamp_ns = k * 100_000_000
                odometry = odometry_message(stamp_ns, "map", "base_link", place, LEVEL, ZERO, ZERO)
                bag.write(topic, stamp_ns, serialize(odometry))
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"parameters": {"seed": 1}}))
    flight = SimpleNamespace(
        folder=tmp_path, outcome="flown", is_success=True, is_interrupted=False,
        real_time_factor=1.0, duration_s=4.0, warnings=(),
        vehicles=(vehicle(""), vehicle("uav0")),
    )  # fmt: skip
    slams = {"": JudgedSlam(name="a SLAM")}
    write_flight_report(flight, load_world("grassland"), title="flight", slams=slams)
    found = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))
    assert {"flight", "fleet", "trajectory"} <= found["sections"].keys()
    assert (tmp_path / "report.html").is_file()
