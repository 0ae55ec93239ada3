# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of others beside a vehicle: MAVROS, and the Micro-XRCE-DDS agent of `px4_msgs`.

References: MAVROS 2, launch/px4.launch and node.launch (arguments of `mavros_node`); PX4 user
guide, "uXRCE-DDS" and "Multi-Vehicle Simulation with ROS 2".
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import parameter
from aerotwin_px4_bridge.program import AutopilotProcess
from aerotwin_px4_bridge.px4_files import offboard_port
from aerotwin_px4_bridge.px4_install import find_px4

AGENT_PORT = 8888
MAVROS_PORT = 14580  # of vehicle 0, the autopilot's side of its offboard link
GEOID = "egm96-5.pgm"
GEOID_FOLDERS = ("/usr/share/GeographicLib/geoids", "/usr/local/share/GeographicLib/geoids")
AGENTS = ("MicroXRCEAgent", "micro-xrce-dds-agent")
"""Names of the agent on PATH: built from its sources, and from its snap."""
UXRCE_CLIENT = "px4-uxrce_dds_client"


@dataclass(frozen=True, kw_only=True)
class MavrosParameters:
    """Which vehicles get a MAVROS."""

    instance: int = parameter(0, text="number of the first vehicle", minimum=0, maximum=200)
    instances: int = parameter(1, text="vehicles, each with its MAVROS", minimum=1, maximum=100)
    log_folder: str = parameter("runs/mavros", text="where the logs of MAVROS go")


@dataclass(frozen=True, kw_only=True)
class AgentParameters:
    """The agent that all vehicles share."""

    port: int = parameter(AGENT_PORT, text="UDP port of the agent", minimum=1, maximum=65535)
    px4_dir: str = parameter(
        "", text="PX4 that connects: tree, build or prefix; empty = PX4_DIR or a usual place"
    )
    log_folder: str = parameter("runs/xrce_agent", text="where the agent's log goes")


def mavros_programs(
    parameters: MavrosParameters, environment: Mapping[str, str] = os.environ
) -> list[AutopilotProcess]:
    """Return one MAVROS for each vehicle, not yet started.

    Its namespace is `mavros`, in a fleet `uav0/mavros`, `uav1/mavros` and so on, like the topics of
    the simulator. Raises UserError if MAVROS or its geoid is not installed.
    """
    distribution = environment.get("ROS_DISTRO", "jazzy")
    install = (
        f"sudo apt install ros-{distribution}-mavros ros-{distribution}-mavros-extras && "
        f"sudo /opt/ros/{distribution}/lib/mavros/install_geographiclib_datasets.sh"
    )
    program = _package_file("lib/mavros/mavros_node", environment)
    if program is None:
        raise UserError(
            "MAVROS: package 'mavros' with lib/mavros/mavros_node is not under any prefix of "
            f"AMENT_PREFIX_PATH; install it ({install}) and source its setup.bash"
        )
    if not any((Path(folder) / GEOID).is_file() for folder in _geoid_folders(environment)):
        raise UserError(
            f"MAVROS: its geoid {GEOID} is in none of {', '.join(_geoid_folders(environment))}, "
            f"and it ends without; install it ({install})"
        )
    folder = Path(parameters.log_folder)
    settings = _mavros_settings(program.parents[2] / "share/mavros/launch", folder)
    last = parameters.instance + parameters.instances
    return [
        _mavros(program, settings, i, f"uav{k}" if parameters.instances > 1 else "", folder)
        for k, i in enumerate(range(parameters.instance, last))
    ]


def _mavros(
    program: Path, settings: list[str], instance: int, vehicle: str, folder: Path
) -> AutopilotProcess:
    ours, its = offboard_port(instance), MAVROS_PORT + instance
    values = {
        "fcu_url": f"udp://127.0.0.1:{ours}@127.0.0.1:{its}",
        "gcs_url": "''",  # its default listens on a port that a fleet would share
        "tgt_system": instance + 1,
        "tgt_component": 1,
        "fcu_protocol": "v2.0",
    }
    arguments = ["--ros-args", "-r", f"__ns:={f'/{vehicle}' if vehicle else ''}/mavros", *settings]
    for name, value in values.items():
        arguments += ["-p", f"{name}:={value}"]
    return AutopilotProcess(
        [str(program), *arguments],
        log_path=folder / f"mavros_{instance}.log",
        name=f"MAVROS of vehicle {instance}",
    )


def _mavros_settings(shipped: Path, folder: Path) -> list[str]:
    """Return arguments for MAVROS's own files for PX4; these count in namespace /mavros only."""
    arguments: list[str] = []
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("px4_pluginlists.yaml", "px4_config.yaml"):
        if (shipped / name).is_file():
            text = (shipped / name).read_text(encoding="utf-8")
            (folder / name).write_text(text.replace("/mavros/**", "/**"), encoding="utf-8")
            arguments += ["--params-file", str(folder / name)]
    return arguments


def agent_program(
    parameters: AgentParameters, environment: Mapping[str, str] = os.environ
) -> AutopilotProcess:
    """Return the agent, not yet started; every PX4 connects to it and has a namespace `px4_N`.

    Raises UserError if no agent is installed, or PX4 was built without its client.
    """
    px4 = find_px4(parameters.px4_dir, environment)
    if not (px4.program.parent / UXRCE_CLIENT).exists():
        raise UserError(
            f"px4_msgs: {px4.build} was built without the module uxrce_dds_client; build 'make "
            "px4_sitl_default' of an unchanged PX4, 1.14 or later, and give it as px4_dir"
        )
    found = [path for name in AGENTS if (path := shutil.which(name, path=environment.get("PATH")))]
    ros_agent = _package_file("lib/micro_ros_agent/micro_ros_agent", environment)
    if ros_agent is not None:
        found.append(str(ros_agent))
    if not found:
        raise UserError(
            f"px4_msgs: no Micro-XRCE-DDS agent: none of {', '.join(AGENTS)} on PATH, and no "
            "package 'micro_ros_agent' under AMENT_PREFIX_PATH; install it (sudo snap install "
            "micro-xrce-dds-agent --edge, or build eProsima/Micro-XRCE-DDS-Agent v2.4.3)"
        )
    return AutopilotProcess(
        [found[0], "udp4", "--port", str(parameters.port)],
        log_path=Path(parameters.log_folder) / "xrce_agent.log",
        name="Micro-XRCE-DDS agent",
    )


def missing_messages(environment: Mapping[str, str] = os.environ) -> str:
    """Return what to do if `px4_msgs` is not installed, else an empty text."""
    marker = "share/ament_index/resource_index/packages/px4_msgs"
    if _package_file(marker, environment) is not None:
        return ""
    return (
        "package 'px4_msgs' is not installed: the agent publishes its topics, but no node here can "
        "read them; build PX4/px4_msgs of the release of this PX4 in a workspace, and source it"
    )


def _package_file(path: str, environment: Mapping[str, str]) -> Path | None:
    """Return a file of an installed package, from the first prefix that has it."""
    prefixes = environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    files = (Path(prefix) / path for prefix in prefixes if prefix)
    return next((file for file in files if file.is_file()), None)


def _geoid_folders(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return where GeographicLib looks for geoids, as its `Geoid::DefaultGeoidPath`."""
    if chosen := environment.get("GEOGRAPHICLIB_GEOID_PATH"):
        return (chosen,)
    if data := environment.get("GEOGRAPHICLIB_DATA"):
        return (f"{data}/geoids",)
    return GEOID_FOLDERS
