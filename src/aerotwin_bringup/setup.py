# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import find_packages, setup

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


setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *shared_files(),
    ],
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_autopilot==0.1.0",
        "aerotwin_core==0.1.0",
        "aerotwin_dense_localization==0.1.0",
        "aerotwin_flight_control==0.1.0",
        "aerotwin_generated_worlds==0.1.0",
        "aerotwin_kiss_icp==0.1.0",
        "aerotwin_meshes==0.1.0",
        "aerotwin_multirotor_dynamics==0.1.0",
        "aerotwin_px4_bridge==0.1.0",
        "aerotwin_rendering==0.1.0",
        "aerotwin_report==0.1.0",
        "aerotwin_run_evaluation==0.1.0",
        "aerotwin_scenarios==0.1.0",
        "aerotwin_sensor_models==0.1.0",
        "aerotwin_simulator==0.1.0",
        "aerotwin_stereo_odometry==0.1.0",
        "aerotwin_teach_repeat==0.1.0",
        "aerotwin_trajectory_evaluation==0.1.0",
        "aerotwin_voxel_cloud==0.1.0",
        "aerotwin_worlds==0.1.0",
        "numpy>=2.4.6",
        "PyYAML>=6.0.3",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Launch files and configuration of the scenarios, and the nodes that compose them.",
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-rclpy[fastrtps]~=7.1.6",
        ],
        "test": [
            "pytest",
        ],
    },
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
