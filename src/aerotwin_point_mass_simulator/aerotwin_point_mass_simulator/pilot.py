# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who flies one point mass: orders of a mission or from outside, in place of an autopilot."""

from collections.abc import Callable, Iterator
from math import cos, sin

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.time import to_seconds
from aerotwin_point_mass_simulator.pilots import RETURN_HEIGHT_M, Flying, PointMassPilots
from aerotwin_px4_bridge import AutopilotEstimate, MissionPlan
from aerotwin_px4_bridge.path import PathSetpoint, SampledPath
from aerotwin_px4_bridge.setpoint_stream import Target, checked_target
from aerotwin_simulator.controllers.backend import OFF, THROTTLES, Motors
from aerotwin_simulator.simple_robot import SimpleController

_PHASES = {
    Flying.STANDING: "ready for orders",
    Flying.TAKING_OFF: "taking off",
    Flying.HOLDING: "hovering",
    Flying.FOLLOWING_POSE: "flying to a pose",
    Flying.FOLLOWING_VELOCITY: "flying velocities",
    Flying.FOLLOWING_PATH: "flying",
    Flying.RETURNING: "returning",
    Flying.LANDING: "landing",
}


class PointMassPilot(SimpleController):
    """The controller of one point mass; attributes are those of `Backend`.

    `pilots` fly it as their `row`; `estimated` returns its estimated position (3,) [m], velocity
    (3,) [m/s] and yaw [rad], `stamp_ns` of it. With `ends_landed` it has finished without a mission
    when it has flown and landed.
    """

    def __init__(
        self,
        pilots: PointMassPilots,
        row: int,
        mission: MissionPlan | None,
        estimated: Callable[[int], tuple[int, FloatArray, FloatArray, float]],
        *,
        ends_landed: bool = False,
    ) -> None:
        self.row = row
        self._pilots, self._mission, self._estimated = pilots, mission, estimated
        self.motors = Motors(np.zeros(0))
        self.failure: str | None = None
        self.is_finished = False
        self.has_end = mission is not None or ends_landed
        self.setpoint: PathSetpoint | None = None
        self._path: SampledPath | None = None
        self._flown_s = 0.0
        self._is_held = False
        self._script = self._until_landed() if mission is None else self._fly(mission)

    def take_row(self, row: int) -> None:
        """Be this row of the pilots from now on."""
        self.row = row

    def detach(self) -> None:
        """Go on with modes and estimate of one's own, which nothing steps any more."""
        last = self._estimated(self.row)
        self._pilots, self.row = self._pilots.only(self.row), 0
        self._estimated = lambda _: last

    # -- what is asked of a controller ---------------------------------------------------------

    @property
    def phase(self) -> str:
        """What it does, as text."""
        if self.is_finished:
            return "finished"
        return "holding" if self._is_held else _PHASES[Flying(self._pilots.mode[self.row])]

    @property
    def progress(self) -> float | None:
        """Flown share of the mission's path; None without a mission."""
        if self._mission is None:
            return None
        if self._path is None:
            return float(self.is_finished)
        return min(self._flown_s / self._path.duration, 1.0)

    @property
    def waypoint(self) -> int | None:
        """Number of the way-point that it flies to, from 1; None before and after the path."""
        if self._path is None or self.is_finished or self._flown_s >= self._path.duration:
            return None
        n_passed = sum(self._flown_s >= passed_s for passed_s in self._path.passed_s)
        return min(n_passed + 1, len(self._path.passed_s))

    @property
    def estimate(self) -> AutopilotEstimate:
        """Its estimate of itself."""
        stamp_ns, p_map, v_map, yaw = self._estimated(self.row)
        q_map_body = np.array([0.0, 0.0, sin(yaw / 2.0), cos(yaw / 2.0)])
        return AutopilotEstimate(
            stamp_ns=stamp_ns,
            p_map=p_map,
            v_map=v_map,
            q_map_body=q_map_body,
            omega_map_body_in_body=np.array([0.0, 0.0, float(self._pilots.yaw_rate[self.row])]),
        )

    def counters(self) -> dict[str, str]:
        """Return values for diagnostics."""
        is_armed = bool(self._pilots.is_armed[self.row])
        ignored = str(self._pilots.n_ignored[self.row])
        return {"armed": str(is_armed).lower(), "setpoints_ignored": ignored}

    # -- orders from outside -------------------------------------------------------------------

    @property
    def takes_setpoints(self) -> bool:
        """Whether set-points from outside are flown: no mission is."""
        return self._mission is None

    def arm(self, is_armed: bool) -> None:
        """Arm or disarm it; raises UserError for a disarming in flight."""
        if not is_armed and self._pilots.is_flying(self.row):
            raise UserError("disarm: it flies; land first")
        self._pilots.is_armed[self.row] = is_armed

    def take_off(self, height_m: float) -> None:
        """Climb to a height above here; raises UserError if it is not armed or flies."""
        if self._pilots.is_flying(self.row):
            raise UserError(f"take-off: it is {self.phase}")
        if not self._pilots.is_armed[self.row]:
            raise UserError("take-off: it is disarmed; arm it first")
        self._go(Flying.TAKING_OFF, np.array([0.0, 0.0, height_m]))

    def hold(self) -> None:
        """Hover here; a mission waits. Raises UserError if it does not fly, or along its path."""
        self._require_flying("hold")
        mode = self._pilots.mode[self.row]
        if self._mission is not None and mode not in (Flying.FOLLOWING_PATH, Flying.HOLDING):
            raise UserError(f"hold: the mission is {self.phase}; hold it while it is flying")
        self._is_held = self._mission is not None
        self._go(Flying.HOLDING)

    def resume(self) -> None:
        """Continue the mission after `hold`. Raises UserError if no mission is held."""
        if not self._is_held:
            raise UserError(f"resume: no mission is held, it is {self.phase}")
        self._is_held = False

    def land(self) -> None:
        """Land here; a mission is abandoned. Raises UserError if it does not fly."""
        self._require_flying("land")
        self._abandon()
        self._go(Flying.LANDING)

    def return_home(self) -> None:
        """Fly home and land there; a mission is abandoned. Raises UserError if it does not fly."""
        self._require_flying("return")
        self._abandon()
        pilots = self._pilots
        home = pilots.home[self.row].copy()
        home[2] = max(self._estimated(self.row)[1][2], home[2] + RETURN_HEIGHT_M)
        pilots.take_control(self.row)
        pilots.fly_to(self.row, Flying.RETURNING, home)

    def set_target(self, target: Target) -> None:
        """Fly a set-point from outside. Raises UserError if a mission is flown.

        Raises ValueError if a value is not finite.
        """
        if not self.takes_setpoints:
            raise UserError("set-points: a mission is flown; fly with mission.file none")
        self._pilots.set_target(self.row, checked_target(target))

    def _require_flying(self, order: str) -> None:
        if not self._pilots.is_flying(self.row):
            raise UserError(f"{order}: it stands on the ground; arm it and take off first")

    def _go(self, mode: Flying, way: FloatArray | None = None) -> None:
        p_map = self._estimated(self.row)[1]
        self._pilots.take_control(self.row)
        self._pilots.fly_to(self.row, mode, p_map if way is None else p_map + way)

    def _abandon(self) -> None:
        if self._mission is not None and not self.is_finished:
            share = self.progress or 0.0
            self.failure = f"the mission failed: it was ended by request after {share:.0%} of it"
        if self._mission is not None:
            self._script = iter(())
        self._is_held, self.setpoint = False, None

    # -- the mission ---------------------------------------------------------------------------

    def poll(self) -> None:
        """Advance the mission to the present instant."""
        next(self._script, None)

    def show_armed(self, is_armed: bool) -> None:
        """Show whether it is armed as the state of motors."""
        self.motors.kind = THROTTLES if is_armed else OFF

    def _until_landed(self) -> Iterator[None]:
        """Wait until it has flown and landed; each yield is the end of one step."""
        while not self._pilots.is_flying(self.row):
            yield
        while self._pilots.is_flying(self.row):
            yield
        self.is_finished = self.has_end

    def _fly(self, mission: MissionPlan) -> Iterator[None]:
        """Take off, fly the path, land; each yield is the end of one step."""
        pilots = self._pilots
        self._go(Flying.TAKING_OFF, np.array([0.0, 0.0, mission.takeoff_altitude_m]))
        while pilots.mode[self.row] == Flying.TAKING_OFF:
            yield
        last_ns, p_map, _, yaw = self._estimated(self.row)
        path, _ = mission.plan(p_map, yaw)
        self._path = path
        while self._flown_s <= path.duration:
            now_ns = self._estimated(self.row)[0]
            self._flown_s += 0.0 if self._is_held else to_seconds(now_ns - last_ns)
            last_ns = now_ns
            if not self._is_held:
                self.setpoint = point = path.at(self._flown_s)
                pilots.follow_path(self.row, point.p_map, point.v_map, point.yaw)
            yield
        self.setpoint = None
        pilots.fly_to(self.row, Flying.LANDING, path.p_map[-1])
        while pilots.is_flying(self.row):
            yield
        self.is_finished = True
