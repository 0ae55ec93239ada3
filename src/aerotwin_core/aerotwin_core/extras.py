# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What to install if a part of aerotwin is missing: the extras of the package `aerotwin`.

`pip install 'aerotwin[evaluate]'` leaves out heavy dependencies; one that is requested and missing
is named in one line.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec

COMMANDS = "aerotwin.extras"
"""Entry points of `aerotwin`: each command, and the extra that brings it."""
EXTRA_OF_MODULE = {
    "aerotwin_ardupilot_bridge": "sim",
    "aerotwin_formation": "sim",
    "aerotwin_datasets": "maps",
    "aerotwin_map_evaluation": "maps",
    "aerotwin_px4_bridge": "sim",
    "aerotwin_registration": "maps",
    "aerotwin_slam_runs": "maps",
    "aerotwin_worlds": "maps",
    "cv2": "maps",
    "evo": "evo",
}
"""Modules that a package imports where they are needed and does not require: <aerotwin_extra>."""
_ROS = "ros"


def missing_module(error: ModuleNotFoundError) -> str | None:
    """Return what is not installed and the remedy; None if a module is installed but broken."""
    root = (error.name or "").partition(".")[0]
    if not root or find_spec(root) is not None:
        return None
    extra = EXTRA_OF_MODULE.get(root, _ROS if root == "rclpy" or root.endswith("_msgs") else "sim")
    return f"needs {root}, which is not installed; {_advice(extra)}"


def missing_command(tokens: Sequence[str]) -> str | None:
    """Return that a known command is not installed and the remedy; None for an unknown one."""
    extras = {tuple(each.name.split(".")): each.value for each in entry_points(group=COMMANDS)}
    for length in range(len(tokens), 0, -1):
        extra = extras.get(tuple(tokens[:length]))
        if extra is not None:
            return f"{' '.join(tokens[:length])} is not installed; {_advice(extra)}"
    return None


def _advice(extra: str) -> str:
    return f"do: pip install 'aerotwin[{extra}]' (in a workspace: make setup)"
