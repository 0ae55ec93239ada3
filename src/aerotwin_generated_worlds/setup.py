# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_generated_worlds"

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
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "opencv-contrib-python-headless>=5.0.0.93",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Places generated from a seed: cliff, stadium, campus, road, grassland.",
    license="Apache-2.0",
    extras_require={
        "test": [
            "pytest",
        ],
    },
)
