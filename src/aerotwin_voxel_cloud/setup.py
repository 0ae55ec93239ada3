# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_voxel_cloud"

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
        "aerotwin_meshes==0.1.0",
        "aerotwin_registration==0.1.0",
        "aerotwin_tiles==0.1.0",
        "aerotwin_worlds==0.1.0",
        "matplotlib>=3.11.2",
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="A world's surface as an occupancy grid, a binvox file and a point cloud",
    license="Apache-2.0",
    extras_require={
        "ros": [
            "ros-sensor-msgs~=5.3.6",
        ],
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "console_scripts": [
            "voxel_cloud = aerotwin_voxel_cloud.ros.voxel_cloud_node:main",
        ],
        "aerotwin.commands": [
            "voxels = aerotwin_voxel_cloud.command",
            "voxels.info = aerotwin_voxel_cloud.info_command",
        ],
    },
)
