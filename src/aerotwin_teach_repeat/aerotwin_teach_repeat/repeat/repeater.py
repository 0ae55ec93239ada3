# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state machine of a repeat: scans in, commands out, with a bounded distance driven blind."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aerotwin_core.errors import ParameterError
from aerotwin_core.time import to_seconds
from aerotwin_teach_repeat.localization.localizer import SubmapLocalizer
from aerotwin_teach_repeat.localization.odometry import ScanOdometry
from aerotwin_teach_repeat.repeat.parameters import RepeatParameters
from aerotwin_teach_repeat.repeat.pose_tracker import LocalizationFix, PoseTracker, Twist
from aerotwin_teach_repeat.repeat.step import (
    DRIVING,
    ENDED,
    SEARCHING,
    RepeatState,
    RepeatStep,
    Transition,
)
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.tracking import (
    PathTracker,
    RouteProgress,
    TrackerCommand,
    TrackerParameters,
)

STANDS_M_S = 0.05
"""Measured speed below which a vehicle is at standstill: noise of lidar odometry at 10 Hz."""
AT_GOAL_M_S = 0.15
"""Commanded speed at which a repeat may end: the creep speed and what rounding adds."""
FOUND_WINDOW_M = 3.0
"""How far along the route a relocalised vehicle may be from its nearest vertex or last position."""


def stopping_distance(parameters: TrackerParameters, speed_m_s: float, age_s: float) -> float:
    """Return the distance to standstill when the next command is to brake [m].

    Delay, lag and greatest deceleration are those of the parameters; `age_s` is the age of the pose
    when the command leaves [s].
    """
    p = parameters
    wait_s = age_s + p.command_delay_s + p.speed_lag_s + p.control_period_s
    return speed_m_s * wait_s + speed_m_s**2 / (2.0 * p.max_acceleration_m_s2)


class Repeater:
    """Repeats a route: odometry and localisation estimate the pose, a tracker steers.

    `route_ids` are the vertices in driving order, and the tracker's route is
    `RoutePath(graph.poses_map(route_ids))`. `reason` is that of the present state (while
    relocalising, why the last scan was not localised), `transitions` are all changes so far.
    """

    def __init__(
        self,
        graph: RouteGraph,
        route_ids: Sequence[int],
        localizer: SubmapLocalizer,
        odometry: ScanOdometry,
        tracker: PathTracker,
        parameters: RepeatParameters,
    ) -> None:
        self._ids, self._vertex_s_m = np.asarray(route_ids), tracker.route.vertex_s_m
        if len(self._vertex_s_m) != len(route_ids):
            raise ValueError(
                f"the tracker's route must have the {len(route_ids)} vertices of route_ids, got "
                f"{len(self._vertex_s_m)}; make it of graph.poses_map(route_ids)"
            )
        self._graph, self._tracker, self._parameters = graph, tracker, parameters
        self._check_stopping()
        self._where = PoseTracker(odometry, localizer, parameters)
        self._progress = RouteProgress(tracker.route)
        self._lateral_m = self._heading_error_rad = self._turn_s = 0.0
        self.state, self.reason = RepeatState.IDLE, "not started"
        self.transitions: list[Transition] = []
        self._origin_ns: int | None = None
        self._stamp_ns = self._end_ns = self._since_ns = 0
        self._n_found = self._n_lost = 0
        self._is_everywhere = False
        self._last = TrackerCommand(v_m_s=0.0, omega_rad_s=0.0)

    def start(
        self, *, vertex_id: int | None = None, T_vertex_base: ArrayLike | None = None,
        is_anywhere: bool = False,
    ) -> None:  # fmt: skip
        """Start: localise, then drive to the end of the route.

        The vehicle is near `vertex_id`, by default the first, at `T_vertex_base` (4, 4) in its
        frame, by default identity; `is_anywhere` searches the whole route at once instead.
        `ValueError` if it is already under way, or the vertex is not on the route.
        """
        if self.state not in ENDED:
            raise ValueError(f"a repeat is under way ({self.state}); cancel it first")
        self._tracker.reset()
        self._n_found = self._n_lost = 0
        self._origin_ns, self._is_everywhere = None, is_anywhere
        if is_anywhere:
            self._where.forget()
            self._change(RepeatState.STARTING, "looks for its place on the whole route")
            return
        near = int(self._ids[0]) if vertex_id is None else vertex_id
        s_m = self._s_of(near, 0.0)
        T_near = np.eye(4) if T_vertex_base is None else T_vertex_base
        self._where.place(near, self._graph.vertex(near).T_map_vertex, T_near)
        self._progress = RouteProgress(self._tracker.route, s_m)
        self._change(RepeatState.STARTING, f"looks for its place near vertex {near}")

    def pause(self) -> None:
        """Brake and wait for `resume`; no effect if not under way."""
        if self.state not in ENDED:
            self._change(RepeatState.PAUSED, "is paused on request")

    def resume(self) -> None:
        """Continue after a pause, once localised."""
        if self.state is RepeatState.PAUSED:
            self._n_found = self._n_lost = 0
            self._change(RepeatState.RELOCALISING, "resumes on request; looks for its place")

    def cancel(self) -> None:
        """Brake and forget the task."""
        if self.state not in ENDED:
            self._change(RepeatState.IDLE, "was cancelled")

    def on_scan(
        self, points_base: NDArray[Any], times_s: NDArray[Any], stamp_ns: int,
        wheel_twist: Twist | None = None,
    ) -> RepeatStep:  # fmt: skip
        """Process a scan and return the next step.

        `points_base` (n, 3) are as measured in the base frame [m], each at its own of `times_s`
        (n,) since the stamp, the start of the scan [s]; `wheel_twist` is speed and turn rate from
        the wheels, if known [m/s, rad/s].
        """
        self._on_time(stamp_ns, times_s)
        if self.state in ENDED:
            return self._steer(is_localised=False)
        fix = self._where.add_scan(
            points_base, times_s, stamp_ns, wheel_twist, everywhere=self._is_everywhere
        )
        if self.state in SEARCHING:
            self._search(fix)
        elif self.state in DRIVING:
            self._follow(fix)
        return self._steer(is_localised=fix.is_localised)

    def on_tick(
        self, stamp_ns: int, wheel_twist: Twist | None = None, heard_ns: int = 0
    ) -> RepeatStep:
        """Return the step at a time without a scan; call it at the control rate.

        While scans arrive in time it repeats the last command. When the lidar is silent the vehicle
        continues on wheel odometry, as far as blind driving is allowed. `stamp_ns` is the present
        time, `heard_ns` when the caller last finished a scan (others may be queued since) [ns],
        `wheel_twist` speed and turn rate from the wheels, if known [m/s, rad/s].
        """
        silent_s = to_seconds(stamp_ns - max(self._end_ns, heard_ns))
        is_silent = silent_s > self._parameters.scan_timeout_s
        if self.state in DRIVING and not is_silent and not self._must_stop_at(stamp_ns):
            return self._step(is_localised=False)
        if self.state in DRIVING or (self.state in SEARCHING and is_silent):
            self._where.extrapolate(stamp_ns, wheel_twist)
            self._stamp_ns = stamp_ns
            reason = f"no scan for {silent_s:.1f} s"
            if self.state in DRIVING:
                self._follow(LocalizationFix(is_localised=False, reason=reason))
            else:
                self._stand_by(reason)
        else:
            self._stamp_ns = max(stamp_ns, self._stamp_ns)
        return self._steer(is_localised=False)

    def _on_time(self, stamp_ns: int, times_s: NDArray[Any]) -> None:
        """Record start and end of the scan; the scan duration is the longest so far."""
        last = float(np.max(times_s, initial=0.0))
        self._turn_s = max(self._turn_s, last if math.isfinite(last) else 0.0)
        self._stamp_ns = stamp_ns
        self._end_ns = stamp_ns + round(self._turn_s * 1e9)

    def _search(self, fix: LocalizationFix) -> None:
        """Relocalise: drive on when enough localisations in a row agree."""
        p = self._parameters
        if not fix.is_localised:
            self._n_found, self._n_lost = 0, self._n_lost + 1
            # Searching the whole route is slow: not while the vehicle is rolling.
            lost = self._n_lost >= p.n_local_attempts or self._where.T_map_base is None
            self._is_everywhere = lost and self.state is not RepeatState.STOPPED
            self._stand_by(fix.reason)
            return
        agrees = fix.jump_m <= p.agreement_m and fix.jump_rad <= math.radians(p.agreement_deg)
        self._n_found, self._n_lost = (self._n_found + 1 if agrees else 1), 0
        self._is_everywhere = False
        self.reason = f"looks for its place: {self._n_found} of {p.n_confirmations} agree"
        if self._n_found >= p.n_confirmations:
            self._go(fix)

    def _stand_by(self, reason: str) -> None:
        """Wait without a pose: from braking to standstill, with a timeout."""
        searched_s = to_seconds(self._stamp_ns - self._since_ns)
        if self.state is RepeatState.STOPPED:
            if self._last.v_m_s == 0.0 and self._where.speed_m_s < STANDS_M_S:
                self._change(RepeatState.RELOCALISING, f"stands and looks for its place: {reason}")
        elif searched_s > self._parameters.give_up_s:
            self._change(RepeatState.FAILED, f"was not found within {searched_s:.0f} s: {reason}")
        else:
            self.reason = f"looks for its place: {reason}"

    def _go(self, fix: LocalizationFix) -> None:
        """Drive (on) from the pose that was found."""
        assert self._where.T_map_base is not None and fix.vertex_id is not None
        route, T = self._tracker.route, self._where.T_map_base
        near = route.project(T, self._progress.s_m, FOUND_WINDOW_M)
        s_m = self._s_of(fix.vertex_id, self._progress.s_m)
        there = route.project(T, s_m, FOUND_WINDOW_M)
        if near.distance_m > there.distance_m + self._parameters.agreement_m:
            near = there
        self._progress = RouteProgress(route, near.s_m)
        self._note_place()
        if not self._is_beside():
            self._change(RepeatState.REPEATING, f"found at {near.s_m:.1f} m of the route")

    def _follow(self, fix: LocalizationFix) -> None:
        """Track the position along the route; stop at its end, or when blind too far."""
        blind_m, state = self._where.blind_m, self.state
        if self._where.T_map_base is None:
            self._stop(fix.reason)
            return
        self._note_place()
        if self._is_beside() or self._is_at_goal():
            return
        if fix.is_localised:
            if state is RepeatState.BLIND:
                self._change(RepeatState.REPEATING, f"found again: {fix.reason}")
            return
        if self._must_stop_at(self._stamp_ns):
            self._stop(f"{blind_m:.2f} m without localisation: {fix.reason}")
        elif state is RepeatState.REPEATING:
            self._change(RepeatState.BLIND, fix.reason)

    def _stop(self, reason: str) -> None:
        """Brake, and relocalise."""
        self._n_found = self._n_lost = 0
        self._change(RepeatState.STOPPED, reason)

    def _note_place(self) -> None:
        assert self._where.T_map_base is not None
        found = self._progress.update(self._where.T_map_base, FOUND_WINDOW_M)
        self._lateral_m, self._heading_error_rad = found.lateral_m, found.heading_error_rad

    def _is_beside(self) -> bool:
        """Fail if the vehicle is too far from its route; return whether it did."""
        limit = self._parameters.max_lateral_m
        if abs(self._lateral_m) <= limit:
            return False
        side = "left" if self._lateral_m > 0.0 else "right"
        self._change(
            RepeatState.FAILED,
            f"{abs(self._lateral_m):.2f} m {side} of the route, more than {limit} m; drive it back",
        )
        return True

    def _is_at_goal(self) -> bool:
        p, off = self._parameters, abs(self._heading_error_rad)
        left_m = self._progress.left_m
        slow = abs(self._last.v_m_s) <= AT_GOAL_M_S
        is_there = left_m <= p.goal_distance_m and off <= p.goal_heading_rad and slow
        if not is_there and left_m > 0.0:
            return False
        left = f"{left_m:.2f} m left, heading off by {math.degrees(off):.1f} deg"
        self._change(RepeatState.FINISHED, f"at the end of the route: {left}")
        return True

    def _must_stop_at(self, stamp_ns: int) -> bool:
        """Return whether braking later than this would exceed the allowed blind distance."""
        since_m = self._where.speed_m_s * to_seconds(stamp_ns - self._stamp_ns)
        speed = max(self._where.speed_m_s, abs(self._last.v_m_s))
        stopping_m = stopping_distance(self._tracker.parameters, speed, self._age_s())
        return self._where.blind_m + since_m + stopping_m >= self._parameters.max_blind_m

    def _check_stopping(self) -> None:
        """Refuse a blind distance within which the vehicle cannot stop."""
        p, allowed = self._tracker.parameters, self._parameters.max_blind_m
        age_s = self._parameters.latency_s + p.control_period_s
        needed = stopping_distance(p, p.reference_speed_m_s, age_s)
        if needed > allowed:
            raise ParameterError(
                f"max_blind_m must be at least the {needed:.2f} m in which the vehicle stops from "
                f"{p.reference_speed_m_s} m/s, got {allowed}; raise it, or lower "
                "reference_speed_m_s"
            )

    def _s_of(self, vertex_id: int, near_m: float) -> float:
        """Return the arc length of a vertex; of several passes the one nearest to near_m."""
        passes = self._vertex_s_m[self._ids == vertex_id]
        if not len(passes):
            raise ValueError(
                f"vertex {vertex_id} must be on the route of {len(self._ids)} vertices, from "
                f"{self._ids[0]} to {self._ids[-1]}"
            )
        return float(passes[np.argmin(abs(passes - near_m))])

    def _age_s(self) -> float:
        """Return the age of the estimated pose when its command leaves [s]."""
        return to_seconds(max(self._end_ns - self._stamp_ns, 0)) + self._parameters.latency_s

    def _steer(self, *, is_localised: bool) -> RepeatStep:
        """Return the step with a new command: along the route, or braking to standstill."""
        if self._origin_ns is None:
            self._origin_ns = self._stamp_ns
        age_s = self._age_s()
        time_s = to_seconds(self._stamp_ns - self._origin_ns) + age_s
        if self.state in DRIVING:
            assert self._where.T_map_base is not None
            self._last = self._tracker.command(
                self._where.T_map_base, self._where.twist, self._progress.s_m, time_s=time_s,
                age_s=age_s,
            )  # fmt: skip
        else:
            self._last = self._tracker.stop(time_s)
        return self._step(is_localised=is_localised)

    def _step(self, *, is_localised: bool) -> RepeatStep:
        length = self._tracker.route.length_m
        fallback = f"; {self._last.reason}" if self._last.is_fallback else ""
        return RepeatStep(
            stamp_ns=self._stamp_ns, v_m_s=self._last.v_m_s, omega_rad_s=self._last.omega_rad_s,
            T_map_base=self._where.T_map_base, s_m=self._progress.s_m, lateral_m=self._lateral_m,
            progress=self._progress.s_m / length, blind_m=self._where.blind_m,
            is_localised=is_localised, state=self.state, reason=self.reason + fallback,
        )  # fmt: skip

    def _change(self, state: RepeatState, reason: str) -> None:
        self.transitions.append(
            Transition(stamp_ns=self._stamp_ns, before=self.state, after=state, reason=reason)
        )
        self.state, self.reason, self._since_ns = state, reason, self._stamp_ns
