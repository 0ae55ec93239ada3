# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Three vehicles in formation over topics, started as a user starts them; strangers talk, too."""

import json

import pytest

from aerotwin_core.messages import deserialize, serialize, string_message
from support.launch_listening import listen_to_launch

pytestmark = [pytest.mark.ros, pytest.mark.slow]

INSTANCE = 150
MISSION = """
waypoints_m: [[0, 0, 4], [6, 0, 4]]
patterns:
  - {pattern: column_3.yaml}
  - {pattern: abreast_3.yaml, waypoint: 1}
"""
COLUMN = "name: column\noffsets_m: [[-3, 0, 0], [-6, 0, 0]]\n"
ABREAST = "name: abreast\noffsets_m: [[0, 3, 0], [0, -3, 0]]\n"
STRANGE = '{"sender": 2, "stamp_ns": 9e99, "motion": [[1e999]]}'


def test_a_launched_formation_flies_its_patterns_lands_and_is_reported(tmp_path):
    from geometry_msgs.msg import TwistStamped
    from std_msgs.msg import String

    for name, text in (("mission", MISSION), ("column_3", COLUMN), ("abreast_3", ABREAST)):
        (tmp_path / f"{name}.yaml").write_text(text)
    tokens = ["vehicles:=3", f"mission:={tmp_path / 'mission.yaml'}", f"instance:={INSTANCE}",
              "seed:=1", f"runs_dir:={tmp_path / 'runs'}"]  # fmt: skip
    heard = listen_to_launch(
        "formation.launch.yaml", tokens,
        {"/formation/plan": String, "uav1/command/velocity": TwistStamped,
         "uav1/formation/report": String},
        latched=["/formation/plan"],
        command=("uav2/formation/report", String, serialize(string_message(STRANGE))),
    )  # fmt: skip
    assert heard.returncode == 0, heard.output
    assert "all have landed" in heard.output
    assert "uav2/formation/report dropped" in heard.output
    plans = [json.loads(deserialize(m, "std_msgs/msg/String").data)
             for m in heard.messages["/formation/plan"]]  # fmt: skip
    assert [plan["pattern"] for plan in plans] == ["column", "abreast", "land"]
    commands = [deserialize(m, "geometry_msgs/msg/TwistStamped")
                for m in heard.messages["uav1/command/velocity"]]  # fmt: skip
    assert {command.header.frame_id for command in commands} == {"map"}
    report = json.loads(
        deserialize(heard.messages["uav1/formation/report"][-1], "std_msgs/msg/String").data
    )
    assert (report["sender"], report["plan_number"]) == (1, 2)
    (folder,) = (tmp_path / "runs").iterdir()
    metrics = json.loads((folder / "metrics.json").read_text())["sections"]["formation"]
    assert metrics["patterns"] == ["column", "abreast", "land"]
    assert metrics["estimated"]["formation_m"] < 0.15
    assert metrics["closest_m"] > metrics["twice_radius_m"]
