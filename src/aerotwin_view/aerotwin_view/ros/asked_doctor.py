# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Asks the doctor about the vehicle that is chosen on the page."""

import re

from aerotwin_doctor import Check, ok, warn
from aerotwin_view.panels.steering_panel import SteeringPanel
from aerotwin_view.ros.run_clock import RunClock
from aerotwin_view.ros.simulator_settings import SimulatorSettings

_DEFAULT_AIRFRAME = "iris"
_NUMBERED = re.compile(r"uav(\d{1,3})")
"""Names of the vehicles of a fleet that are numbered."""
_PAUSED = "simulated time stands still: no link says anything while the run is paused"


def asked_doctor(settings: SimulatorSettings, panel: SteeringPanel, clock: RunClock) -> list[Check]:
    """Return the findings about the link of the chosen vehicle and /diagnostics; takes seconds.

    A run that is paused is silent, which is no fault of its vehicle: only the pause is found.
    """
    if clock.is_paused:
        return [warn("run.clock", _PAUSED, "let it go on, then check again")]
    from aerotwin_doctor.running_checks import running_checks  # MAVLink's messages take their time

    numbered = _NUMBERED.fullmatch(panel.vehicle)
    instance = settings.instance + (0 if numbered is None else int(numbered[1]))
    airframe = settings.airframe or _DEFAULT_AIRFRAME
    listened = ok("link.vehicle", f"listened to vehicle {instance}, airframe {airframe}")
    return [listened, *running_checks(instance, airframe=airframe)]
