# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Entry point of the node, whose imports take seconds: Ctrl-C meanwhile ends it quietly."""

from aerotwin_core.start import run


def view() -> None:
    """Run the node `view`."""
    run("aerotwin_view.ros.view_node")
