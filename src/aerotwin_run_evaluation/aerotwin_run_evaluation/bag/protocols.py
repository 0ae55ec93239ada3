# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One protocol for a whole run: a file with a part for each evaluation, or a preset of one.

The map evaluation is imported on demand: its kernels load slowly, and wheels contain it only with
the extra `maps`.
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
    """Return whether the map evaluation is installed."""
    return find_spec("aerotwin_map_evaluation") is not None


def trajectory_protocol(spec: str | None) -> Protocol[TrajectoryProtocol]:
    """Return the protocol of the trajectory; presets of maps do not affect it.

    Raises `ParameterError` if there is no such preset or file, or it contains a wrong value.
    """
    if not spec or spec in PRESETS or not can_judge_maps():
        return load_trajectory_protocol(spec or None)
    from aerotwin_map_evaluation import PRESETS as MAP_PRESETS

    return load_trajectory_protocol(None if spec in MAP_PRESETS else spec)


def map_protocol(spec: str | None) -> "Protocol[MapProtocol] | None":
    """Return the protocol of the map, None where `spec` does not define it; raises as above."""
    if not spec or spec in PRESETS or not can_judge_maps():
        return None
    from aerotwin_map_evaluation import load_map_protocol

    return load_map_protocol(spec)
