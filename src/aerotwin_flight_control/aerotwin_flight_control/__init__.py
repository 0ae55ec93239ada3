# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight control in a few lines of geometry: follow minimum-snap trajectories with rotor speeds.

World axes are ENU (`map`), body axes FLU; everything is SI. `GeometricController` follows flat
references, `plan_minimum_snap` makes them from way-points, `RelayReference` is the manoeuvre of
Pegasus; `WaypointController` and `RelayController` fly in the simulator as
`python:aerotwin_flight_control:Class`. The package knows no ROS and no estimator: it is fed truth.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_flight_control.allocation import Allocation
    from aerotwin_flight_control.controllers import (
        RelayController,
        RelayOptions,
        WaypointController,
        WaypointOptions,
    )
    from aerotwin_flight_control.geometric_controller import (
        BodyState,
        GeometricController,
        GeometricParameters,
    )
    from aerotwin_flight_control.minimum_snap import MinimumSnap, MotionLimits, plan_minimum_snap
    from aerotwin_flight_control.reference import FlatState, Reference, at_rest
    from aerotwin_flight_control.relay import RelayReference
    from aerotwin_flight_control.tracking import FlightOptions, TrackingController
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
