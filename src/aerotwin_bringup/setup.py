# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "aerotwin_bringup"

# The three folders are links to the top of the workspace, so that
# `ros2 launch aerotwin_bringup X` and `ros2 launch launch/X` both work.
SHARED = {
    "launch": glob("launch/*.launch.yaml"),
    "config": glob("config/*.*") + glob("config/*/*.*"),
    "worlds": glob("worlds/*.*"),
}


def shared_files():
    by_folder = {}
    for paths in SHARED.values():
        for path in paths:
            by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    return [(f"share/{PACKAGE}/{folder}", paths) for folder, paths in sorted(by_folder.items())]


setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *shared_files(),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Launch files, configuration, worlds and the runner that starts them.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "dense_localization = aerotwin_bringup.start:dense_localization",
            "recorded_flight = aerotwin_bringup.start:recorded_flight",
            "relay = aerotwin_bringup.start:relay",
            "replay = aerotwin_bringup.start:replay",
            "sitl_flight = aerotwin_bringup.start:sitl_flight",
        ],
        "aerotwin.commands": [
            "bench = aerotwin_bringup.bench_command",
            "verify = aerotwin_bringup.verify_command",
        ],
    },
)
