# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import setup

PACKAGE = "aerotwin_bringup"

# Both folders are links to the top of the workspace, so that
# `ros2 launch aerotwin_bringup X` and `ros2 launch launch/X` both work.
SHARED = {
    "launch": glob("launch/*.launch.yaml"),
    "config": glob("config/*.*") + glob("config/*/*.*"),
}


def shared_files():
    by_folder = {}
    for paths in SHARED.values():
        for path in paths:
            by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    return [(f"share/{PACKAGE}/{folder}", paths) for folder, paths in sorted(by_folder.items())]


# All else stands in setup.cfg.
setup(
    python_requires=">=3.11",  # colcon cannot read it there
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *shared_files(),
    ],
)
