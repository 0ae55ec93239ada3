# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A port that another simulator holds is refused, with the instance to fly instead."""

import pytest

from aerotwin_ardupilot_bridge import json_port
from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import HilLink, hil_port
from aerotwin_px4_bridge.udp_port import bind_udp
from aerotwin_simulator import FleetSettings, MissionSettings, SimulatorParameters
from aerotwin_simulator.controller_settings import ControllerSettings
from aerotwin_simulator.preflight import check_before_flight

FIRST = 171
"""No other test uses the ports from here on."""


@pytest.fixture
def held():
    links = [HilLink(hil_port(FIRST + k)) for k in (0, 2)]
    yield
    for link in links:
        link.close()


@pytest.mark.parametrize(("instances", "free"), [(1, FIRST + 1), (2, FIRST + 3)])
def test_a_held_port_is_refused_with_the_next_instance_that_is_free(held, instances, free):
    parameters = SimulatorParameters(
        world="meadow",
        mission=MissionSettings(file="none"),
        fleet=FleetSettings(instance=FIRST, instances=instances),
    )
    port = hil_port(FIRST)
    expected = rf"^fleet\.instance: HIL link: TCP port {port} .*instance; {free} is free$"
    with pytest.raises(UserError, match=expected):
        check_before_flight(parameters)


@pytest.mark.parametrize(("instances", "free"), [(1, FIRST + 1), (2, FIRST + 3)])
def test_so_is_a_port_that_ardupilot_sends_to(instances, free):
    parameters = SimulatorParameters(
        world="meadow",
        mission=MissionSettings(file="none"),
        controller=ControllerSettings(kind="ardupilot"),
        fleet=FleetSettings(instance=FIRST, instances=instances),
    )
    port = json_port(FIRST)
    held = [bind_udp("", "127.0.0.1", json_port(FIRST + k), "") for k in (0, 2)]
    expected = rf"^fleet\.instance: JSON link: UDP port {port} .*instance; {free} is free$"
    with pytest.raises(UserError, match=expected):
        check_before_flight(parameters)
    for each in held:
        each.close()
