# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_tiles"

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
        "CacheControl[filecache]>=0.14.4",
        "numpy>=2.4.6",
        "PyYAML>=6.0.3",
        "requests>=2.34.2",
        "urllib3",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="OGC 3D Tiles from folders and servers, as textured meshes.",
    license="Apache-2.0",
    extras_require={
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "aerotwin.commands": [
            "world.tiles = aerotwin_tiles.tiles_command",
        ],
    },
)
