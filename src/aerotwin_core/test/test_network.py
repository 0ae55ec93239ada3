# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What DDS reads follows from one variable."""

from pathlib import Path

import pytest

from aerotwin_core.errors import ParameterError

pytestmark = pytest.mark.ros


@pytest.fixture
def choose():
    from aerotwin_core.network import choose_network

    return choose_network


def test_nodes_are_held_to_the_loopback_whatever_the_shell_says(choose):
    environment = {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "FASTDDS_DEFAULT_PROFILES_FILE": "/elsewhere.xml",
        "ROS_LOCALHOST_ONLY": "1",
    }
    assert choose(environment) == "loopback"
    profiles = Path(environment["FASTDDS_DEFAULT_PROFILES_FILE"])
    assert "<address>127.0.0.1</address>" in profiles.read_text()
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
    assert "ROS_LOCALHOST_ONLY" not in environment


def test_another_middleware_is_held_by_the_discovery_range(choose):
    environment = {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}
    choose(environment)
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"


def test_on_the_lan_profiles_of_ones_own_are_kept(choose):
    environment = {"AEROTWIN_NETWORK": "lan", "FASTDDS_DEFAULT_PROFILES_FILE": "/own.xml"}
    assert choose(environment) == "lan"
    assert environment["FASTDDS_DEFAULT_PROFILES_FILE"] == "/own.xml"
    assert "ROS_AUTOMATIC_DISCOVERY_RANGE" not in environment
    opened = {"AEROTWIN_NETWORK": "lan"}
    choose(opened)
    assert "interfaceWhiteList" not in Path(opened["FASTDDS_DEFAULT_PROFILES_FILE"]).read_text()


def test_a_network_that_does_not_exist_is_refused(choose):
    with pytest.raises(ParameterError, match="AEROTWIN_NETWORK: expected loopback or lan"):
        choose({"AEROTWIN_NETWORK": "moon"})
