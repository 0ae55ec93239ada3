# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_map_evaluation"

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
        "aerotwin_registration==0.1.0",
        "aerotwin_report==0.1.0",
        "aerotwin_voxel_cloud==0.1.0",
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "open3d-cpu>=0.20.0",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description=(
        "How good a SLAM map is, against the true surface and "
        "against voxels, with the floor of a perfect map beside it"
    ),
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-diagnostic-msgs~=5.3.6",
            "ros-rclpy[fastrtps]~=7.1.6",
            "ros-sensor-msgs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "console_scripts": [
            "map_evaluation = aerotwin_map_evaluation.ros.map_evaluation_node:main",
        ],
        "aerotwin.commands": [
            "evaluate.map = aerotwin_map_evaluation.command",
        ],
    },
)
