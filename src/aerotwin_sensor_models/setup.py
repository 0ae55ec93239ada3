# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_sensor_models"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["presets/*/*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_core==0.1.0",
        "matplotlib>=3.11.2",
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "pygeomag>=1.1.0",
        "rosbags>=0.11.9",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="What an aerial robot's sensors report: IMU, barometer, compass, GNSS, cameras.",
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-geometry-msgs~=5.3.6",
            "ros-nav-msgs~=5.3.6",
            "ros-sensor-msgs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "aerotwin.commands": ["plot.imu = aerotwin_sensor_models.plot_imu_command"],
        "console_scripts": ["sensors_node = aerotwin_sensor_models.ros.sensors_node:main"],
    },
)
