# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_run_evaluation"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Evaluation and report of flights and of recorded bags.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "aerotwin.commands": [
            "bag.kitti = aerotwin_run_evaluation.kitti_bag_command",
            "evaluate.bag = aerotwin_run_evaluation.evaluate_bag_command",
        ],
        "console_scripts": [
            "replay = aerotwin_run_evaluation.start:replay",
        ],
    },
)
