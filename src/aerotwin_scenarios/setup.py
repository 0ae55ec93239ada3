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
    python_requires=">=3.11",
    install_requires=[
        "aerotwin_core==0.1.0",
        "aerotwin_dense_localization==0.1.0",
        "aerotwin_flight_control==0.1.0",
        "aerotwin_generated_worlds==0.1.0",
        "aerotwin_ground_dynamics==0.1.0",
        "aerotwin_map_evaluation==0.1.0",
        "aerotwin_multirotor_dynamics==0.1.0",
        "aerotwin_px4_bridge==0.1.0",
        "aerotwin_reconstruction==0.1.0",
        "aerotwin_registration==0.1.0",
        "aerotwin_rendering==0.1.0",
        "aerotwin_repeat_evaluation==0.1.0",
        "aerotwin_report==0.1.0",
        "aerotwin_run_evaluation==0.1.0",
        "aerotwin_sensor_models==0.1.0",
        "aerotwin_simulator==0.1.0",
        "aerotwin_stereo_odometry==0.1.0",
        "aerotwin_teach_repeat==0.1.0",
        "aerotwin_trajectory_evaluation==0.1.0",
        "aerotwin_voxel_cloud==0.1.0",
        "aerotwin_worlds==0.1.0",
        "numpy>=2.4.6",
        "opencv-contrib-python-headless>=5.0.0.93",
        "PyYAML>=6.0.3",
        "scipy>=1.17.1",
    ],
    zip_safe=False,
    maintainer="aerotwin contributors",
    maintainer_email="maintainers@aerotwin.dev",
    description="Use cases in simulation: survey, teach and repeat, dense localization, relay.",
    license="Apache-2.0",
    extras_require={
        "test": [
            "pytest",
        ],
    },
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
