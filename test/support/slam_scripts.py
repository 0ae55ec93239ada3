# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scripts that are run as SLAMs that read a data set."""

import sys

FRAME_NS = 500_000_000  # a path that bends
IMU_TRUTH = """
import csv, sys
with open(sys.argv[1] + "/mav0/state_groundtruth_estimate0/data.csv") as file:
    rows = [row for row in csv.reader(file) if not row[0].startswith("#")]
with open("trajectory.txt", "w") as file:
    for stamp, x, y, z, qw, qx, qy, qz, *_ in rows:
        print(f"{int(stamp) // 10**9}.{int(stamp) % 10**9:09d}", x, y, z, qx, qy, qz, qw, file=file)
"""
DESCRIPTION = {
    "name": "copier",
    "command": ["{program}", "{script}", "{dataset}"],
    "paths": [{"name": "program", "default": sys.executable}, {"name": "script"}],
    "trajectory": {"file": "trajectory.txt"},
    "timeout_s": 60.0,
}
