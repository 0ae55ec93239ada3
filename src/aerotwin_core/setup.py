# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_core"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/network", ["network/lan.xml", "network/loopback.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=[
        "backports.zstd",
        "lz4",
        "matplotlib>=3.11.2",
        "numpy>=2.4.6",
        "pillow",
        "pyulog>=1.3.0",
        "PyYAML>=6.0.3",
        "rosbags>=0.11.9",
        "scipy>=1.17.1",
        "tqdm>=4.70.1",
        "transforms3d>=0.4.2",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Frames, geodesy, time, parameters, cameras, messages, bags, the dispatcher.",
    license="Apache-2.0",
    # On the PATH: setup.cfg puts the scripts of this package into bin.
    entry_points={"console_scripts": ["aerotwin = aerotwin_core.cli:main"]},
    extras_require={
        "maps": [
            "opencv-contrib-python-headless>=5.0.0.93",
        ],
        "ros": [
            "ros-ament-index-python",
            "ros-builtin-interfaces~=2.0.3",
            "ros-diagnostic-msgs~=5.3.6",
            "ros-geometry-msgs~=5.3.6",
            "ros-rcl-interfaces",
            "ros-rclpy[fastrtps]~=7.1.6",
            "ros-sensor-msgs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
)
