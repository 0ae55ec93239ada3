# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight as commands over MAVLink: ready, take off, offboard along a path, land, disarm.

The same script in simulated time for PX4, ArduPilot and the embedded autopilot. It depends only on
its input stamps and the received messages, never on a clock.
"""

from collections.abc import Generator, Iterator
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_core.frames import rotation_from_quaternion, yaw_from_rotation
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge.autopilot_state import SILENT, WAITING, AutopilotEstimate
from aerotwin_px4_bridge.command_steps import CommandSteps, StepFailed
from aerotwin_px4_bridge.common_start import CommonStart
from aerotwin_px4_bridge.dialects import PX4, Dialect, FlightMode
from aerotwin_px4_bridge.mission import MissionPlan
from aerotwin_px4_bridge.onboard import OnboardLink
from aerotwin_px4_bridge.path import PATH_STEP_S, PathSetpoint, SampledPath

FLYING, HOLDING = "flying", "holding"  # phases in which a mission can be interrupted
_SECOND = 1_000_000_000
_HEARTBEAT_LIMIT_S = 5.0
_SETPOINT_LEAD_S = 1.0
_SHORT_OF_HEIGHT_M = 1.0  # PX4 ends a take-off up to NAV_MC_ALT_RAD = 0.8 m below
_RETURN_S = 300.0  # the climb to PX4's 60 m and the way back from 1 km away
_SETTLED_M_S = 0.3
_SETTLED_FOR_S = 0.5


class MissionClient:
    """Fly a mission on the onboard link of one autopilot.

    Call `poll` once per simulation step, before the HIL messages of the step are sent. The plane is
    the map frame; the addresses are as in `OnboardLink`. `phase` and `failure` are texts; `path` is
    None before the end of the take-off, `path_start_ns` before the path begins.

    Parameters
    ----------
    p_map_start : (3,) array, optional
        Known position of the vehicle when it arms [m]: the mission is anchored there, like a
        start at a surveyed mark. Default: the autopilot's own position, unchanged.
    dialect : Dialect, optional
        Of the autopilot.
    common_start : CommonStart, optional
        Shared by missions that begin their paths together; each hovers until then.
    """

    def __init__(
        self,
        mission: MissionPlan,
        plane: LocalTangentPlane,
        instance: int = 0,
        *,
        host: str = "127.0.0.1",
        local_port: int | None = None,
        remote_port: int | None = None,
        p_map_start: ArrayLike | None = None,
        dialect: Dialect = PX4,
        common_start: CommonStart | None = None,
    ) -> None:
        self.mission = mission
        self._p_map_start = p_map_start
        self._dialect = dialect
        self.link = OnboardLink(
            plane,
            instance,
            host=host,
            local_port=local_port,
            remote_port=remote_port,
            dialect=dialect,
        )
        self._steps = CommandSteps(self.link, dialect)
        self.phase = SILENT
        self.failure: str | None = None
        self.is_finished = False
        self.path: SampledPath | None = None
        self.path_start_ns: int | None = None
        self._is_held = False
        self._requested: FlightMode | None = None  # that ends the path early
        self._track_begins = 0.0
        self.setpoint: PathSetpoint | None = None
        self._now_ns = 0
        self._heartbeat_due_ns = 0
        self._setpoint_due_ns = 0
        self._common_start = common_start or CommonStart()
        self._common_start.expect(self)
        self._script = self._fly()

    @property
    def estimate(self) -> AutopilotEstimate | None:
        """The autopilot's last received estimate."""
        return self.link.state.estimate

    @property
    def progress(self) -> float:
        """Flown share of the path's time, in [0, 1]."""
        if self.is_finished:
            return 1.0
        if self.path is None or self.path_start_ns is None:
            return 0.0
        return min((self._now_ns - self.path_start_ns) / _SECOND / self.path.duration, 1.0)

    @property
    def waypoint(self) -> int | None:
        """Number of the way-point that it flies to, from 1; None before and after the path."""
        if self.phase not in (FLYING, HOLDING) or self.path is None or self.path_start_ns is None:
            return None
        t = (self._now_ns - self.path_start_ns) / _SECOND
        n_passed = sum(t >= passed_s for passed_s in self.path.passed_s)
        return min(n_passed + 1, len(self.path.passed_s))

    @property
    def track_start_ns(self) -> int | None:
        """When the track began or will begin; None before the path has begun."""
        if self.path_start_ns is None:
            return None
        return self.path_start_ns + round(self._track_begins * _SECOND)

    def poll(self, stamp_ns: int) -> None:
        """Read received messages, advance the script, send what is due; never block."""
        self._now_ns = self._steps.now_ns = stamp_ns
        self.link.poll_datagrams(stamp_ns)
        if self.is_finished or self.failure is not None:
            return
        if stamp_ns >= self._heartbeat_due_ns:
            self.link.send_heartbeat()
            self._heartbeat_due_ns = stamp_ns + _SECOND
        try:
            next(self._script)
        except StopIteration:
            self.is_finished = True
            self.phase = "finished"
        except StepFailed as failure:
            self._fail(str(failure))

    def _fail(self, reason: str) -> None:
        self.failure = self._as_text(reason)
        self.phase = "failed"
        self.setpoint = None
        self._common_start.release(self)

    def begin_again(self) -> None:
        """Meet an autopilot that was started again: a mission that has begun fails."""
        self.link.begin_again()
        if self.is_finished or self.failure is not None:
            return
        if self.phase in (SILENT, WAITING):
            self._script = self._fly()
        else:
            self._fail("the autopilot started again")

    def hold(self) -> None:
        """Stop on the path and hover there until `resume`.

        Raises
        ------
        UserError
            If the vehicle does not fly along its path now.
        """
        self._require_flying("hold")
        self._is_held = True

    def resume(self) -> None:
        """Continue the path after `hold`.

        Raises
        ------
        UserError
            If the mission is not held.
        """
        if not self._is_held:
            raise UserError(f"resume: the mission is not held, it is {self.phase}")
        self._is_held = False

    def land(self) -> None:
        """Abandon the path and land here.

        Raises
        ------
        UserError
            If the vehicle does not fly along its path now.
        """
        self._require_flying("land")
        self._is_held, self._requested = False, self._dialect.land

    def return_home(self) -> None:
        """Abandon the path, return to the start and land there.

        Raises
        ------
        UserError
            If the vehicle does not fly along its path now.
        """
        self._require_flying("return")
        self._is_held, self._requested = False, self._dialect.return_home

    def _require_flying(self, request: str) -> None:
        if self.phase not in (FLYING, HOLDING):
            raise UserError(
                f"{request}: the mission is {self.phase}; interrupt it while it is {FLYING}"
            )

    def close(self) -> None:
        """Free the port."""
        self._common_start.release(self)
        self.link.close()

    def _fly(self) -> Iterator[None]:
        """Run the whole flight; each yield is the end of one step."""
        yield from self._steps.until(
            lambda: self.link.state.heartbeat_ns is not None,
            self.mission.ready_timeout_s,
            "no HEARTBEAT on the onboard link",
        )
        yield from self._steps.request_streams()
        self.phase = WAITING
        yield from self._steps.until(
            lambda: self.link.state.can_fly,
            self.mission.ready_timeout_s,
            "the autopilot did not become ready to arm",
        )
        yield from self._take_off()
        self._common_start.release(self)
        while not self._common_start.is_open:  # hovering; the others fail by limits of their own
            self.phase = "waiting for the others"
            yield
        path = yield from self._fly_path()
        share = self.progress
        self.phase = "landing"
        for _ in self._steps.set_mode(self._requested or self._dialect.land):
            self._send_setpoint(path.at(share * path.duration))
            yield
        self.setpoint = None
        yield from self._steps.until_disarmed(self._landing_limit_s())
        if self._requested is not None:
            did = "was landed" if self._requested == self._dialect.land else "returned"
            raise StepFailed(f"it {did} by request after {share:.0%} of its path")

    def _take_off(self) -> Iterator[None]:
        state, mission = self.link.state, self.mission
        self.phase = "taking off"
        if self._p_map_start is not None:
            self.link.anchor(self._p_map_start)
        ground_amsl = state.altitude_amsl_m or 0.0
        altitude = ground_amsl + mission.takeoff_altitude_m
        if self._dialect.arms_first:
            yield from self._steps.set_mode(self._dialect.offboard)
            yield from self._steps.command("arming", mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)
        target = self._dialect.take_off_values(altitude, mission.takeoff_altitude_m)
        yield from self._steps.command("take-off", mavlink.MAV_CMD_NAV_TAKEOFF, *target)
        if not self._dialect.arms_first:
            yield from self._steps.command("arming", mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)
        enough = altitude - _SHORT_OF_HEIGHT_M
        yield from self._steps.until(
            lambda: (state.altitude_amsl_m or -inf) >= enough,
            30.0 + 2.0 * mission.takeoff_altitude_m,
            f"it did not climb to {mission.takeoff_altitude_m:g} m above the start",
        )
        self.phase = "settling"
        yield from self._settle()

    def _settle(self) -> Iterator[None]:
        """Wait until the vehicle hovers, 15 s at most, and continue in either case."""
        calm_since = limit_ns = self._now_ns
        limit_ns += 15 * _SECOND
        while self._now_ns - calm_since < _SETTLED_FOR_S * _SECOND and self._now_ns < limit_ns:
            estimate = self.estimate
            if estimate is None or np.linalg.norm(estimate.v_map) > _SETTLED_M_S:
                calm_since = self._now_ns
            yield

    def _fly_path(self) -> Generator[None, None, SampledPath]:
        estimate = self.estimate
        if estimate is None or estimate.q_map_body is None:
            raise StepFailed("no attitude on the onboard link")
        yaw = yaw_from_rotation(rotation_from_quaternion(estimate.q_map_body))
        path, track_begins = self.mission.plan(estimate.p_map, yaw)
        self.path, self._track_begins = path, track_begins
        self.phase = "entering offboard"
        lead_ns = self._now_ns + round(_SETPOINT_LEAD_S * _SECOND)
        while self._now_ns < lead_ns:
            self._send_setpoint(path.at(0.0))
            yield
        yield from self._enter_offboard(path.at(0.0))
        self.phase = FLYING
        self.path_start_ns = self._now_ns
        while (t := (self._now_ns - self.path_start_ns) / _SECOND) <= path.duration:
            if self._is_held:
                yield from self._hold(path.at(t))
            if self._requested is not None:
                break
            self._check_in_flight(self._dialect.offboard)
            self._send_setpoint(path.at(t))
            yield
        return path

    def _enter_offboard(self, setpoint: PathSetpoint) -> Iterator[None]:
        for _ in self._steps.set_mode(self._dialect.offboard):
            self._send_setpoint(setpoint)
            yield

    def _hold(self, setpoint: PathSetpoint) -> Iterator[None]:
        """Hover until the path is resumed or abandoned; path time stops meanwhile."""
        assert self.path_start_ns is not None
        held_ns, self.phase = self._now_ns, HOLDING
        elapsed_ns = held_ns - self.path_start_ns
        for _ in self._steps.set_mode(self._dialect.hold):
            self._send_setpoint(setpoint)
            self.path_start_ns = self._now_ns - elapsed_ns
            yield
        while self._is_held:
            self._check_in_flight(self._dialect.hold)
            self._send_setpoint(setpoint)  # offboard is entered from a stream of set-points only
            self.path_start_ns = self._now_ns - elapsed_ns
            yield
        if self._requested is None:
            for _ in self._enter_offboard(setpoint):
                self.path_start_ns = self._now_ns - elapsed_ns
                yield
            self.phase = FLYING
        self.path_start_ns = self._now_ns - elapsed_ns

    def _check_in_flight(self, mode: FlightMode) -> None:
        state = self.link.state
        if not state.is_armed:
            raise StepFailed("it disarmed in flight")
        if state.custom_mode != mode.number:
            raise StepFailed(
                f"it left {mode.name} for {state.mode_name}: a fail-safe, or a client that is not "
                "this mission"
            )
        if self._now_ns - (state.heartbeat_ns or 0) > _HEARTBEAT_LIMIT_S * _SECOND:
            raise StepFailed(f"no HEARTBEAT for {_HEARTBEAT_LIMIT_S:g} s")

    def _send_setpoint(self, setpoint: PathSetpoint) -> None:
        """Send at the sample rate of the path; store the set-point at every step."""
        self.setpoint = setpoint
        if self._now_ns >= self._setpoint_due_ns:
            self.link.send_setpoint(setpoint, self._now_ns)
            self._setpoint_due_ns = self._now_ns + round(PATH_STEP_S * _SECOND)

    def _landing_limit_s(self) -> float:
        assert self.path is not None
        highest = float(self.path.p_map[:, 2].max() - self.path.p_map[0, 2])
        extra_s = 0.0 if self._requested in (None, self._dialect.land) else _RETURN_S
        return extra_s + 60.0 + 3.0 * (highest + self.mission.takeoff_altitude_m)

    def _as_text(self, failure: str) -> str:
        said = f"; the autopilot says: {' | '.join(self.link.texts)}" if self.link.texts else ""
        place = f"{self.phase} at t = {self._now_ns / 1e9:.2f} s"
        return f"mission failed while {place}: {failure}{said}"
