# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process `fleet_slams`: the shipped SLAM of each vehicle of a fleet, in its namespace."""

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rclpy
import yaml
from rclpy.signals import SignalHandlerOptions

from aerotwin_bringup.ros.sitl_flight import OF_LIDAR, SHIPPED
from aerotwin_core.cli import say_fatal
from aerotwin_core.errors import ParameterError, UserError, exit_code_of
from aerotwin_core.parameters import group, parameter
from aerotwin_core.ros.node import init_rclpy
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_launch import expand_launch_file, run_plan
from aerotwin_launch.log_folder import make_log_folder
from aerotwin_launch.packages import package_share
from aerotwin_simulator import FleetSettings, topics
from aerotwin_simulator.fleet import fleet_name
from aerotwin_simulator.fleet_file import load_fleet

PACKAGES = {SHIPPED: "aerotwin_stereo_odometry", OF_LIDAR: "aerotwin_kiss_icp"}


@dataclass(frozen=True, kw_only=True)
class FleetSlamsParameters:
    """The fleet, and the SLAM of its vehicles."""

    fleet: FleetSettings = group(FleetSettings)
    slam: str = parameter(SHIPPED, text="of the vehicles for which the fleet file names none")
    slam_parameters: str = parameter(
        "", text="parameter file of that SLAM; empty = the shipped one, as for all others"
    )


def vehicle_slams(parameters: FleetSlamsParameters) -> dict[str, str]:
    """Return the SLAM of each vehicle by name. Raises ParameterError if the file is wrong."""
    fleet, slam = parameters.fleet, parameters.slam
    if fleet.file == "none":
        return {fleet_name(k): slam for k in range(fleet.instances)}
    vehicles = [entry.vehicle for entry in load_fleet(fleet.file)]
    return {each.name: slam if each.slam is None else each.slam for each in vehicles}


def launch_document(
    parameters: FleetSlamsParameters, shipped: Path, namespace: str = ""
) -> dict[str, Any]:
    """Return a launch file with the shipped SLAMs of the fleet; `shipped`: folder of their files.

    `namespace` is that of the simulator.
    """
    actions = []
    for vehicle, slam in vehicle_slams(parameters).items():
        if slam not in PACKAGES:
            continue
        own = parameters.slam_parameters if slam == parameters.slam else ""
        node = {
            "pkg": PACKAGES[slam],
            "exec": slam,
            "name": slam,
            "namespace": topics.resolve(vehicle, namespace),
            "output": "screen",
            "param": [
                {"name": "use_sim_time", "value": True},
                {"from": own or str(shipped / f"{slam}.yaml")},
                {"name": "odom_frame", "value": topics.frame(vehicle, "odom")},
                {"name": "base_frame", "value": topics.frame(vehicle, "base_link")},
            ],
        }
        actions.append({"node": node})
    return {"launch": actions}


def read_parameters() -> tuple[FleetSlamsParameters, str]:
    """Return the parameters and namespace of the node, which exists only for this call."""
    init_rclpy(signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = ConfiguredNode("fleet_slams")
        try:
            return declare_parameters(node, FleetSlamsParameters), node.get_namespace()
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def main() -> None:
    """Entry point of the executable `fleet_slams`: start the SLAMs, and end them at a signal."""
    try:
        parameters, namespace = read_parameters()
        shipped = package_share("aerotwin_bringup", os.environ) / "config" / "sitl_flight"
        try:
            document = launch_document(parameters, shipped, namespace)
        except ParameterError:
            text = "no SLAM is started: the fleet is wrong, as the simulator says"
            raise ParameterError(text) from None
        if not document["launch"]:
            return  # all are the user's own, or none
        with tempfile.TemporaryDirectory(prefix="aerotwin_slams_") as folder:
            path = Path(folder) / "slams.launch.yaml"
            path.write_text(yaml.safe_dump(document), encoding="utf-8")
            plan = expand_launch_file(path, {}, dict(os.environ))
            code = run_plan(plan, make_log_folder(os.environ), name="fleet_slams")
    except (UserError, OSError) as error:
        say_fatal(error)
        code = exit_code_of(error)
    sys.exit(code)
