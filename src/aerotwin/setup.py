# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The name to install by pip; it holds no code: its extras bring the packages.

It is no package of ROS (COLCON_IGNORE). `.ci/wheel_metadata.py --write` writes its lists.
"""

from setuptools import setup

setup(
    name="aerotwin",
    version="0.1.0",
    packages=[],
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_core==0.1.0",
    ],
    extras_require={
        "evaluate": [
            "aerotwin_run_evaluation==0.1.0",
            "aerotwin_trajectory_evaluation==0.1.0",
        ],
        "evo": [
            "aerotwin_trajectory_evaluation[evo]==0.1.0",
        ],
        "maps": [
            "aerotwin_comparison==0.1.0",
            "aerotwin_core[maps]==0.1.0",
            "aerotwin_map_evaluation==0.1.0",
            "aerotwin_run_evaluation[maps]==0.1.0",
            "aerotwin_voxel_cloud==0.1.0",
            "aerotwin_worlds==0.1.0",
        ],
        "ros": [
            "aerotwin[sim]==0.1.0",
            "ros-ament-index-python",
            "ros-builtin-interfaces~=2.0.3",
            "ros-diagnostic-msgs~=5.3.6",
            "ros-geometry-msgs~=5.3.6",
            "ros-nav-msgs~=5.3.6",
            "ros-rcl-interfaces",
            "ros-rclpy[fastrtps]~=7.1.6",
            "ros-rosgraph-msgs~=2.0.3",
            "ros-sensor-msgs~=5.3.6",
            "ros-std-msgs~=5.3.6",
            "ros-std-srvs~=5.3.6",
            "ros-visualization-msgs~=5.3.6",
        ],
        "sim": [
            "aerotwin[evaluate,evo,maps]==0.1.0",
            "aerotwin_bringup==0.1.0",
            "aerotwin_doctor==0.1.0",
            "aerotwin_run_evaluation[sim]==0.1.0",
        ],
    },
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="A digital-twin test bench for aerial robots; choose an extra.",
    license="Apache-2.0",
    # Which extra brings a command that is not installed.
    entry_points={
        "aerotwin.extras": [
            "bag.kitti = evaluate",
            "bench = sim",
            "degrade = sim",
            "doctor = sim",
            "drive = sim",
            "evaluate.bag = evaluate",
            "evaluate.map = maps",
            "evaluate.resources = evaluate",
            "evaluate.study = maps",
            "evaluate.trajectory = evaluate",
            "evaluate.twin = maps",
            "launch = evaluate",
            "localize = sim",
            "map = sim",
            "plot.imu = sim",
            "reconstruct = sim",
            "reconstruct.marks = sim",
            "repeat = sim",
            "report.check = evaluate",
            "report.compare = evaluate",
            "report.show = evaluate",
            "survey = sim",
            "teach = sim",
            "teach.info = sim",
            "verify = sim",
            "voxels = maps",
            "voxels.info = maps",
            "world.info = maps",
            "world.render = maps",
            "world.tiles = maps",
            "world.village = maps",
        ],
    },
)
