# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Entry point of the executable `simulator`."""

from aerotwin_core.start import run


def main() -> None:
    """Load the simulator's node, which takes seconds, and run it."""
    run("aerotwin_simulator.ros.process")
