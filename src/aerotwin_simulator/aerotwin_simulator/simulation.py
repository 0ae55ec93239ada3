# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One flight: the loop that owns time.

`autopilot command -> dynamics -> sensors -> autopilot`, in direct calls. The caller drives it step
by step and decides about pace, pauses and the end.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from aerotwin_core import messages
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.messages import serialize
from aerotwin_core.parameters import load_parameters_file
from aerotwin_core.time import Schedule, to_seconds
from aerotwin_multirotor_dynamics import Multirotor, layout, load_airframe, standing_pose
from aerotwin_px4_bridge import AutopilotLost, HilLink, Mission, MissionClient, hil_port
from aerotwin_simulator import topics
from aerotwin_simulator.autopilot import loop_cpu, make_autopilot
from aerotwin_simulator.autopilot_messages import AutopilotMessages
from aerotwin_simulator.inertial_sensors import InertialSensors
from aerotwin_simulator.onboard import IdleClient
from aerotwin_simulator.parameters import STEP_NS, SimulatorParameters
from aerotwin_simulator.stereo_camera import StereoCamera, static_transforms
from aerotwin_simulator.topics import Outlet, Topic
from aerotwin_simulator.truth import TruthMessages, TruthStep
from aerotwin_worlds import World, WorldQueries

STATUS_RATE_HZ = 1.0
CLOCK_RATE_HZ = 100.0
ESTIMATE_RATE_HZ = 20.0
_OK, _WARN = 0, 1


class Simulation:
    """A vehicle in a world, its sensors, its autopilot and its mission.

    Parameters
    ----------
    parameters : SimulatorParameters
        What to fly.
    world : World
        Where.
    folder : path
        Where logs of the autopilot go.
    outlets : sequence of Outlet
        Who gets the messages.
    before_frame : callable, optional
        Called with the stamp [ns] before a stereo frame is handed out: the place to wait for
        nodes that must keep pace.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        world: World,
        folder: Path,
        outlets: Sequence[Outlet],
        *,
        before_frame: Callable[[int], None] | None = None,
    ) -> None:
        self.parameters, self.world, self._folder = parameters, world, folder
        self._outlets = list(outlets)
        self._before_frame = before_frame
        self._plane = LocalTangentPlane(world.origin)
        self._queries = WorldQueries(world)
        self._wind = np.array([parameters.wind_east_m_s, parameters.wind_north_m_s, 0.0])
        self._mission = None
        if parameters.mission != "none":
            self._mission = load_parameters_file(Mission, parameters.mission)
        self._camera = StereoCamera(parameters, world) if parameters.camera else None
        self.stamp_ns = 0
        self.outcome: str | None = None
        self.is_success = False
        self._layouts = AutopilotMessages()
        self._free_cpus: set[int] = set()
        self._clock_due = Schedule(CLOCK_RATE_HZ)
        self._truth_due = Schedule(parameters.truth_rate_hz)
        self._estimate_due = Schedule(ESTIMATE_RATE_HZ)
        self._status_due = Schedule(STATUS_RATE_HZ)
        self._place_vehicle()
        self.link = HilLink(
            hil_port(parameters.instance), free_run=parameters.autopilot != "embedded"
        )

    def _place_vehicle(self) -> None:
        """Put the vehicle at rest on the ground of the start, with fresh sensors."""
        parameters, world = self.parameters, self.world
        airframe = load_airframe(parameters.airframe)
        x, y, _ = world.start_p_map
        point, normal = self._queries.ground_plane(
            np.array([x, y, self._queries.height(x, y) + 1.0])
        )
        position, attitude = standing_pose(
            airframe, ground_point=point, ground_normal=normal, yaw_rad=world.start_yaw
        )
        self.vehicle = Multirotor(airframe, p_map_body=position, q_map_body=attitude)
        self._command = np.zeros(len(airframe.rotors))
        self._is_armed = False
        self._sensors = InertialSensors(parameters, world.origin, self.stamp_ns)
        self._truth = TruthMessages(len(airframe.rotors))

    # -- life ---------------------------------------------------------------------------------

    def start(self, on_wait: Callable[[float], None] | None = None) -> None:
        """Start the autopilot, wait for its connection and hand out the static transforms.

        Raises
        ------
        AutopilotLost
            If the autopilot does not connect in time.
        UserError
            If it cannot be started.
        """
        if self._camera is not None:
            self._camera.warm_up(np.eye(4))
        self.client = self._make_client()
        self.autopilot = make_autopilot(self.parameters, self.world.origin, self._folder)
        self.autopilot.start()

        def check(waited_s: float) -> None:
            self.autopilot.check()
            if on_wait is not None:
                on_wait(waited_s)

        self.link.accept(self.parameters.autopilot_wait_s, on_wait=check)
        cpu = loop_cpu(self.parameters)
        if cpu is not None:
            self._free_cpus = self._free_cpus or os.sched_getaffinity(0)
            os.sched_setaffinity(0, {cpu})  # this thread only: rendering keeps all processors
        if self.stamp_ns == 0:
            fixed = messages.transform_message(static_transforms(self.parameters))
            self._emit(topics.TF_STATIC, 0, serialize(fixed))

    def _make_client(self) -> MissionClient | IdleClient:
        instance = self.parameters.instance
        if self._mission is None:
            return IdleClient(self._plane, instance)
        start = self.vehicle.state.p_map_body if self.parameters.anchor_mission else None
        return MissionClient(self._mission, self._plane, instance, p_map_start=start)

    def reset(self, on_wait: Callable[[float], None] | None = None) -> None:
        """Put the vehicle back at its start with a fresh autopilot and mission; time goes on."""
        self._stop_autopilot()
        self.link = HilLink(
            hil_port(self.parameters.instance),
            free_run=self.parameters.autopilot != "embedded",
        )
        self._place_vehicle()
        self.outcome, self.is_success = None, False
        self.start(on_wait)

    def close(self) -> None:
        """End the autopilot and free the ports; safe to call twice."""
        self._stop_autopilot()
        if self._free_cpus:
            os.sched_setaffinity(0, self._free_cpus)

    def _stop_autopilot(self) -> None:
        self.link.close()
        if hasattr(self, "client"):
            self.client.close()
        if hasattr(self, "autopilot"):
            self.autopilot.stop()

    # -- one step -----------------------------------------------------------------------------

    def advance(self) -> None:
        """Advance by one step of 4 ms; sets `outcome` when the flight is over."""
        step = self._move()
        self._emit_truth(step)
        if self._camera is not None:
            self._take_pictures(step, self._camera)
        frames = self._sensors.sample(step, self._emit)
        self.client.poll(step.end_ns)
        try:
            answer = self.link.exchange(step.end_ns // 1000, frames)
        except AutopilotLost as error:
            self._end(str(error), is_success=False)
            return
        if answer is not None:
            self._command = np.clip(answer.controls[: len(self._command)], 0.0, 1.0)
            self._is_armed = answer.is_armed
        self._emit_autopilot(step)
        self._check_end()

    def _move(self) -> TruthStep:
        vehicle = self.vehicle
        start = vehicle.state_vector.copy()
        point, normal = self._queries.ground_plane(start[layout.POSITION])
        vehicle.step(
            self._command,
            STEP_NS * 1e-9,
            ground_point=point,
            ground_normal=normal,
            wind_map=self._wind,
            is_armed=self._is_armed,
        )
        begin = self.stamp_ns
        self.stamp_ns = begin + STEP_NS
        return TruthStep(begin, self.stamp_ns, start, vehicle.state_vector.copy())

    def _take_pictures(self, step: TruthStep, camera: StereoCamera) -> None:
        for stamp_ns, pictures in camera.frames(step):
            if self._before_frame is not None:
                self._before_frame(stamp_ns)
            for topic, cdr in pictures:
                self._emit(topic, stamp_ns, cdr)

    def _check_end(self) -> None:
        limit = self.parameters.duration_s
        if self.vehicle.is_crashed:
            speed = self.vehicle.state.impact_speed_m_s
            self._end(f"the vehicle crashed at {speed:.1f} m/s", is_success=False)
        elif self.client.failure is not None:
            self._end(f"the mission failed: {self.client.failure}", is_success=False)
        elif self.client.is_finished:
            self._end("the mission is flown", is_success=True)
        elif limit > 0.0 and to_seconds(self.stamp_ns) >= limit:
            self._end(f"{limit:g} s are over", is_success=True)

    def _end(self, outcome: str, *, is_success: bool) -> None:
        self.outcome, self.is_success = outcome, is_success

    # -- what goes out ------------------------------------------------------------------------

    def _emit(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        for outlet in self._outlets:
            outlet.emit(topic, stamp_ns, cdr)

    def _emit_truth(self, step: TruthStep) -> None:
        for stamp_ns in self._clock_due.until(step.end_ns):
            self._emit(topics.CLOCK, stamp_ns, self._layouts.clock(stamp_ns))
        for stamp_ns in self._truth_due.until(step.end_ns):
            for topic, cdr in self._truth.messages(stamp_ns, step.at(stamp_ns)):
                self._emit(topic, stamp_ns, cdr)

    def _emit_autopilot(self, step: TruthStep) -> None:
        for stamp_ns in self._estimate_due.until(step.end_ns):
            self._emit_estimate(stamp_ns)
        for stamp_ns in self._status_due.until(step.end_ns):
            status = self._status()
            message = messages.diagnostics_message(stamp_ns, [status])
            self._emit(topics.AUTOPILOT_STATUS, stamp_ns, serialize(message))
            self._emit(topics.DIAGNOSTICS, stamp_ns, serialize(message))

    def _emit_estimate(self, stamp_ns: int) -> None:
        estimate, setpoint = self.client.estimate, self.client.setpoint
        if estimate is not None and estimate.q_map_body is not None:
            cdr = self._layouts.odometry(estimate)
            self._emit(topics.AUTOPILOT_ODOM, stamp_ns, cdr)
        if setpoint is not None:
            cdr = self._layouts.pose(stamp_ns, setpoint.p_map, setpoint.yaw)
            self._emit(topics.SETPOINT, stamp_ns, cdr)

    def _status(self) -> tuple[str, int, str, dict[str, str]]:
        counters = self.link.counters
        values = {
            "phase": self.client.phase,
            "armed": str(self._is_armed).lower(),
            "steps_sent": str(counters.n_sent),
            "steps_answered": str(counters.n_answered),
            "steps_missed": str(counters.n_missed),
            "answers_late": str(counters.n_late),
            "answers_refused": str(counters.n_refused),
            "longest_wait_ms": f"{counters.max_wait_s * 1e3:.1f}",
        }
        level = _OK if self.link.is_repeatable else _WARN
        return f"autopilot {self.parameters.instance}", level, self.client.phase, values
