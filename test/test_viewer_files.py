# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The files for RViz and Foxglove show topics that a flight publishes, as it publishes them."""

import json
import re
from pathlib import Path

import pytest
import yaml

from aerotwin_core.messages import TYPESTORE
from support.documented_topics import documented_topics, page_of_topics

VIEWERS = Path(__file__).resolve().parents[1] / "config" / "viewers"
OF_A_FLIGHT = {"The simulator publishes", "Beside the simulator in a flight"}
TYPES = {
    "RobotModel": "std_msgs/msg/String",
    "Odometry": "nav_msgs/msg/Odometry",
    "Pose": "geometry_msgs/msg/PoseStamped",
    "PointCloud2": "sensor_msgs/msg/PointCloud2",
    "Image": "sensor_msgs/msg/Image",
}
LATCHED = {False: "Volatile", True: "Transient Local"}


@pytest.fixture(scope="module")
def published():
    """Return the rows of a flight's topics by their names in a flight of one vehicle."""
    rows = documented_topics(page_of_topics(), OF_A_FLIGHT)
    return {f"/{row.name.lstrip('/')}": row for row in rows}


def test_rviz_shows_topics_of_a_flight_with_their_type_and_durability(published):
    document = yaml.safe_load((VIEWERS / "flight.rviz").read_text("utf-8"))
    manager = document["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == "map"
    shown = [d for d in manager["Displays"] if "Topic" in d or "Description Topic" in d]
    assert len(shown) >= 8
    for display in shown:
        topic = display.get("Topic") or display["Description Topic"]
        row = published[topic["Value"]]
        assert row.msgtype == TYPES[display["Class"].removeprefix("rviz_default_plugins/")]
        assert topic["Durability Policy"] == LATCHED["latched" in row.qos]
        assert topic["Reliability Policy"] == "Reliable"


def test_foxglove_shows_topics_of_a_flight(published):
    layout = json.loads((VIEWERS / "flight.foxglove.json").read_text("utf-8"))
    text = json.dumps(layout["configById"])
    named = set(re.findall(r'"(/[a-z_/]+)', text))
    assert len(named) >= 10 and named <= set(published)


def test_foxglove_shows_topics_with_the_types_and_fields_that_its_panels_need(published):
    layout = json.loads((VIEWERS / "flight.foxglove.json").read_text("utf-8"))["configById"]
    image = layout["Image!left"]["imageMode"]
    assert published[image["imageTopic"]].msgtype == TYPES["Image"]
    assert published[image["calibrationTopic"]].msgtype == "sensor_msgs/msg/CameraInfo"
    topic = layout["DiagnosticSummary!state"]["topicToRender"]
    assert published[topic].msgtype == "diagnostic_msgs/msg/DiagnosticArray"
    assert {published[topic].msgtype for topic in layout["3D!flight"]["topics"]} <= {
        *TYPES.values()
    }
    paths = [each["value"] for name in layout for each in layout[name].get("paths", ())]
    assert len(paths) >= 4
    for path in paths:
        topic, _, fields = path.partition(".")
        msgtype = published[topic].msgtype
        for field in fields.split("."):
            members = dict(TYPESTORE.get_msgdef(msgtype).fields)
            msgtype = members[field][1]  # of a message its name, of a number its kind
        assert msgtype[0].startswith("float"), path


def test_every_panel_of_the_foxglove_layout_has_its_settings():
    layout = json.loads((VIEWERS / "flight.foxglove.json").read_text("utf-8"))

    def panels(node):
        if isinstance(node, str):
            yield node
        else:
            yield from panels(node["first"])
            yield from panels(node["second"])

    assert sorted(panels(layout["layout"])) == sorted(layout["configById"])
