# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_scenarios"

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
    description="Use cases in simulation: survey, teach and repeat, dense localization, relay.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "aerotwin.commands": [
            "localize = aerotwin_scenarios.localize_command",
            "map = aerotwin_scenarios.map_command",
            "reconstruct.marks = aerotwin_scenarios.marks_command",
            "repeat = aerotwin_scenarios.repeat_command",
            "survey = aerotwin_scenarios.survey_command",
            "teach = aerotwin_scenarios.teach_command",
        ],
    },
)
