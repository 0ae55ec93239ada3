# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What DDS reads follows from one variable."""

import os
import subprocess
import sys
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


def test_on_the_lan_profiles_of_ones_own_are_retained(choose):
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


@pytest.mark.parametrize("text", ["abc", "-1", "233", "99999", "1.5", "٣", "5\x1b[31m", "9" * 9999])
def test_a_domain_that_does_not_exist_is_refused(choose, text):
    with pytest.raises(ParameterError, match="ROS_DOMAIN_ID: expected a number of 0 to 232"):
        choose({"ROS_DOMAIN_ID": text})


@pytest.mark.parametrize("text", ["", "0", "101", "232"])
def test_a_domain_that_rclpy_accepts_is_used(choose, text):
    environment = {"ROS_DOMAIN_ID": text}
    choose(environment)
    assert environment["ROS_DOMAIN_ID"] == text


@pytest.mark.parametrize("variable", ["ROS_DOMAIN_ID", "AEROTWIN_NETWORK"])
def test_every_program_ends_with_one_line_where_there_is_no_such_network(variable):
    code = "from aerotwin_core.ros.node import init_rclpy; init_rclpy()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, variable: "abc\x1b[31m"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 78
    assert done.stderr.startswith(f"fatal: {variable}: expected ")
    assert done.stderr.count("\n") == 1
    assert done.stderr[:-1].isprintable()
