# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_doctor"

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
    description="What is wrong with an installation or with a vehicle's link.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "aerotwin.commands": [
            "doctor = aerotwin_doctor.doctor_command",
        ],
    },
)
