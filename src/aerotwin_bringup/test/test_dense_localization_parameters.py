# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The node of the dense mission has the mission's parameters."""

import pytest

from aerotwin_bringup.ros.dense_localization import read_parameters
from aerotwin_core.errors import ParameterError
from aerotwin_scenarios.dense_localization.mission.mission import MissionParameters


@pytest.mark.ros
def test_parameters_of_the_node_are_those_of_the_mission_also_nested_ones():
    given = ["scan.standoff_m:=1", "loop.latency_s:=0.05", "mapping.extent_m:=[8.0, 3.0]"]
    words = [word for one in given for word in ("-p", one)]
    found = read_parameters(["--ros-args", *words])
    assert found.scan.standoff_m == 1.0
    assert found.scan.extent_m == MissionParameters().scan.extent_m
    assert found.loop.latency_s == 0.05
    assert found.mapping.extent_m == (8.0, 3.0)
    with pytest.raises(ParameterError, match="baselines: expected false"):
        read_parameters(["--ros-args", "-p", "baselines:=true"])
