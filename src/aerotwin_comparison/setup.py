# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_comparison"

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
        "aerotwin_map_evaluation==0.1.0",
        "aerotwin_registration==0.1.0",
        "aerotwin_report==0.1.0",
        "aerotwin_trajectory_evaluation==0.1.0",
        "aerotwin_voxel_cloud==0.1.0",
        "numpy>=2.4.6",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description=(
        "Comparisons with statistics: a simulated and a real map against one model, and many runs "
        "of several methods on several sequences"
    ),
    license="Apache-2.0",
    extras_require={
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "aerotwin.commands": [
            "evaluate.twin = aerotwin_comparison.twin_command",
            "evaluate.study = aerotwin_comparison.study_command",
        ],
    },
)
