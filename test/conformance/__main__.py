# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ask a running simulator for each feature of simulation_interfaces 2.1, and print a table.

Run from `test/` of a checkout: ``python -m conformance /simulator``. Any simulator will do that
offers the services below the namespace; it is paused, stepped, reset and its world reloaded. The
exit code is 1 where an announced feature fails or one that is not announced is not refused.
"""

import argparse
import sys

import rclpy

from aerotwin_core.ros.node import init_rclpy
from conformance.client import SimulatorClient
from conformance.suite import run_suite, table


def main() -> int:
    """Run the suite; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m conformance")
    parser.add_argument("namespace", help="namespace of the services, / for none")
    parser.add_argument("--limit", type=float, default=120.0, help="longest answer [s]")
    parser.add_argument("--only", nargs="*", default=[], help="features by name")
    parser.add_argument("--quit", action="store_true", help="end the simulator at last")
    options = parser.parse_args()
    init_rclpy()
    sim = SimulatorClient(options.namespace, options.limit)
    try:
        rows = run_suite(
            sim,
            only=options.only,
            quits=options.quit,
            on_row=lambda row: print(f"{row.feature}: {row.result} {row.note}", flush=True),
        )
    finally:
        sim.close()
        rclpy.try_shutdown()
    print(table(rows))
    return int(not all(row.is_conform for row in rows))


if __name__ == "__main__":
    sys.exit(main())
