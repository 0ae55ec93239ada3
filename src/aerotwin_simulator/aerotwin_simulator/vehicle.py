# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One vehicle of a simulation: its body, its sensors, its cameras, and its controller."""

from collections.abc import Callable
from dataclasses import replace
from math import degrees, isfinite, radians
from typing import Any

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.messages import diagnostics_message, serialize, string_message
from aerotwin_core.time import Schedule
from aerotwin_faults.fault import AIR, COMPANION, LIDAR, POSE, RADAR
from aerotwin_multirotor_body.vehicle_faults import BodyDamage, VehicleFaults
from aerotwin_multirotor_dynamics import Multirotor, layout, load_airframe, standing_pose
from aerotwin_multirotor_dynamics.robot_description import multirotor_description
from aerotwin_px4_bridge import AutopilotLost, Commander, VisionPose
from aerotwin_px4_bridge.messages import yaw_ned_from_map
from aerotwin_px4_bridge.odometry_transforms import OdometryTransforms
from aerotwin_sensor_models import layout as sensed
from aerotwin_sensor_models.atmosphere import standard_atmosphere
from aerotwin_simulator import topics
from aerotwin_simulator.airframe_mesh import airframe_shape
from aerotwin_simulator.battery import BatteryMonitor
from aerotwin_simulator.collision import (
    Collision,
    CollisionWatch,
    describe_ground_crash,
    frame_lines,
)
from aerotwin_simulator.controller_outlets import ControllerOutlets
from aerotwin_simulator.controllers import Backend, BackendSetup, make_backend
from aerotwin_simulator.controllers.ardupilot import ArduPilot
from aerotwin_simulator.controllers.ardupilot_parameters import OWN_SENSORS
from aerotwin_simulator.controllers.backend import OFF
from aerotwin_simulator.controllers.python_class import PythonController
from aerotwin_simulator.controllers.sensor_topics import SensorTopics
from aerotwin_simulator.external_vision import NoVision, VisionTopic, make_vision
from aerotwin_simulator.extra_sensors import ExtraSensors, SensorFailed
from aerotwin_simulator.fixed_frames import fixed_transforms
from aerotwin_simulator.fleet import VehiclePlan, mission_of
from aerotwin_simulator.inertial_sensors import InertialSensors
from aerotwin_simulator.parameters import NO_GNSS
from aerotwin_simulator.payload import Payload
from aerotwin_simulator.robot import FLOWN, LANDED, RobotShape, Status, Stepped
from aerotwin_simulator.sensor_setup import Setup, preset_parameters, sensor_setup
from aerotwin_simulator.surroundings import Air, GroundTracker, Surroundings, start_on_ground
from aerotwin_simulator.truth import TruthOutlets, TruthStep, rotation

STATUS_RATE_HZ = 1.0
ESTIMATE_RATE_HZ = 20.0
_OK, _WARN, _ERROR = 0, 1, 2


class SimulatedVehicle:
    """A vehicle that is stepped by a simulation.

    `name` is "" for a single one; `outcome` is how its flight ended, None while it lasts,
    `is_success` whether its task is done, `has_failed` whether it ended otherwise. `sees_world`
    says whether it carries sensors that may see others, or nodes answer its readings. `transforms`
    is its estimate on /tf, None for none. `faults` are those that act on it; a reset ends them.
    `step` is its motion over the last step, `air` its wind, `watch` looks for walls. Before
    `idle_until_ns` `measure_alone` reads nothing, nor did it in the last step.
    It joins at `stamp_ns`. Raises UserError if its start lies outside the world or a parameter
    names what does not exist.
    """

    def __init__(self, plan: VehiclePlan, surroundings: Surroundings, stamp_ns: int = 0) -> None:
        parameters = plan.parameters
        self.name, self.parameters = plan.name, parameters
        self._plan, self._surroundings, self._sinks = plan, surroundings, surroundings.sinks
        self._place = topics.below(plan.name)
        self.airframe = load_airframe(parameters.airframe)
        self._n_rotors = len(self.airframe.rotors)
        self._frame = frame_lines(self.airframe)
        self._mission = mission_of(plan)
        self._payload = Payload(parameters, surroundings, plan.name, stamp_ns)
        scanners = [name for name in (LIDAR, RADAR) if parameters.has(name)]
        unused = OWN_SENSORS if parameters.controller.is_ardupilot else ()
        self.faults = VehicleFaults(
            self.airframe, cameras=self._payload.names, scanners=scanners, unused=unused
        )
        self._payload.apply_faults(self.faults)
        self._truth_due = Schedule(parameters.truth_rate_hz, stamp_ns)
        self._bias_due = Schedule(topics.TRUTH_IMU_BIAS.rate_hz, stamp_ns)
        self._estimate_due = Schedule(ESTIMATE_RATE_HZ, stamp_ns)
        self.truth_outlets = TruthOutlets(self._sinks, self._n_rotors, plan.name)
        self._outlets = ControllerOutlets(self._sinks, plan.name)
        self._tf = replace(topics.TF, source=plan.name)
        self.transforms: OdometryTransforms | None = None
        if parameters.publish_tf and parameters.controller.is_autopilot:
            self.transforms = OdometryTransforms(topics.frame(plan.name, ""))
        self._n_missed_before = 0
        self.has_left = False
        self.commanders: tuple[Commander, ...] = ()  # from outside, known once it has ended
        self._has_commander: Callable[[], bool] = lambda: True
        self._reset_to_start(stamp_ns)

    @property
    def title(self) -> str:
        """Its name in messages."""
        return self.name or f"vehicle {self.parameters.fleet.instance}"

    @property
    def n_missed(self) -> int:
        """Steps for which no command came in time, over all resets."""
        return self._n_missed_before + self.backend.n_missed

    def on_external_odometry_message(self, message: Any) -> None:
        """Pass a nav_msgs/Odometry of `external_odom` to the autopilot."""
        if isinstance(self._vision, VisionTopic):
            self._vision.on_odometry_message(message)

    def on_external_odometry(self, pose: VisionPose) -> None:
        """Pass a pose to the autopilot; raises ValueError unless vision.source is topic."""
        if not isinstance(self._vision, VisionTopic):
            raise ValueError(
                "a pose is taken with vision.source topic only, got "
                f"{self.parameters.vision.source}"
            )
        self._vision.on_pose(pose)

    @property
    def p_map_body(self) -> np.ndarray:
        """Position (3,) [m]."""
        return self.mover.state[layout.POSITION]

    @property
    def truth(self) -> np.ndarray:
        """Its state array, laid out as in `aerotwin_multirotor_dynamics.layout`; not to change."""
        return self.mover.state

    @property
    def box_map(self) -> np.ndarray:
        """Lowest and highest corner of its outline in map, (2, 3) [m]."""
        corners = np.vstack(self._frame) @ rotation(self.truth).T + self.p_map_body
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @property
    def look_back_s(self) -> float:
        """Time that the longest reading takes that is made when it is complete [s]."""
        return self._payload.look_back_s

    @property
    def ground_m(self) -> float:
        """Height of the ground below it in map [m]."""
        return float(self.mover.inputs[layout.GROUND_POINT + 2])

    @property
    def wind_map(self) -> np.ndarray:
        """Velocity of the air around it (3,) [m/s]."""
        return self.air.wind_map

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return f"multirotor {self.parameters.airframe}, flown by {self.parameters.controller.kind}"

    @property
    def shape(self) -> RobotShape:
        """What others see and hit."""
        return airframe_shape(self.airframe)

    @property
    def stepped(self) -> Stepped:
        """Itself."""
        return self

    @property
    def robots(self) -> tuple["SimulatedVehicle"]:
        """Itself."""
        return (self,)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Its state before and after the step, (1, N_HEAD)."""
        return self.step.ends

    @property
    def likeness(self) -> object:
        """Equal for vehicles that may be computed together; None if it is stepped by itself."""
        sensors, step_hz = self.sensors, 1.0 / self.parameters.step_s
        truth_hz = self.parameters.truth_rate_hz
        reads_imu = sensors.in_step & sensed.IMU
        if self._fine is not None or self.mover.is_custom or not reads_imu:
            return None
        if max(*sensors.rates_hz, truth_hz) > step_hz:
            return None
        return self.mover.lengths, sensors.rates_hz, truth_hz, self.sees_world

    @property
    def rotor_speeds(self) -> slice:
        """Place of the rotor speeds in its state."""
        return layout.rotor_speeds(self._n_rotors)

    @property
    def home(self) -> GeodeticPoint:
        """Start position."""
        latitude, longitude, altitude = self._surroundings.plane.to_geodetic(self._p_map_start)
        return GeodeticPoint(
            latitude_deg=latitude, longitude_deg=longitude, altitude_m=float(altitude)
        )

    # -- life ---------------------------------------------------------------------------------

    def _reset_to_start(self, stamp_ns: int) -> None:
        """Reset it to rest on the ground of its start, with fresh sensors and controller."""
        plan, around, parameters = self._plan, self._surroundings, self.parameters
        start = start_on_ground(around, plan.start_east_m, plan.start_north_m, self.title)
        x, y, height = start.tolist()
        point, normal = around.queries.ground_plane(np.array([x, y, height + 1.0]))
        yaw = plan.start_yaw_deg
        yaw_rad = around.world.start_yaw if yaw is None else radians(yaw)
        position, attitude = standing_pose(
            self.airframe,
            ground_point=point,
            ground_normal=normal,
            yaw_rad=yaw_rad,
        )
        self._p_map_start = position
        origin, airframe = around.world.origin, self.airframe
        self.faults.clear()
        self.body = Multirotor(
            airframe, p_map_body=position, q_map_body=attitude, origin_altitude_m=origin.altitude_m
        )
        self.sensors = InertialSensors(
            parameters, origin, self._sinks, self.name, stamp_ns, airframe, faults=self.faults
        )
        self._battery = BatteryMonitor(self.airframe, self._sinks, self.name, stamp_ns)
        self._vision = make_vision(
            parameters, self._sinks, self.name, stamp_ns, faults=self.faults.of(POSE)
        )
        self.mover = self.sensors.on(self.body)
        self._damage = BodyDamage(self.faults, self.body, self.sensors.vibration)
        self._extra = ExtraSensors(
            parameters,
            origin.altitude_m,
            self.mover.inputs,
            around.sight.cast_one,
            self._sinks,
            self.name,
            stamp_ns,
        )
        self._sinks.add(self._extra.topics)
        self.sees_world = not (self._payload.is_idle and self._extra.is_empty)
        self._surface = GroundTracker(around.queries, self.mover.inputs)
        self.air = Air(parameters, self.mover.inputs, self.faults.of(AIR))
        self.watch = CollisionWatch(
            around.queries, self._frame, self.mover.inputs, parameters.step_s
        )
        self._collision: Collision | None = None
        self._surface.update_ground(self.mover.state)
        self.watch.refuse_start(self.mover.state, self.title, around.world.name)
        self.step = TruthStep(stamp_ns, stamp_ns, self.mover.previous, self.mover.state)
        self._fine = self.sensors.in_fine_steps(self.mover, self._exchange)
        wind_map = self.mover.inputs[layout.WIND : layout.WIND + 3]
        self.readings = self.sensors.first_readings(self.step, wind_map)
        self._estimate_ns: int | None = None  # stamp of the last published
        self.idle_until_ns = 0  # no sensor that is read alone is due before
        self.outcome: str | None = None
        self.is_success = self.has_failed = False
        self.backend: Backend = make_backend(
            BackendSetup(
                vehicle=self.name,
                parameters=parameters,
                airframe=self.airframe,
                plane=around.plane,
                home=self.home,
                p_map_start=position,
                heading_deg=degrees(yaw_ned_from_map(yaw_rad)),
                mission=self._mission,
                folder=around.folder,
                spin=around.spin,
                has_commander=lambda: self._has_commander(),
                has_ground_station=self.name in around.with_station,
                sensors=SensorTopics(
                    self.name,
                    self._payload.cameras,
                    self._payload.scanners.values(),
                    self._extra.topics,
                ),
                link_faults=self.faults.of(COMPANION),
                host=around.host,
                common_start=around.common_start,
            )
        )
        flown_by = self.backend
        self._reads = flown_by.reads if isinstance(flown_by, PythonController) else frozenset()
        self.backend.motors.values = self.mover.inputs[layout.COMMAND :]

    def ask_for_commander(self, has_commander: Callable[[], bool]) -> None:
        """Set the function that returns whether a node publishes rotor commands for the vehicle."""
        self._has_commander = has_commander

    def reset(self, stamp_ns: int) -> None:
        """Reset it to its start, with a fresh controller; `start` and `wait` follow."""
        self.close()
        self._n_missed_before = self.n_missed
        self._payload.restart(stamp_ns)
        self._payload.apply_faults(self.faults)
        self._reset_to_start(stamp_ns)

    def place(
        self, p_map: np.ndarray, q_map_body: np.ndarray, v_map: np.ndarray, omega_body: np.ndarray
    ) -> str:
        """Move it between two steps; return why it cannot be there, "" if it is.

        Rotors, battery and controller go on as they were.
        """
        state, body = self.mover.state, self.body
        before = state.copy()
        speeds = before[layout.rotor_speeds(self._n_rotors)]
        try:
            standard_atmosphere(self._surroundings.world.origin.altitude_m + float(p_map[2]))
        except ValueError as error:
            return str(error)
        ground, _ = self._surroundings.queries.ground_plane(p_map)
        if not (isfinite(ground[2]) and p_map[2] > ground[2]):
            x, y, z = p_map
            return f"({x:.1f}, {y:.1f}, {z:.1f}) m is beside or below the ground of the world"
        body.reset(
            p_map_body=p_map,
            q_map_body=q_map_body,
            v_map_body=v_map,
            omega_map_body_in_body=omega_body,
            rotor_speed_rad_s=speeds,
        )
        for part in (slice(layout.BATTERY_CHARGE, layout.BATTERY_CURRENT + 1), layout.IS_CRASHED):
            state[part] = before[part]
        self._surface.look_again(state)
        watch = CollisionWatch(
            self._surroundings.queries, self._frame, self.mover.inputs, self.parameters.step_s
        )
        if (met := watch.check_state(state)) is not None:
            state[:] = before
            self._surface.look_again(state)
            return f"it would touch {met.what}"
        self.watch = watch
        self.mover.previous[:] = state
        return ""

    def look_again(self) -> None:
        """Check for collisions at the next step, because an obstacle came into the world."""
        self.watch.look_again()

    def warm_up(self) -> None:
        """Render and cast rays once, so that no step of the flight pays for compilation."""
        self._surroundings.queries.warm_up()
        self._payload.warm_up()

    def static_transforms(self) -> list[object]:
        """Return the frames of its sensors and rotors as TransformStamped messages."""
        mountings = self._extra.mountings()
        return fixed_transforms(self.parameters, self.airframe, mountings, self.name)

    def publish_description(self) -> None:
        """Publish its URDF."""
        urdf = multirotor_description(
            self.airframe, self.static_transforms(), topics.frame(self.name, "")
        )
        cdr = serialize(string_message(urdf))
        self._sinks.publish_cdr(self._place(topics.ROBOT_DESCRIPTION), 0, cdr)

    def sensor_setup(self) -> Setup:
        """Return the sensor data that an estimator needs, with the true biases of the IMU."""
        sensors, payload = self.sensors, self._payload
        setup = sensor_setup(self.name, sensors.unit.imu, sensors.imu_rate_hz, payload.cameras)
        setup |= payload.setup()
        return setup | {"presets": preset_parameters(self.parameters)}

    @property
    def awaited_topics(self) -> tuple[topics.Topic, ...]:
        """Topics of a reading, one of which nodes that answer it read.

        Without one it is the truth, where others render, or the estimate, where others pilot.
        """
        others = topics.TRUTH_ODOM, topics.AUTOPILOT_ODOM
        return self._payload.awaited_topics or tuple(map(self._place, others))

    @property
    def published(self) -> list[topics.Topic]:
        """The topics of its own equipment, without those of `sensors.extra`."""
        found = list(topics.OF_A_VEHICLE)
        if self.parameters.sensors.gnss != NO_GNSS:
            found += topics.OF_A_GNSS
        if self._battery.is_there:
            found.append(topics.BATTERY)
        return [*map(self._place, found), *self._payload.topics]

    def close(self) -> None:
        """End its controller."""
        self.backend.close()
        self.commanders = (*dict.fromkeys((*self.commanders, *self.backend.commanders)),)

    def leave(self) -> None:
        """End its controller, and be stepped no more."""
        self.has_left = True
        self.close()

    # -- one step -----------------------------------------------------------------------------

    def move(self, begin_ns: int, end_ns: int) -> bool:
        """Move by one step; return whether it could, for otherwise its flight is over."""
        try:
            self.prepare(begin_ns, end_ns)
            if self._fine is None:
                self.mover.step()
            else:
                self._fine.step(begin_ns)
        except (FloatingPointError, ValueError) as error:
            self.leave_model(error)
            return False
        except AutopilotLost as error:
            self.end(str(error), is_success=False)
            return False
        return True

    def prepare(self, begin_ns: int, end_ns: int) -> None:
        """Set what acts on it in the step that begins. Raises ValueError beyond a model."""
        self.step.start_ns, self.step.end_ns = begin_ns, end_ns
        mover = self.mover
        mover.inputs[layout.IS_ARMED] = self.backend.motors.kind
        self._surface.update_ground(mover.state)
        self.air.blow(mover.state, begin_ns)
        self._damage.apply(begin_ns)

    def attend(self, status: int) -> None:
        """Handle a status of `mover` that is not 0, after it was stepped with others."""
        try:
            self.mover.attend(status)
        except (FloatingPointError, ValueError) as error:
            self.leave_model(error)

    def leave_model(self, error: Exception) -> None:
        """End its flight because it left what the models hold for."""
        self.end(f"it left what can be simulated: {error}", is_success=False)

    def hit(self, collision: Collision) -> None:
        """Crash; the first collision of a flight is the one that is reported."""
        self._collision = self._collision or collision
        self.mover.state[layout.IS_CRASHED] = 1.0

    def is_check_due(self) -> bool:
        """Return whether walls must be looked for at this step; call it at every step."""
        return self._collision is None and not self.has_failed and self.watch.is_due()

    def measure(self) -> None:
        """Publish the sensor readings of the step."""
        self.readings.forget()
        self.measure_alone()
        self.sensors.collect(self.readings)
        if not self._sinks.is_empty:
            self._publish_truth(self.step, self.step.end_ns)

    def measure_alone(self) -> None:
        """Publish the readings of all sensors but IMU, magnetometer and barometer."""
        step = self.step
        if step.end_ns < self.idle_until_ns:
            return
        if self.sees_world:
            self.readings.messages = self._payload.publish(step, self._reads)
            try:
                self.readings.extra = self._extra.sample(step)
            except SensorFailed as error:
                self.end(str(error), is_success=False)
        self.sensors.collect_fixes(self.readings)
        self.readings.battery = self._battery.report(step.end_ns, step.end)
        self.readings.vision = self._vision.collect(step)
        has_more = self.sees_world or not isinstance(self._vision, NoVision)
        is_read = has_more or self.readings.fixes or self.readings.battery
        next_ns = min(self.sensors.next_fix_ns, self._battery.next_ns)
        self.idle_until_ns = 0 if is_read else next_ns

    def _publish_truth(self, step: TruthStep, end_ns: int) -> None:
        for stamp_ns in self._truth_due.until(end_ns):
            self.truth_outlets.publish(stamp_ns, step.at(stamp_ns))
        for stamp_ns in self._bias_due.until(end_ns):
            self.publish_imu_bias(stamp_ns)

    def publish_imu_bias(self, stamp_ns: int) -> None:
        """Publish the biases of the last reading of the IMU."""
        self.truth_outlets.publish_imu_bias(stamp_ns, self.sensors.unit.imu)

    def _exchange(self, stamp_ns: int, state: np.ndarray, imu: np.ndarray) -> None:
        """Give the autopilot a state within the step, and take its command."""
        assert isinstance(self.backend, ArduPilot)
        self.backend.exchange(stamp_ns, state, imu)
        self.mover.inputs[layout.IS_ARMED] = self.backend.motors.kind

    def send_readings(self) -> None:
        """Send the readings of the step to the controller."""
        try:
            self.backend.send_readings(self.readings)
        except AutopilotLost as error:
            self.end(str(error), is_success=False)

    def receive_command(self, end_ns: int) -> None:
        """Receive the controller's answer to the step, and check whether the flight is over."""
        try:
            if not self.has_failed:
                self.backend.receive_command()
        except AutopilotLost as error:
            self.end(str(error), is_success=False)
        self.publish_estimate(end_ns)
        self.check_end()

    def publish_estimate(self, end_ns: int) -> None:
        """Publish the estimate, if that is due."""
        try:
            if end_ns >= self._estimate_due.next_ns and not self._sinks.is_empty:
                self._publish_estimate(end_ns)
        except AutopilotLost as error:
            self.end(str(error), is_success=False)

    @property
    def next_estimate_ns(self) -> int:
        """When its estimate is due next."""
        return self._estimate_due.next_ns

    def check_end(self) -> None:
        """End its flight if it has crashed, failed or finished."""
        if self.has_failed:
            return
        backend = self.backend
        if self.mover.state[layout.IS_CRASHED]:
            self.end(f"the vehicle crashed: {self._crash()}", is_success=False)
        elif backend.failure is not None and self._ends_by_failure:
            self.end(backend.failure, is_success=False)
        elif backend.is_finished:
            has_mission = self._mission is not None or not self.parameters.controller.is_autopilot
            if has_mission:
                self.end(FLOWN, is_success=True)
            elif self.mover.state[layout.N_CONTACTS]:  # else its motors were cut in the air
                self.end(LANDED, is_success=True)

    @property
    def _ends_by_failure(self) -> bool:
        return self.parameters.mission.failure_ends_flight or self.backend.motors.kind == OFF

    def _crash(self) -> str:
        if self._collision is not None:
            return str(self._collision)
        crash_speed_m_s = self.airframe.contact.crash_speed_m_s
        return describe_ground_crash(self._surroundings.queries, self.mover.state, crash_speed_m_s)

    def end(self, outcome: str, *, is_success: bool) -> None:
        """Set the outcome of its flight; the first one stays."""
        if not self.has_failed:
            self.outcome, self.is_success = outcome, is_success
            self.has_failed = not is_success

    # -- status of its controller --------------------------------------------------------------

    def _publish_estimate(self, end_ns: int) -> None:
        for stamp_ns in self._estimate_due.until(end_ns):
            estimate, setpoint = self.backend.estimate, self.backend.setpoint
            has_pose = estimate is not None and estimate.q_map_body is not None
            if estimate is not None and has_pose and estimate.stamp_ns != self._estimate_ns:
                self._estimate_ns = estimate.stamp_ns
                self._outlets.publish_odometry(stamp_ns, estimate)
            self._publish_transforms(stamp_ns)
            if setpoint is not None:
                self._outlets.publish_pose(stamp_ns, setpoint.p_map, setpoint.yaw)

    def _publish_transforms(self, stamp_ns: int) -> None:
        cdr = None if self.transforms is None else self.transforms.pack(self.backend.estimate)
        if cdr is not None:
            self._sinks.add([self._tf])  # not before: a SLAM may be its only publisher
            self._sinks.publish_cdr(self._tf, stamp_ns, cdr)

    def publish_status(self, stamp_ns: int) -> Status:
        """Publish the status of its controller, and return it."""
        status = self._status()
        cdr = serialize(diagnostics_message(stamp_ns, [status]))
        self._sinks.publish_cdr(self._place(topics.AUTOPILOT_STATUS), stamp_ns, cdr)
        return status

    def _status(self) -> Status:
        backend = self.backend
        values = {"phase": backend.phase, **backend.counters()}
        if isinstance(self._vision, VisionTopic):
            values["vision_refused"] = str(self._vision.n_refused)
        if self._n_missed_before:
            values["steps_missed_before_reset"] = str(self._n_missed_before)
        level = _WARN if self.n_missed else _OK
        if self.has_failed:
            level, values["outcome"] = _ERROR, str(self.outcome)
        kind = "autopilot" if self.parameters.controller.is_autopilot else "controller"
        return f"{kind} {self.name or self.parameters.fleet.instance}", level, backend.phase, values
