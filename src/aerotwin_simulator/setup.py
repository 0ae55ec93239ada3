# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_simulator"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="One loop that owns time, steps the vehicle, samples sensors, records.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "camera_node = aerotwin_simulator.ros.camera_node:main",
            "ground_simulator = aerotwin_simulator.ros.ground_simulator_node:main",
            "lidar_node = aerotwin_simulator.ros.lidar_node:main",
            "simulator = aerotwin_simulator.start:main",
        ],
        "aerotwin.commands": ["drive = aerotwin_simulator.drive_command"],
    },
)
