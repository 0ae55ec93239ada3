# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a launch file without ROS's own launch.

FILE is a path to a YAML launch file, the name of one of this workspace (sitl_flight, from any
folder), or PACKAGE FILE as in `ros2 launch`. The same files run
through `ros2 launch` on a ROS machine; this command builds the very same command lines, and
refuses what it does not know by name and line before anything starts.

  aerotwin launch launch/sitl_flight.launch.yaml --show-args
  aerotwin launch launch/sitl_flight.launch.yaml world:=cliff seed:=3

Ctrl-C stops every process: SIGINT, after 5 s SIGTERM, after 9 s SIGKILL, or later where the launch
file leaves time to write a report; a second Ctrl-C gives that up. Exit code: that of the first
required process (`on_exit: shutdown`) that failed, else of another process that failed for good;
130 after Ctrl-C, 143 after SIGTERM; 2 when the launch file or an argument is wrong; else 0.
Output is kept below ROS_LOG_DIR (~/.ros/log), one file per process.
"""

import argparse
import os
import sys
from collections.abc import Mapping

from aerotwin_core.cli import write_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.usage = "%(prog)s [options] FILE | PACKAGE FILE [name:=value ...]"
    # Options may be between the arguments: "FILE --print-commands seed:=3".
    parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
    parser.add_argument(
        "words",
        nargs="+",
        metavar="FILE",
        help="launch file, or package and launch file; then arguments of the launch file",
    )
    parser.add_argument(
        "--show-args", action="store_true", help="print what the file takes, and end"
    )
    parser.add_argument(
        "--print-commands", action="store_true", help="print the command lines, start nothing"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="with --print-commands: also as JSON ('-': stdout)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the launch file and return its exit code."""
    from aerotwin_core.launch_record import record_environment
    from aerotwin_launch import expand_launch_file, run_plan
    from aerotwin_launch.arguments import (
        ENDING,
        describe_arguments,
        find_launch_file,
        split_tokens,
    )
    from aerotwin_launch.dry_run import command_records, command_text
    from aerotwin_launch.log_folder import make_log_folder

    environment = dict(os.environ)
    target, arguments = split_tokens(args.words)
    path = find_launch_file(target, environment)
    if args.show_args:
        sys.stdout.write(describe_arguments(path))
        return 0
    environment |= record_environment(path.name.removesuffix(ENDING), arguments)
    plan = expand_launch_file(path, arguments, environment)
    if args.print_commands:
        if args.json != "-":
            sys.stdout.write(command_text(plan, environment))
        write_json(args.json, command_records(plan, environment))
        return 0
    sys.stdout.flush()
    return run_plan(plan, make_log_folder(environment))


def launch_scenario(package: str, name: str, arguments: Mapping[str, str]) -> int:
    """Run a package's launch file from another command and return its exit code.

    Raises `LaunchError` if the package is not installed, has no such file, or an argument is wrong.
    """
    from aerotwin_launch import expand_launch_file, run_plan
    from aerotwin_launch.arguments import find_launch_file
    from aerotwin_launch.log_folder import make_log_folder

    environment = dict(os.environ)
    path = find_launch_file((package, name), environment)
    plan = expand_launch_file(path, dict(arguments), environment)
    return run_plan(plan, make_log_folder(environment))
