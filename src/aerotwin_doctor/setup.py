# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_doctor"

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
        "aerotwin_multirotor_dynamics==0.1.0",
        "aerotwin_px4_bridge==0.1.0",
        "aerotwin_sensor_models==0.1.0",
        "numpy>=2.4.6",
        "psutil>=7.2.2",
        "pymavlink>=2.4.50",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="What is wrong with an installation or with a vehicle's link.",
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-diagnostic-msgs~=5.3.6",
            "ros-rclpy[fastrtps]~=7.1.6",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "aerotwin.commands": [
            "doctor = aerotwin_doctor.doctor_command",
        ],
    },
)
