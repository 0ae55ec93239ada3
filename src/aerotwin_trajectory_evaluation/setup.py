# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_trajectory_evaluation"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_core==0.1.0",
        "aerotwin_report==0.1.0",
        "numpy>=2.4.6",
        "PyYAML>=6.0.3",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="How good a trajectory is (APE, RPE, drift, coverage), and what it cost to compute",
    license="Apache-2.0",
    extras_require={
        "evo": [
            "evo>=1.38.1",
        ],
        "ros": [
            "ros-geometry-msgs~=5.3.6",
            "ros-nav-msgs~=5.3.6",
            "ros-rclpy[fastrtps]~=7.1.6",
            "ros-sensor-msgs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "console_scripts": [
            "trajectory_evaluation = "
            "aerotwin_trajectory_evaluation.ros.trajectory_evaluation_node:main",
        ],
        "aerotwin.commands": [
            "evaluate.resources = aerotwin_trajectory_evaluation.resources_command",
            "evaluate.trajectory = aerotwin_trajectory_evaluation.command",
        ],
    },
)
