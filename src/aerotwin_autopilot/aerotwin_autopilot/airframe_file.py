# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A parameter file for another airframe, from plain numbers.

The autopilot does not read the simulator's airframe files: it has its own model of the vehicle.
A launcher that knows both writes this file for it.
"""

from dataclasses import replace

import yaml

from aerotwin_autopilot.parameters import (
    AirframeParameters,
    AutopilotParameters,
    load_autopilot_parameters,
)
from aerotwin_core.parameters import to_mapping


def parameters_text(airframe: AirframeParameters, base: AutopilotParameters | None = None) -> str:
    """Return the YAML text of the autopilot's parameters for an airframe.

    Body axes are forward, left, up, rotors in the order of the outputs. `base` provides estimator,
    gains and settings; the packaged ones by default.

    Examples
    --------
    >>> from aerotwin_autopilot import AirframeParameters, parameters_text
    >>> cross = AirframeParameters(
    ...     name="cross",
    ...     mass_kg=1.0,
    ...     inertia_kg_m2=(0.01, 0.01, 0.02),
    ...     rotor_x_m=(0.2, -0.2, 0.0, 0.0),
    ...     rotor_y_m=(0.0, 0.0, 0.2, -0.2),
    ...     rotor_is_ccw=(1.0, 1.0, -1.0, -1.0),
    ...     thrust_coefficient=6e-6,
    ...     moment_ratio_m=0.016,
    ...     command_offset_rad_s=0.0,
    ...     command_scale_rad_s=1000.0,
    ... )
    >>> "mass_kg: 1.0" in parameters_text(cross)
    True
    """
    parameters = replace(base or load_autopilot_parameters(), airframe=airframe)
    text: str = yaml.safe_dump(to_mapping(parameters), sort_keys=False)
    return text
