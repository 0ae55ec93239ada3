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
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description=(
        "Dense visual localisation close to structures: splat maps, their rendered views, and "
        "direct alignment of images to them."
    ),
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "localizer = aerotwin_dense_localization.ros.localizer_node:main",
            "mapper = aerotwin_dense_localization.ros.mapper_node:main",
        ],
    },
)
