# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_teach_repeat"

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
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "osqp>=1.1.3",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description=(
        "Teach and repeat by lidar: route graph, submaps, localisation, path tracking, "
        "deviation metrics."
    ),
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-geometry-msgs~=5.3.6",
            "ros-nav-msgs~=5.3.6",
            "ros-rclpy[fastrtps]~=7.1.6",
            "ros-std-srvs~=5.3.6",
            "ros-visualization-msgs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "console_scripts": [
            "repeat = aerotwin_teach_repeat.ros.repeat_node:main",
            "teach = aerotwin_teach_repeat.ros.teach_node:main",
        ],
        "aerotwin.commands": ["teach.info = aerotwin_teach_repeat.info_command"],
    },
)
