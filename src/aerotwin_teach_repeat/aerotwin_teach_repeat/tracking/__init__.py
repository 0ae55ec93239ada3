# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Route following: the route as a curve, a speed schedule, and path trackers.

Positions are in `map`, s is the arc length along the route in the horizontal plane. Commands are
the speed along the vehicle's x axis and its turn rate about z, positive to the left.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.tracking.model_predictive import ModelPredictiveTracker
    from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
    from aerotwin_teach_repeat.tracking.path_tracker import (
        PathTracker,
        TrackerCommand,
        speed_schedule,
    )
    from aerotwin_teach_repeat.tracking.pure_pursuit import PurePursuitTracker
    from aerotwin_teach_repeat.tracking.route_path import (
        RoutePath,
        RouteProgress,
        RouteProjection,
        Segment,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
