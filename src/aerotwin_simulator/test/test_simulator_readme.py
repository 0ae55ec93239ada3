# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from aerotwin_core.parameters import parameter_table_markdown

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_holds_the_table_of_a_file_of_cameras():
    from aerotwin_simulator.camera_file import MountedCamera

    assert parameter_table_markdown(MountedCamera) in README.read_text(encoding="utf-8")


def test_the_readme_holds_the_table_of_the_camera_node():
    from aerotwin_simulator.ros.camera_parameters import CameraNodeParameters

    assert parameter_table_markdown(CameraNodeParameters) in README.read_text(encoding="utf-8")


@pytest.mark.ros
def test_the_readme_holds_the_table_of_every_parameter():
    from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters

    assert parameter_table_markdown(FlightNodeParameters) in README.read_text(encoding="utf-8")


def test_the_readme_holds_the_table_of_the_ground_simulator():
    from aerotwin_simulator.ros.ground_parameters import GroundSimulatorParameters

    assert parameter_table_markdown(GroundSimulatorParameters) in README.read_text("utf-8")
