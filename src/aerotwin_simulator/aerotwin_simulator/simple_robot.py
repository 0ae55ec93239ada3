# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots without rotors have in common: a start, a payload, an end of the run."""

from collections.abc import Callable, Sequence
from math import radians

import numpy as np

from aerotwin_core.messages import diagnostics_message, serialize, string_message
from aerotwin_faults.fault import AIR, LIDAR, RADAR
from aerotwin_multirotor_body.vehicle_faults import VehicleFaults
from aerotwin_multirotor_dynamics import Airframe, layout
from aerotwin_px4_bridge import Commander
from aerotwin_px4_bridge.odometry_transforms import OdometryTransforms
from aerotwin_simulator import topics
from aerotwin_simulator.collision import Collision
from aerotwin_simulator.controllers import Backend
from aerotwin_simulator.fleet import VehiclePlan
from aerotwin_simulator.payload import Payload
from aerotwin_simulator.readings import Readings
from aerotwin_simulator.robot import FLOWN, LANDED, Status
from aerotwin_simulator.sensor_setup import Setup
from aerotwin_simulator.surroundings import Air, Surroundings, start_on_ground
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep

_OK, _ERROR = 0, 2


class SimpleController:
    """The part of a `Backend` that runs no process, reads no sensors and waits for no answer."""

    commanders: Sequence[Commander] = ()
    autopilot_state = None
    n_missed = 0

    def start(self) -> None:
        """Do nothing: it is ready."""

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """Do nothing: it is ready."""

    def send_readings(self, readings: Readings) -> None:
        """Do nothing: it reads none."""

    def receive_command(self) -> None:
        """Do nothing: it has decided."""

    def close(self) -> None:
        """Do nothing."""

    @property
    def is_connected(self) -> bool:
        """Whether it can be commanded, always."""
        return True


class SimpleRobot:
    """The part of a `SimulatedRobot` that does not depend on how it moves.

    A child has `backend`, `truth` and the rest. It begins at `stamp_ns`; with an airframe, faults
    of its parts are checked against it. Raises UserError if its start lies beside the world or a
    parameter names what does not exist.
    """

    backend: Backend

    def __init__(
        self,
        plan: VehiclePlan,
        surroundings: Surroundings,
        stamp_ns: int,
        airframe: Airframe | None = None,
    ) -> None:
        self.name, self.parameters = plan.name, plan.parameters
        self._around, self._place = surroundings, topics.below(plan.name)
        self.outcome: str | None = None
        self.is_success = self.has_left = False
        self.n_missed = 0
        self.commanders: tuple[Commander, ...] = ()
        self.transforms: OdometryTransforms | None = None
        self._payload = Payload(plan.parameters, surroundings, plan.name, stamp_ns)
        scanners = [name for name in (LIDAR, RADAR) if plan.parameters.has(name)]
        self.faults = VehicleFaults(airframe, cameras=self._payload.names, scanners=scanners)
        self._payload.apply_faults(self.faults)
        self._inputs = np.zeros(layout.COMMAND)
        self._inputs[layout.GROUND_NORMAL + 2] = 1.0
        self.air = Air(plan.parameters, self._inputs, self.faults.of(AIR))
        self.step = TruthStep(stamp_ns, stamp_ns, *np.zeros((2, layout.N_HEAD)))
        self._collision: Collision | None = None
        yaw = plan.start_yaw_deg
        self.yaw_start = surroundings.world.start_yaw if yaw is None else radians(yaw)
        self._ground_start = start_on_ground(
            surroundings, plan.start_east_m, plan.start_north_m, self.title
        )

    @property
    def title(self) -> str:
        """Its name in messages."""
        return self.name or f"vehicle {self.parameters.fleet.instance}"

    @property
    def truth(self) -> np.ndarray:
        """Its state array; not to change."""
        return self.step.end

    @property
    def p_map_body(self) -> np.ndarray:
        """Position (3,) [m]."""
        return self.truth[layout.POSITION]

    @property
    def ground_m(self) -> float:
        """Height of the ground below it in map [m]."""
        return float(self._inputs[layout.GROUND_POINT + 2])

    @property
    def wind_map(self) -> np.ndarray:
        """Velocity of the air around it (3,) [m/s]."""
        return self.air.wind_map

    @property
    def is_crashed(self) -> bool:
        """Whether it hit something."""
        return self._collision is not None

    @property
    def look_back_s(self) -> float:
        """Time that the longest reading takes that is made when it is complete [s]."""
        return self._payload.look_back_s

    @property
    def awaited_topics(self) -> tuple[Topic, ...]:
        """Topics of a reading, one of which nodes that answer it read.

        Without one it is the truth, where others render, or the estimate, where others pilot.
        """
        others = topics.TRUTH_ODOM, topics.AUTOPILOT_ODOM
        return self._payload.awaited_topics or tuple(map(self._place, others))

    def sensor_setup(self) -> Setup:
        """Return what its lidar and radar are."""
        return self._payload.setup()

    def warm_up(self) -> None:
        """Render and cast rays once, so that no step of the flight pays for compilation."""
        self._around.queries.warm_up()
        self._payload.warm_up()

    def close(self) -> None:
        """Do nothing."""

    def leave(self) -> None:
        """Be stepped no more."""
        self.has_left = True

    def forget_run(self, stamp_ns: int) -> None:
        """Forget what happened to it, and begin its sensors anew."""
        self.faults.clear()
        self._payload.restart(stamp_ns)
        self._payload.apply_faults(self.faults)
        self.outcome, self.is_success, self._collision = None, False, None

    def hit(self, collision: Collision) -> None:
        """Crash; the first collision is the one that is reported."""
        self._collision = self._collision or collision

    def check_end(self) -> None:
        """Check whether its run is over."""
        if self._collision is not None:
            self.end(f"the vehicle crashed: {self._collision}", is_success=False)
        elif self.backend.failure is not None and self._ends_by_failure:
            self.end(self.backend.failure, is_success=False)
        elif self.backend.is_finished:
            self.end(FLOWN if self.has_mission else LANDED, is_success=True)

    @property
    def _ends_by_failure(self) -> bool:
        """Whether a mission that failed ends the run now: else once it has landed."""
        return self.parameters.mission.failure_ends_flight or not self.backend.motors.kind

    def end(self, outcome: str, *, is_success: bool) -> None:
        """Set the outcome of its run; the first one stays."""
        if self.outcome is None or self.is_success:
            self.outcome, self.is_success = outcome, is_success

    @property
    def has_mission(self) -> bool:
        """Whether it flies a mission."""
        return False

    @property
    def has_payload(self) -> bool:
        """Whether it carries cameras or scanners, or is the one that nodes answer."""
        return not self._payload.is_idle

    def publish_payload(self) -> None:
        """Publish what its cameras and scanners saw in the last step."""
        self._payload.publish(self.step)

    def publish_urdf(self, urdf: str) -> None:
        """Publish its URDF."""
        cdr = serialize(string_message(urdf))
        self._around.sinks.publish_cdr(self._place(topics.ROBOT_DESCRIPTION), 0, cdr)

    def publish_status(self, stamp_ns: int) -> Status:
        """Publish the status of its controller, and return it."""
        backend = self.backend
        values, level = {"phase": backend.phase, **backend.counters()}, _OK
        if self.outcome is not None and not self.is_success:
            level, values["outcome"] = _ERROR, self.outcome
        kind = self.parameters.dynamics.replace("_", " ")
        status = f"{kind} {self.title}", level, backend.phase, values
        cdr = serialize(diagnostics_message(stamp_ns, [status]))
        self._around.sinks.publish_cdr(self._place(topics.AUTOPILOT_STATUS), stamp_ns, cdr)
        return status
