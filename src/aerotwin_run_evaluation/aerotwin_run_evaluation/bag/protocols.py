# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One protocol for all of a run: a file with a part for each evaluation, or a preset of one.

The map evaluation is imported where it is asked for only: its kernels take time to load, and
wheels bring it with the extra `maps` only.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from aerotwin_core.protocol import Protocol
from aerotwin_trajectory_evaluation.protocol import (
    PRESETS,
    TrajectoryProtocol,
    load_trajectory_protocol,
)

if TYPE_CHECKING:
    from aerotwin_map_evaluation import MapProtocol


def can_judge_maps() -> bool:
    """Tell whether the map evaluation is installed."""
    return find_spec("aerotwin_map_evaluation") is not None


def trajectory_protocol(spec: str | None) -> Protocol[TrajectoryProtocol]:
    """Return the protocol of the trajectory; a preset of maps says nothing of it.

    Raises
    ------
    ParameterError
        If there is no such preset or file, or it holds a wrong value.
    """
    if not spec or spec in PRESETS or not can_judge_maps():
        return load_trajectory_protocol(spec or None)
    from aerotwin_map_evaluation import PRESETS as MAP_PRESETS

    return load_trajectory_protocol(None if spec in MAP_PRESETS else spec)


def map_protocol(spec: str | None) -> "Protocol[MapProtocol] | None":
    """Return the protocol of the map, None where `spec` says nothing of it; raises the same."""
    if not spec or spec in PRESETS or not can_judge_maps():
        return None
    from aerotwin_map_evaluation import load_map_protocol

    return load_map_protocol(spec)
