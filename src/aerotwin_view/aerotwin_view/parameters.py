# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the view of robots that are heard."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_view.defaults import (
    DEFAULT_PORT,
    FIRST_PORT,
    LAST_PORT,
    LOOPBACK,
    NO_WORLD,
)


@dataclass(frozen=True, kw_only=True)
class ViewParameters:
    """What is shown beside the robots, and where the page is."""

    world: str = parameter(NO_WORLD, text="name or path of the world that is shown, or none")
    host: str = parameter(LOOPBACK, text="address to listen on; beyond loopback with a token")
    port: int = parameter(
        DEFAULT_PORT, text="or the next free one", minimum=FIRST_PORT, maximum=LAST_PORT
    )
    rate_hz: float = parameter(
        30.0,
        text="updates of the page",
        unit="Hz",
        minimum=1.0,
        maximum=60.0,
    )
    simulator: str = parameter(
        "", text="node that is paused, stepped and reset; empty = who publishes /clock"
    )
