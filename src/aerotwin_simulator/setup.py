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
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_autopilot==0.1.0",
        "aerotwin_core==0.1.0",
        "aerotwin_ground_dynamics==0.1.0",
        "aerotwin_meshes==0.1.0",
        "aerotwin_multirotor_dynamics==0.1.0",
        "aerotwin_px4_bridge==0.1.0",
        "aerotwin_rendering==0.1.0",
        "aerotwin_sensor_models==0.1.0",
        "aerotwin_worlds==0.1.0",
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "pymavlink>=2.4.50",
        "PyYAML>=6.0.3",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="One loop that owns time, steps the vehicle, samples sensors, records.",
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-geometry-msgs~=5.3.6",
            "ros-nav-msgs~=5.3.6",
            "ros-rcl-interfaces",
            "ros-rclpy[fastrtps]~=7.1.6",
            "ros-rosgraph-msgs~=2.0.3",
            "ros-sensor-msgs~=5.3.6",
            "ros-std-msgs~=5.3.6",
            "ros-std-srvs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
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
