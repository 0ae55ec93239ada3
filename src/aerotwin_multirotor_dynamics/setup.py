# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_multirotor_dynamics"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["airframes/*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_core==0.1.0",
        "numba>=0.68.1",
        "numpy>=2.4.6",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Flight dynamics of multirotors: rotors with lag and drag, wind, ground contact.",
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-geometry-msgs~=5.3.6",
            "ros-nav-msgs~=5.3.6",
            "ros-rosgraph-msgs~=2.0.3",
            "ros-sensor-msgs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "console_scripts": ["dynamics_node = aerotwin_multirotor_dynamics.ros.dynamics_node:main"],
    },
)
