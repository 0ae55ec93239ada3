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
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="What an aerial robot's sensors report: IMU, barometer, compass, GNSS, cameras.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "aerotwin.commands": ["plot.imu = aerotwin_sensor_models.plot_imu_command"],
        "console_scripts": ["sensors_node = aerotwin_sensor_models.ros.sensors_node:main"],
    },
)
