# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs ROS 2 launch files (YAML front end) without ROS's own launch.

`expand_launch_file` turns a file and its arguments into a `Plan`: command lines, environments,
policies, equal to those of `ros2 launch`; `run_plan` starts, monitors and stops the processes.
Features outside the subset are refused by name and line before anything starts.
"""

from aerotwin_launch.errors import LaunchError
from aerotwin_launch.expand import expand_launch_file
from aerotwin_launch.plan import Plan, ProcessSpec
from aerotwin_launch.supervisor import run_plan

__all__ = ["LaunchError", "Plan", "ProcessSpec", "expand_launch_file", "run_plan"]
