# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Controllers for the simulator's parameter `controller: python:aerotwin_flight_control:Class`."""

from dataclasses import dataclass
from math import radians

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
from aerotwin_core.interfaces import ControllerContext
from aerotwin_core.parameters import load_parameters, parameter
from aerotwin_flight_control.minimum_snap import (
    MinimumSnap,
    MotionLimits,
    plan_minimum_snap,
    unwrap_yaws,
)
from aerotwin_flight_control.reference import FlatState, Reference, at_rest
from aerotwin_flight_control.relay import AGGRESSIVENESS_S, RelayReference
from aerotwin_flight_control.tracking import FlightOptions, Hold, TrackingController

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class WaypointOption:
    """A position to fly through."""

    position_m: Vector = parameter(text="x east, y north, z up", unit="m")
    yaw_deg: float | None = parameter(
        None, text="from east, counter-clockwise; null keeps the last", unit="deg"
    )


@dataclass(frozen=True, kw_only=True)
class WaypointOptions:
    """Options of a `WaypointController`."""

    waypoints: tuple[WaypointOption, ...] = parameter(text="the path, at least one")
    is_relative: bool = parameter(
        False, text="positions are from where the vehicle stands, not in map"
    )
    takeoff_height_m: float = parameter(2.0, text="above the start", unit="m", minimum=0.3)
    speed_m_s: float = parameter(3.0, text="largest speed", unit="m/s", minimum=0.1)
    acceleration_m_s2: float = parameter(
        3.0, text="largest acceleration", unit="m/s^2", minimum=0.05
    )
    flight: FlightOptions = parameter(FlightOptions(), text="what every flight needs")

    def __post_init__(self) -> None:
        if not self.waypoints:
            raise ParameterError("waypoints: expected at least one, found none; add one")


class WaypointController(TrackingController):
    """Takes off, flies a minimum-snap trajectory through way-points and lands at the last."""

    def __init__(self, context: ControllerContext) -> None:
        self._options = load_parameters(WaypointOptions, context.options, where=_where(context))
        super().__init__(context, self._options.flight)

    def plan(self, p_map: FloatArray, yaw: float) -> list[tuple[str, Reference]]:
        """Return take-off, hover and the path through the points."""
        options = self._options
        above = p_map + np.array([0.0, 0.0, options.takeoff_height_m])
        origin = p_map if options.is_relative else np.zeros(3)
        points, yaws = [above], [yaw]
        for waypoint in options.waypoints:
            points.append(origin + waypoint.position_m)
            yaws.append(yaws[-1] if waypoint.yaw_deg is None else radians(waypoint.yaw_deg))
        limits = MotionLimits(speed=options.speed_m_s, acceleration=options.acceleration_m_s2)
        way = plan_minimum_snap(np.array(points), unwrap_yaws(yaws), limits)
        return [*_take_off(p_map, above, yaw, self.options), ("flying", way)]


@dataclass(frozen=True, kw_only=True)
class RelayOptions:
    """Options of a `RelayController`."""

    origin_m: Vector = parameter(text="where x = y = z = 0 of eq. 17 lies in map", unit="m")
    is_mirrored: bool = parameter(False, text="this is the second vehicle")
    aggressiveness_s: float = parameter(
        AGGRESSIVENESS_S, text="s of eq. 17; smaller is faster", unit="s", minimum=0.2
    )
    half_duration_s: float = parameter(5.0, text="t of eq. 17 runs from minus this to this",
                                       unit="s", minimum=1.0)  # fmt: skip
    begin_s: float = parameter(
        7.0,
        text="from the motors' start to the relay's, the same for both: they hover until then",
        unit="s",
        minimum=0.0,
    )
    run_up_s: float = parameter(
        2.0, text="to come up to speed before, and to stop after", unit="s", minimum=0.5
    )
    flight: FlightOptions = parameter(FlightOptions(), text="what every flight needs")


class RelayController(TrackingController):
    """Flies one side of the relay manoeuvre, from standing on the ground to landing.

    The run-up leads from a hover into eq. 17 with all derivatives to jerk continuous. `relay` is
    its reference from the start of the phase `relay` on.
    """

    def __init__(self, context: ControllerContext) -> None:
        self._relay_options = load_parameters(RelayOptions, context.options, where=_where(context))
        options = self._relay_options
        self.relay = RelayReference(
            options.origin_m,
            is_mirrored=options.is_mirrored,
            s=options.aggressiveness_s,
            half_s=options.half_duration_s,
        )
        super().__init__(context, options.flight)

    def plan(self, p_map: FloatArray, yaw: float) -> list[tuple[str, Reference]]:
        """Return take-off, hover, run-up, the relay and the stop after it."""
        options, relay = self._relay_options, self.relay
        begin, end = relay.at(0.0), relay.at(relay.duration)
        hover, stop = (_rest_near(state, sign * options.run_up_s) for state, sign in
                       ((begin, -1.0), (end, 1.0)))  # fmt: skip
        times = [0.0, options.run_up_s]
        run_up = MinimumSnap([hover.p_map, begin.p_map], times, [0.0, 0.0], end=begin)
        braking = MinimumSnap([end.p_map, stop.p_map], times, [0.0, 0.0], start=end)
        rising, hovering = _take_off(p_map, hover.p_map, yaw, self.options)
        waits = options.begin_s - options.run_up_s - rising[1].duration
        if waits < hovering[1].duration:
            raise ValueError(
                f"begin_s: expected {options.begin_s - waits + hovering[1].duration:.1f} s at "
                f"least to rise, settle and run up, got {options.begin_s:g} s; raise it"
            )
        return [
            rising,
            ("hovering", Hold(hover, waits)),
            ("running up", run_up),
            ("relay", relay),
            ("braking", braking),
        ]


def _rest_near(moving: FlatState, time: float) -> FlatState:
    """Return the rest state before (time < 0) or after a moving one, at half its speed."""
    return at_rest(moving.p_map + 0.5 * time * moving.v_map, moving.yaw)


def _take_off(
    p_map: FloatArray, above: FloatArray, yaw: float, options: FlightOptions
) -> list[tuple[str, Reference]]:
    """Return the path from the ground to a hover, and the hover."""
    limits = MotionLimits(speed=1.0, acceleration=1.5)
    up = plan_minimum_snap([p_map, above], [yaw, yaw], limits)
    hover = Hold(at_rest(above, yaw), options.settle_s)
    return [("taking off", up), ("hovering", hover)]


def _where(context: ControllerContext) -> str:
    return f"controller.options of {context.vehicle or 'the vehicle'}"
