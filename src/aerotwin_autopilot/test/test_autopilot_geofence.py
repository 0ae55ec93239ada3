# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Geofences: inside and outside against matplotlib, breaches in flight; rally points."""

import math

import numpy as np
import pytest
from matplotlib.path import Path

from aerotwin_autopilot import geofence as gf
from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.geofence import Geofence, fence_fault, fence_plan_fault, is_inside_polygon
from aerotwin_autopilot.mission import MissionItem
from aerotwin_autopilot.offboard import OffboardTarget
from aerotwin_autopilot.parameters import TunableParameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane

PLANE = LocalTangentPlane(
    GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
)
HOME = np.zeros(3)
GLOBAL = 5
NAN = math.nan
RALLY_POINT = 5100
ARRIVAL_ERROR_M = 1.5
"""Of the estimate, 3 sigma of a GNSS position."""


def corner(command: int, first: float, east: float, north: float) -> MissionItem:
    latitude, longitude, _ = PLANE.to_geodetic(np.array([east, north, 0.0]))
    return MissionItem(
        command=command, frame=GLOBAL, parameters=(first, 0.0, 0.0, NAN),
        latitude_deg=latitude, longitude_deg=longitude, altitude_m=0.0,
    )  # fmt: skip


def polygon(command: int, corners) -> list[MissionItem]:
    return [corner(command, len(corners), *place) for place in corners]


def square(command: int, half: float) -> list[MissionItem]:
    return polygon(command, [(-half, -half), (half, -half), (half, half), (-half, half)])


def breach(items: list[MissionItem], east: float, north: float, up: float = 5.0, **limits) -> str:
    fence = Geofence(Settings(TunableParameters(**limits)))
    fence.store(items)
    return fence.breach(np.array([east, north, up]), PLANE, HOME)


@pytest.mark.parametrize("seed", range(5))
def test_a_point_is_inside_where_matplotlib_says_so(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0.0, math.tau, 9))
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1) * rng.uniform(5.0, 50.0, (9, 1))
    shape = Path(corners)
    for point in rng.uniform(-50.0, 50.0, (200, 2)):
        assert is_inside_polygon(point, corners) == shape.contains_point(point)


def test_inside_means_in_an_inclusion_and_in_no_exclusion():
    both = square(gf.POLYGON_IN, 50.0) + square(gf.POLYGON_OUT, 10.0)
    assert breach(both, 30.0, 0.0) == ""
    assert breach(both, 5.0, 0.0) == "Geofence violation"
    assert breach(both, 60.0, 0.0) == "Geofence violation"
    assert breach([], 1e4, 0.0) == ""


def test_one_of_several_inclusions_is_enough():
    two = [corner(gf.CIRCLE_IN, 10.0, 0.0, 0.0), corner(gf.CIRCLE_IN, 10.0, 100.0, 0.0)]
    assert breach(two, 9.0, 0.0) == breach(two, 109.0, 0.0) == ""
    assert breach(two, 50.0, 0.0) == "Geofence violation"
    only_out = [corner(gf.CIRCLE_OUT, 10.0, 0.0, 0.0)]
    assert breach(only_out, 11.0, 0.0) == ""
    assert breach(only_out, 9.0, 0.0) == "Geofence violation"


def test_distance_and_height_are_limited_by_parameters():
    assert breach([], 30.0, 40.0, fence_radius_m=49.0) == "Geofence violation: distance from home"
    assert breach([], 30.0, 40.0, fence_radius_m=51.0) == ""
    assert breach([], 0.0, 0.0, 21.0, fence_height_m=20.0) == "Geofence violation: altitude"
    assert breach([], 0.0, 0.0, 19.0, fence_height_m=20.0) == ""


def test_what_is_no_fence_is_refused():
    assert fence_fault(corner(16, 0.0, 0.0, 0.0)) == plan.UNSUPPORTED
    assert fence_fault(corner(gf.POLYGON_IN, 2.0, 0.0, 0.0)) == plan.ERROR
    assert fence_fault(corner(gf.CIRCLE_IN, NAN, 0.0, 0.0)) == plan.INVALID_PARAM1
    assert fence_fault(corner(gf.POLYGON_IN, NAN, 0.0, 0.0)) == plan.ERROR
    whole = square(gf.POLYGON_IN, 5.0)
    assert fence_plan_fault([*whole, *whole]) == plan.ACCEPTED
    assert fence_plan_fault([*whole, *whole[:3]]) == plan.INVALID_PARAM1
    assert fence_plan_fault([*whole[:3], corner(gf.POLYGON_OUT, 4.0, 0.0, 0.0)]) != plan.ACCEPTED


def fly_out(flight) -> None:
    """Eastwards at 3 m/s by offboard set-points, out of a circle of 8 m."""

    def stream() -> None:
        target = OffboardTarget(velocity=(3.0, 0.0, 0.0), yaw=0.0)
        flight.modes.offboard.on_target(target, flight.autopilot.arrival_s)

    flight.take_off()
    flight.each = stream
    stream()
    assert flight.modes.set_mode(Mode.OFFBOARD) == ""
    flight.run(lambda: flight.modes.mode is not Mode.OFFBOARD, 15.0)
    flight.each = None


def fence_round_home(flight, radius_m: float) -> None:
    plane, home = flight.autopilot.estimator.plane, flight.modes.home
    latitude, longitude, _ = plane.to_geodetic(home)
    item = MissionItem(
        command=gf.CIRCLE_IN, frame=GLOBAL, parameters=(radius_m, 0.0, 0.0, NAN),
        latitude_deg=latitude, longitude_deg=longitude, altitude_m=0.0,
    )  # fmt: skip
    flight.modes.geofence.store([item])


@pytest.mark.parametrize(
    ("action", "mode"), [(2, Mode.HOLD), (3, Mode.RETURN), (5, Mode.LAND), (4, Mode.HOLD)]
)
def test_a_breach_does_what_gf_action_says(flight, action, mode):
    flight.make_ready()
    fence_round_home(flight, 8.0)
    flight.modes.settings.set("GF_ACTION", float(action))
    fly_out(flight)
    assert flight.modes.mode is mode
    assert flight.modes.is_armed == (action != gf.TERMINATE)
    assert "Geofence violation" in flight.said
    assert 7.0 < np.hypot(*(flight.modes.position - flight.modes.home)[:2]) < 10.0


def test_a_breach_acts_once_and_the_pilot_may_fly_on(flight):
    flight.make_ready()
    fence_round_home(flight, 8.0)
    fly_out(flight)
    flight.each = lambda: flight.modes.offboard.on_target(
        OffboardTarget(velocity=(3.0, 0.0, 0.0), yaw=0.0), flight.autopilot.arrival_s
    )
    flight.wait(0.1)
    assert flight.modes.set_mode(Mode.OFFBOARD) == ""
    flight.wait(2.0)
    assert flight.modes.mode is Mode.OFFBOARD


def test_arming_outside_is_refused_unless_the_fence_does_nothing(flight):
    flight.make_ready()
    fence_round_home(flight, 8.0)
    flight.modes.geofence.store(
        [*flight.modes.geofence.items,
         MissionItem(**{**flight.modes.geofence.items[0].__dict__, "command": gf.CIRCLE_OUT})]
    )  # fmt: skip
    assert flight.modes.arm() == "Geofence violation"
    flight.modes.settings.set("GF_ACTION", 0.0)
    assert flight.modes.arm() == ""


def test_return_flies_to_the_nearest_of_home_and_rally_points(flight):
    flight.take_off()
    plane, home = flight.autopilot.estimator.plane, flight.modes.home
    latitude, longitude, altitude = plane.to_geodetic(home + np.array([12.0, 0.0, 0.0]))
    flight.modes.course.haven.rally = (
        MissionItem(
            command=RALLY_POINT, frame=GLOBAL, parameters=(0.0, 0.0, 0.0, 0.0),
            latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude,
        ),
    )  # fmt: skip
    flight.modes.settings.set("RTL_RETURN_ALT", 4.0)
    assert flight.modes.go_to(home + np.array([8.0, 0.0, 4.0]), NAN, 5.0) == ""
    flight.run(lambda: flight.modes.position[0] - home[0] > 7.0, 10.0)
    assert flight.modes.set_mode(Mode.RETURN) == ""
    flight.run(lambda: not flight.modes.is_armed, 40.0)
    assert (flight.modes.position - home)[:2] == pytest.approx([12.0, 0.0], abs=ARRIVAL_ERROR_M)
