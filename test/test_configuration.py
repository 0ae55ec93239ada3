# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every file in config/ is loaded by the dataclass that reads it in use."""

from pathlib import Path

import pytest

from aerotwin_core.parameters import load_parameters, load_parameters_file, read_yaml

CONFIG = Path(__file__).resolve().parent.parent / "config"
MISSIONS = sorted((CONFIG / "missions").glob("*.yaml"))
NODES = sorted(path for path in CONFIG.glob("*/*.yaml") if path.parent.name != "missions")


@pytest.mark.parametrize("path", MISSIONS, ids=lambda path: path.name)
def test_a_mission_is_a_mission(path):
    from aerotwin_px4_bridge import Mission

    assert load_parameters_file(Mission, path).waypoints


@pytest.mark.ros
@pytest.mark.parametrize("path", NODES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_parameters_of_a_node_are_all_known_to_it(path):
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters
    from aerotwin_stereo_odometry.ros.stereo_odometry_node import StereoOdometryNodeParameters

    types = {"simulator": SitlFlightParameters, "stereo_odometry": StereoOdometryNodeParameters}
    (section,) = read_yaml(path).values()
    load_parameters(types[path.stem], section["ros__parameters"], where=str(path))
