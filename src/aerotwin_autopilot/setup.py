# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

PACKAGE = "aerotwin_autopilot"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_core==0.1.0",
        "aerotwin_px4_bridge==0.1.0",
        "fastcrc>=0.5.0",
        "numba>=0.68.1",
        "numpy>=2.4.6",
        "pygeomag>=1.1.0",
        "pymavlink>=2.4.50",
        "PyYAML>=6.0.3",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Embedded autopilot: estimator, controllers and MAVLink server behind the HIL link",
    license="Apache-2.0",
    extras_require={
        "test": [
            "pytest",
        ],
    },
    entry_points={
        "console_scripts": [
            "embedded_autopilot = aerotwin_autopilot.embedded_autopilot:main",
        ],
    },
)
