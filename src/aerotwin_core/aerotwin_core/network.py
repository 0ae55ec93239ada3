# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which network the nodes of this workspace use: this machine only, unless it was opened.

`AEROTWIN_NETWORK` is `loopback` or `lan`; launch files set it from their argument `network`. All
other DDS settings follow from it, for our own nodes here, and for those of others that a launch
file starts in launch/network.launch.yaml, which must be consistent with this module.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path
from xml.etree import ElementTree

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import whole_number

NETWORK = "AEROTWIN_NETWORK"
LOOPBACK, LAN = "loopback", "lan"
PROFILES = "FASTDDS_DEFAULT_PROFILES_FILE"
PROFILES_2 = "FASTRTPS_DEFAULT_PROFILES_FILE"
"""What Fast DDS 2 (Jazzy) reads; Fast DDS 3 (Kilted) warns of it."""
DISCOVERY_RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
FIRST_RMW_OF_FAST_DDS_3 = 9
"""Major version of rmw_fastrtps_cpp: 8.4 in Jazzy, 9.3 in Kilted."""
DOMAIN, HIGHEST_DOMAIN = "ROS_DOMAIN_ID", 232
"""Ports of a domain above it would be higher than 65535 (RTPS 2.5, section 9.6.1.1)."""
_DEPRECATED = "ROS_LOCALHOST_ONLY"


def choose_network(environment: MutableMapping[str, str] = os.environ) -> str:
    """Set what DDS reads when the first node of a process is made; return the network.

    On the loopback, profiles and discovery range of the environment are replaced; on the LAN
    existing ones are retained. Fast DDS is restricted to the loopback by its profile alone: with
    ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS adds a transport that opens sockets on every
    network card. Another middleware is restricted by that variable.

    Raises `ParameterError` if AEROTWIN_NETWORK is neither, or ROS_DOMAIN_ID is no number of a
    domain.
    """
    from ament_index_python.packages import get_package_share_directory

    network = environment.get(NETWORK, LOOPBACK)
    if network not in (LOOPBACK, LAN):
        raise ParameterError(f"{NETWORK}: expected {LOOPBACK} or {LAN}, found '{network}'")
    text = environment.get(DOMAIN, "")
    domain = whole_number(text or "0")  # rclpy takes an empty one for 0
    if domain is None or domain > HIGHEST_DOMAIN:
        raise ParameterError(
            f"{DOMAIN}: expected a number of 0 to {HIGHEST_DOMAIN}, found '{text}'; "
            f"export {DOMAIN}=0 (or 1 to 101)"
        )
    path = f"{get_package_share_directory('aerotwin_core')}/network/{network}.xml"
    if network == LAN:
        path = environment.get(PROFILES, path)
    else:
        environment.pop(_DEPRECATED, None)
        is_fast = "fastrtps" in environment.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")
        environment[DISCOVERY_RANGE] = "SUBNET" if is_fast else "LOCALHOST"
    environment[PROFILES] = path
    if _is_fast_dds_2():
        environment[PROFILES_2] = path
    else:
        environment.pop(PROFILES_2, None)
    return network


def _is_fast_dds_2() -> bool:
    """Tell by the version of ROS's package on top of it."""
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        manifest = Path(get_package_share_directory("rmw_fastrtps_cpp")) / "package.xml"
        version = ElementTree.parse(manifest).findtext("version", "")
    except (PackageNotFoundError, OSError, ElementTree.ParseError):
        return False
    return int(version.partition(".")[0] or 0) < FIRST_RMW_OF_FAST_DDS_3
