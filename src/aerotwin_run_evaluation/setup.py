# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_run_evaluation"

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
        "aerotwin_launch==0.1.0",
        "aerotwin_report==0.1.0",
        "aerotwin_trajectory_evaluation==0.1.0",
        "numpy>=2.4.6",
        "pillow",
        "PyYAML>=6.0.3",
        "rosbags>=0.11.9",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Evaluation and report of flights and of recorded bags.",
    license="Apache-2.0",
    extras_require={
        "maps": [
            "aerotwin_map_evaluation==0.1.0",
            "aerotwin_registration==0.1.0",
            "aerotwin_worlds==0.1.0",
            "opencv-contrib-python-headless>=5.0.0.93",
        ],
        "ros": [
            "ros-rclpy[fastrtps]~=7.1.6",
        ],
        "sim": [
            "aerotwin_px4_bridge==0.1.0",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "aerotwin.commands": [
            "bag.kitti = aerotwin_run_evaluation.kitti_bag_command",
            "evaluate.bag = aerotwin_run_evaluation.evaluate_bag_command",
        ],
        "console_scripts": [
            "replay = aerotwin_run_evaluation.start:replay",
        ],
    },
)
