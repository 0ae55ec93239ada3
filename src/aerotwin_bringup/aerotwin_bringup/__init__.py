# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios: launch files, their configuration, and the runner that starts them.

`launch_runner` runs ROS 2 launch files of the YAML front end where ROS's own launch is not
installed; elsewhere `ros2 launch` runs the same files.
"""

__all__: list[str] = []
