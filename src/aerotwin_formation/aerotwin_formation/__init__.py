# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Formations of many vehicles that know of each other only what they received.

A leader flies its route and announces patterns: who flies where is the assignment of the smallest
sum of squared distances, flown by all at once on minimum-jerk curves that cannot meet. Followers
keep their places relative to the leader with its velocity fed forward, and avoid each other in the
metric of a downwash ellipsoid. Between them is a link with delay, loss and range. Point masses fly
all of it in one process. Positions are in `map` (east, north, up) [m]; offsets are relative to the
leader in the same axes. Nothing here uses ROS.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_formation.assignment import assign_goals
    from aerotwin_formation.avoidance import safe_velocities
    from aerotwin_formation.controllers import FollowerController, LeaderController
    from aerotwin_formation.fleet_noise import (
        EstimateErrorParameters,
        FleetNoise,
        FleetWindParameters,
    )
    from aerotwin_formation.flight import (
        FormationFlight,
        FormationFlightParameters,
        PatternChange,
        fly_formation,
    )
    from aerotwin_formation.follower import (
        FollowerCommands,
        FollowerParameters,
        follower_commands,
    )
    from aerotwin_formation.lattices import cube_pattern, grid_pattern, sphere_pattern
    from aerotwin_formation.leader import LeaderRoute, constant_route
    from aerotwin_formation.link import VehicleLinkParameters
    from aerotwin_formation.messages import VehicleReport
    from aerotwin_formation.minimum_jerk import share_of_way, shortest_duration_s
    from aerotwin_formation.mission import FormationMission, PatternOrder, load_mission
    from aerotwin_formation.parameters import FormationParameters
    from aerotwin_formation.patterns import (
        FormationPattern,
        load_pattern,
        shipped_pattern,
        shipped_patterns,
    )
    from aerotwin_formation.pilot import FormationPilot, PilotParameters
    from aerotwin_formation.plan import FormationPlan, PlanParameters, plan_transition
    from aerotwin_formation.point_mass import (
        PointMassParameters,
        PointMassState,
        at_rest,
        point_mass_step,
    )
    from aerotwin_formation.received import ReceivedReports
    from aerotwin_formation.record import FormationErrors, FormationRecord
    from aerotwin_formation.report_text import plan_from_text, plan_to_text
    from aerotwin_formation.separation import (
        SeparationParameters,
        closest_distance,
        closest_on_lines,
    )
    from aerotwin_formation.xtdrone import xtdrone_topology
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
