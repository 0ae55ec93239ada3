# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Entry points of the nodes, whose imports take seconds: Ctrl-C meanwhile ends them quietly."""

from aerotwin_core.start import run


def replay() -> None:
    """Run the process of launch/evaluate_bag.launch.yaml."""
    run("aerotwin_run_evaluation.ros.replay")
