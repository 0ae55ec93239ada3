# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_dense_localization"

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
        "aerotwin_stereo_odometry==0.1.0",
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "opencv-contrib-python-headless>=5.0.0.93",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description=(
        "Dense visual localisation close to structures: splat maps, their rendered views, and "
        "direct alignment of images to them."
    ),
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-diagnostic-msgs~=5.3.6",
            "ros-geometry-msgs~=5.3.6",
            "ros-nav-msgs~=5.3.6",
            "ros-rclpy[fastrtps]~=7.1.6",
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
            "localizer = aerotwin_dense_localization.ros.localizer_node:main",
            "mapper = aerotwin_dense_localization.ros.mapper_node:main",
        ],
    },
)
