# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write a vehicle as URDF, as a flight publishes it on robot_description.

VEHICLE is an airframe (name, or YAML file), or a ground robot (unicycle, bicycle). Links and fixed
joints are base_link, the rotors, and the sensors that the options name; masses and inertias are
those of the airframe. In a flight the simulator publishes the same frames on /tf_static: start no
robot_state_publisher beside it.

Examples
--------
  aerotwin urdf iris -o iris.urdf
  aerotwin urdf my_drone.yaml --no-stereo --lidar spinning_16 -o my_drone.urdf
  aerotwin urdf bicycle --lidar spinning_32 -o robot.urdf
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("vehicle", metavar="VEHICLE", help="airframe, or unicycle or bicycle")
    add("-o", "--out", type=Path, required=True, metavar="FILE", help="the URDF")
    add("--lidar", metavar="PRESET", help="with this lidar (a ground robot has spinning_16)")
    add("--radar", metavar="PRESET", help="with this spinning radar")
    add("--cameras", metavar="FILE", help="with the cameras of this file")
    add("--camera-preset", metavar="PRESET", help="preset of the stereo pair")
    add("--no-stereo", action="store_true", help="without the stereo pair")
    add("--range-finder", metavar="PRESET", help="with this range finder")
    add("--imu", metavar="PRESET", help="with this IMU (adis16448)")
    add("--name", default="", help="name in a fleet, the prefix of its frames")


def run(args: argparse.Namespace) -> int:
    """Make the description and write it."""
    from aerotwin_core.cli import say, write_text_atomically
    from aerotwin_core.errors import UserError
    from aerotwin_ground_simulator.robot import KINDS

    for given in (args.vehicle, args.cameras):
        if given and Path(given).is_file() and args.out.exists() and args.out.samefile(given):
            raise UserError(f"-o: {given} is an input and would be written over; name another")
    text = _ground_robot(args) if args.vehicle in KINDS else _multirotor(args)
    write_text_atomically(args.out, text)
    say(f"{args.out}: {text.count('<link ')} links")
    return 0


def _multirotor(args: argparse.Namespace) -> str:
    from aerotwin_core.parameters import replaced
    from aerotwin_simulator.fixed_frames import describe_vehicle
    from aerotwin_simulator.parameters import SimulatorParameters

    asked = {
        "airframe": args.vehicle,
        "lidar.preset": args.lidar,
        "radar.preset": args.radar,
        "camera.file": args.cameras,
        "camera.preset": args.camera_preset,
        "camera.is_rendered": False if args.no_stereo else None,
        "sensors.range_finder": args.range_finder,
        "sensors.imu": args.imu,
    }
    changes = {name: value for name, value in asked.items() if value is not None}
    return describe_vehicle(replaced(SimulatorParameters(), changes), args.name)


def _ground_robot(args: argparse.Namespace) -> str:
    from aerotwin_core.parameters import replaced
    from aerotwin_ground_simulator.robot import GroundRobotParameters, describe_ground_robot

    asked = {"vehicle": args.vehicle, "lidar.preset": args.lidar, "radar.preset": args.radar}
    changes = {name: value for name, value in asked.items() if value is not None}
    return describe_ground_robot(replaced(GroundRobotParameters(), changes))
