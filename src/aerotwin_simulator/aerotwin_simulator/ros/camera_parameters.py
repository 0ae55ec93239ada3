# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `cameras`: those of the composed simulator that concern cameras."""

import dataclasses
from typing import Any

from aerotwin_core.parameters import parameter
from aerotwin_simulator.parameters import SimulatorParameters


def _same(name: str) -> Any:
    """Declare a field as in the composed simulator."""
    field = SimulatorParameters.__dataclass_fields__[name]
    return dataclasses.field(default=field.default, metadata=field.metadata, kw_only=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CameraNodeParameters:
    """The cameras, their mounting, and the rendered world."""

    world: str = _same("world")
    camera: bool = _same("camera")
    camera_rate_hz: float = _same("camera_rate_hz")
    camera_width: int = _same("camera_width")
    camera_height: int = _same("camera_height")
    camera_focal_px: float = _same("camera_focal_px")
    camera_baseline_m: float = _same("camera_baseline_m")
    camera_forward_m: float = _same("camera_forward_m")
    camera_pitch_deg: float = _same("camera_pitch_deg")
    camera_noise: str = _same("camera_noise")
    camera_preset: str = _same("camera_preset")
    cameras: str = _same("cameras")
    seed: int = _same("seed")
    instance: int = _same("instance")
    input_timeout_s: float = parameter(
        0.0,
        text="longest gap between two truths before the node ends; 0 waits for ever",
        unit="s wall",
        minimum=0.0,
    )

    @property
    def flight(self) -> SimulatorParameters:
        """The same cameras as parameters of the composed simulator."""
        own = {field.name for field in dataclasses.fields(SimulatorParameters)}
        values = dataclasses.asdict(self)
        return SimulatorParameters(**{name: values[name] for name in values if name in own})
