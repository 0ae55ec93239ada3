# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller as a Python class in this process: truth and readings in, rotor speeds out."""

import importlib
import sys
from collections.abc import Callable, Sequence
from math import isfinite
from numbers import Real
from traceback import extract_tb
from typing import Any, NamedTuple

import numpy as np

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.interfaces import ControllerContext, ControllerSample
from aerotwin_core.parameters import read_yaml
from aerotwin_multirotor_dynamics import at_altitude, layout
from aerotwin_px4_bridge import AutopilotLost, Commander
from aerotwin_sensor_models import SensorReading
from aerotwin_simulator.controller_settings import PYTHON, ControllerSettings
from aerotwin_simulator.controllers.backend import OFF, SPEEDS, BackendSetup, Motors
from aerotwin_simulator.readings import FIELD, FORCE, PRESSURE, RATE, Readings


class PositionSetpoint(NamedTuple):
    """Position desired by a controller in map [m], yaw from east [rad]."""

    p_map: np.ndarray
    yaw: float


class PythonController:
    """Calls an object of a user's class, once per step.

    `reads` are the topics whose messages it gets, by full names. Raises UserError if it cannot be
    made, or reads what no sensor on board publishes.
    """

    estimate = None
    autopilot_state = None
    n_missed = 0
    waypoint: int | None = None
    commanders: Sequence[Commander] = ()

    def __init__(self, setup: BackendSetup) -> None:
        parameters, airframe = setup.parameters, setup.airframe
        self._name = parameters.controller.kind.removeprefix(PYTHON)
        n_rotors = len(airframe.rotors)
        self.motors = Motors(np.zeros(n_rotors))
        self._speeds = slice(layout.N_HEAD, layout.N_HEAD + n_rotors)
        self._sample: ControllerSample | None = None
        self._last_ns: int | None = None
        self.phase: str = "flying"
        self.progress: float | None = None
        self.failure: str | None = None
        self.is_finished = False
        self._step_s = parameters.step_s
        context = ControllerContext(
            vehicle=setup.vehicle,
            instance=parameters.fleet.instance,
            airframe=at_altitude(airframe, setup.home.altitude_m),
            step_s=parameters.step_s,
            seed=parameters.seed,
            options=load_options(parameters.controller),
        )
        make = load_class(self._name)
        try:
            self.controller = make(context)
            self.has_end = hasattr(self.controller, "is_finished")
            reads = getattr(self.controller, "reads", ())
        except Exception as error:
            raise ParameterError(
                f"controller.kind: {self._name} cannot be made: {_as_text(error)}; correct the "
                "class or its controller.options"
            ) from error
        self._sensors = setup.sensors
        self.reads = self._sensors.find(reads, self._name)

    def start(self) -> None:
        """Do nothing."""

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """Return at once."""

    def send_readings(self, readings: Readings) -> None:
        """Store the input of the controller."""
        state = readings.step.end.view()
        state.flags.writeable = False
        values = readings.values.view()
        values.flags.writeable = False
        stamp_ns = readings.step.end_ns
        last_ns = readings.step.start_ns if self._last_ns is None else self._last_ns
        self._last_ns = stamp_ns
        self._sample = ControllerSample(
            stamp_ns,
            (stamp_ns - last_ns) * 1e-9,
            state[layout.POSITION],
            state[layout.VELOCITY],
            state[layout.QUATERNION],
            state[layout.ANGULAR_VELOCITY],
            state[self._speeds],
            values[FORCE] if readings.has_imu else None,
            values[RATE] if readings.has_imu else None,
            values[FIELD] if readings.has_field else None,
            float(values[PRESSURE]) if readings.has_pressure else None,
            readings.fixes[-1] if readings.fixes else None,
            self._sensor_readings(readings) if self.reads else (),
        )

    def _sensor_readings(self, readings: Readings) -> list[SensorReading]:
        """Return the new readings of the topics that the controller reads."""
        sensors = self._sensors
        found = [sensors.reading(topic, cdr) for topic, cdr in readings.messages]
        return found + sensors.extra_readings(readings.extra, self.reads)

    def receive_command(self) -> None:
        """Call the controller; an exception or an invalid result ends the flight.

        Raises AutopilotLost if it raises, does not return one finite speed per rotor, none
        negative, or an attribute is of another type than in `aerotwin_core.interfaces.Controller`.
        """
        sample = self._sample
        assert sample is not None
        try:
            speeds = [float(speed) for speed in self.controller.step(sample)]
        except Exception as error:
            raise AutopilotLost(f"{self._title()}: step failed: {_as_text(error)}") from error
        motors = self.motors
        if len(speeds) != len(motors.values) or not isfinite(sum(speeds)) or min(speeds) < 0.0:
            raise AutopilotLost(
                f"{self._title()}: expected {len(motors.values)} finite rotor speeds [rad/s], none "
                f"negative, found {speeds}"
            )
        motors.values[:] = speeds
        motors.kind = SPEEDS if any(speeds) else OFF
        self._listen()

    def _listen(self) -> None:
        """Read the controller's attributes after a step."""
        self.phase = self._ask("phase", str, "a text", "flying")
        self.progress = self._ask("progress", Real, "a number or None", None)
        if self.progress is not None and not isfinite(self.progress):
            raise AutopilotLost(
                f"{self._title()}: progress: expected a finite number, found {self.progress}"
            )
        reason = self._ask("failure", str, "a text or None", None)
        self.failure = None if reason is None else f"controller {self._name} gave up: {reason}"
        self.is_finished = bool(self._ask("is_finished", (bool, np.bool_), "True or False", False))

    def _ask(self, name: str, kind: Any, expected: str, default: Any) -> Any:
        """Return an attribute of the user's object, which may raise or be anything."""
        try:
            value = getattr(self.controller, name, default)
        except Exception as error:
            raise AutopilotLost(f"{self._title()}: {name} failed: {_as_text(error)}") from error
        if not isinstance(value, kind) and not (value is None and default is None):
            raise AutopilotLost(
                f"{self._title()}: {name}: expected {expected}, found {type(value).__name__}"
            )
        return value

    @property
    def setpoint(self) -> Any:
        """State desired by the controller. Raises AutopilotLost if that is no set-point."""
        setpoint = self._ask("setpoint", object, "a set-point or None", None)
        if setpoint is None:
            return None
        try:
            p_map, yaw = np.array(setpoint.p_map, dtype=np.float64), float(setpoint.yaw)
        except Exception as error:
            raise AutopilotLost(f"{self._title()}: setpoint failed: {_as_text(error)}") from error
        if p_map.shape != (3,) or not isfinite(p_map.sum() + yaw):
            raise AutopilotLost(
                f"{self._title()}: setpoint: expected a finite p_map of 3 and yaw, found {p_map} "
                f"and {yaw}"
            )
        return PositionSetpoint(p_map, yaw)

    def _title(self) -> str:
        """Return the controller's name and the time, for messages."""
        sample = self._sample
        time_s = 0.0 if sample is None else sample.stamp_ns * 1e-9
        return f"controller {self._name} at t = {time_s:.3f} s"

    def counters(self) -> dict[str, str]:
        """Return the controller's name and whether it is armed."""
        return {"controller": self._name, "armed": str(self.motors.kind != OFF).lower()}

    def close(self) -> None:
        """Call the controller's `close`, if it has one. Raises UserError if its `close` raises."""
        try:
            close = getattr(self.controller, "close", None)
            if close is not None:
                close()
        except Exception as error:
            raise UserError(f"{self._title()}: close failed: {_as_text(error)}") from error


def load_class(name: str) -> Callable[[ControllerContext], Any]:
    """Return the class `module:Class`. Raises ParameterError if it cannot be imported or found."""
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ParameterError(
            f"controller.kind: no module '{error.name}' found for {name}; install it, or put its "
            "folder on PYTHONPATH"
        ) from error
    except Exception as error:
        raise ParameterError(
            f"controller.kind: {module_name} cannot be imported: {_as_text(error)}"
        ) from (error)
    found: Any = getattr(module, class_name, None)
    if not callable(getattr(found, "step", None)):
        classes = [n for n, v in vars(module).items() if callable(getattr(v, "step", None))]
        raise ParameterError(
            f"controller.kind: expected a class {class_name} with a method step in {module_name}, "
            f"found {', '.join(classes) or 'none'}"
        )
    return found


def load_options(controller: ControllerSettings) -> dict[str, Any]:
    """Return the mapping in the file `options`, {} without a file."""
    path = controller.options
    if not path:
        return {}
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ParameterError(f"{path}: expected names with values, found {type(content).__name__}")
    return content


def _as_text(error: BaseException) -> str:
    """Return an exception as text, with its location."""
    frames = extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename != __file__ and not f.filename.startswith(sys.prefix)]
    place = f" ({own[-1].filename}:{own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{place}"
