# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import find_packages, setup

PACKAGE = "aerotwin_worlds"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        # A link to the folder at the top of the workspace.
        (f"share/{PACKAGE}/worlds", glob("worlds/*.*")),
    ],
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_core==0.1.0",
        "aerotwin_generated_worlds==0.1.0",
        "aerotwin_meshes==0.1.0",
        "aerotwin_rendering==0.1.0",
        "aerotwin_tiles==0.1.0",
        "numpy>=2.4.6",
        "opencv-contrib-python-headless>=5.0.0.93",
        "PyYAML>=6.0.3",
        "tifffile>=2026.3.3",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Textured worlds, rasteriser, height and collision queries.",
    license="Apache-2.0",
    extras_require={
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "aerotwin.commands": [
            "world.village = aerotwin_worlds.village_command",
            "world.info = aerotwin_worlds.info_command",
            "world.render = aerotwin_worlds.render_command",
        ],
    },
)
