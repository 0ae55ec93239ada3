# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The autopilot process of a vehicle, and the processor it shares with the loop."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from aerotwin_autopilot import (
    AirframeParameters,
    AutopilotParameters,
    load_autopilot_parameters,
    parameters_text,
)
from aerotwin_core.child_python import python_command
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.parameters import load_parameters, to_mapping
from aerotwin_multirotor_dynamics import Airframe, at_altitude, hover_command
from aerotwin_px4_bridge import AutopilotProcess, embedded_process, hil_port, px4_process
from aerotwin_px4_bridge.embedded_host import EmbeddedHost, HostedAutopilot
from aerotwin_px4_bridge.process import (
    COMPANION_PARAMETERS,
    OPTICAL_FLOW_PARAMETERS,
    RC_PARAMETERS,
    external_vision_parameters,
    rotor_parameters,
)
from aerotwin_px4_bridge.px4_files import read_parameter_file
from aerotwin_sensor_models import load_preset
from aerotwin_simulator.controllers.backend import BackendSetup
from aerotwin_simulator.parameters import NO_FILE, NO_GNSS, NO_PRESET, SimulatorParameters
from aerotwin_simulator.pinned_cpu import pinned_cpu

_OUTSIDE_LINKS = ("ground", "offboard")
"""Links that PX4 opens for outside clients when no mission flies it."""


class NoProcess:
    """A flight controller on a serial line: there is no process to start, check or stop."""

    def start(self) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Do nothing; the link detects its silence."""

    def stop(self) -> None:
        """Do nothing."""


def hil_endpoint(parameters: SimulatorParameters) -> int | str:
    """Return the TCP port that the autopilot connects to, or its serial line."""
    controller = parameters.controller
    return controller.kind if controller.is_serial else hil_port(parameters.fleet.link_number)


def make_process(setup: BackendSetup) -> AutopilotProcess | HostedAutopilot | NoProcess:
    """Return the process of PX4 or the embedded autopilot, not yet started, logging to the folder.

    Embedded autopilots of a fleet share one, that of `host`. Both get the vehicle's mass properties
    or hover thrust, the geometry of the rotors, and the delay of the GNSS receiver. Raises
    UserError if PX4 is requested and its folder holds no built SITL, or the run folder is not
    writable.
    """
    if setup.parameters.controller.is_serial:
        return NoProcess()
    if setup.parameters.controller.kind == "px4":
        return _px4(setup)
    instance = setup.parameters.fleet.link_number
    path = setup.folder / f"autopilot_{instance}.yaml"
    believed = believed_airframe(at_altitude(setup.airframe, setup.home.altitude_m))
    text = parameters_text(believed, _autopilot_parameters(setup.parameters))
    write_text_atomically(path, text)
    if setup.host is not None:
        return setup.host.add(instance, path)
    return embedded_process(
        instance,
        setup.folder,
        parameters_path=path,
        cpu=pinned_cpu(setup.parameters),
        command=_embedded_command(),
    )


def make_host(
    plans: Sequence[SimulatorParameters], folder: Path, loop_cpu: int | None
) -> EmbeddedHost | None:
    """Return the process of the embedded autopilots of several vehicles; None for fewer than two.

    One alone shares its processor with the loop, which is faster than any second one.
    """
    if sum(plan.controller.kind == "embedded" for plan in plans) < 2:
        return None
    return EmbeddedHost(folder, _embedded_command(), loop_cpu)


def _embedded_command() -> list[str]:
    return python_command("-m", "aerotwin_autopilot.embedded_autopilot")


def _autopilot_parameters(parameters: SimulatorParameters) -> AutopilotParameters:
    """Return the packaged parameters with the delay of the vehicle's receiver.

    Raises ParameterError if the estimator's history is shorter than that.
    """
    packaged = load_autopilot_parameters()
    if parameters.sensors.gnss == NO_GNSS:
        return packaged
    values = {**to_mapping(packaged.estimator), "gnss_delay_s": _gnss_delay_s(parameters)}
    where = f"sensors.gnss: preset {parameters.sensors.gnss} with controller embedded"
    estimator = load_parameters(type(packaged.estimator), values, where=where)
    return dataclasses.replace(packaged, estimator=estimator)


def believed_airframe(airframe: Airframe) -> AirframeParameters:
    """Return the embedded autopilot's model: the airframe without its aerodynamics."""
    rotors, propeller, motor = airframe.rotors, airframe.propeller, airframe.motor
    return AirframeParameters(
        name=airframe.name,
        mass_kg=airframe.mass_kg,
        inertia_kg_m2=airframe.inertia_kg_m2,
        rotor_x_m=tuple(rotor.position_m[0] for rotor in rotors),
        rotor_y_m=tuple(rotor.position_m[1] for rotor in rotors),
        rotor_is_ccw=tuple(float(rotor.spin) for rotor in rotors),
        thrust_coefficient=propeller.thrust_coefficient_n_s2,
        moment_ratio_m=propeller.torque_per_thrust_m,
        command_offset_rad_s=motor.armed_speed_rad_s,
        command_scale_rad_s=motor.speed_per_command_rad_s,
    )


def _px4(setup: BackendSetup) -> AutopilotProcess:
    parameters, airframe = setup.parameters, setup.airframe
    rotors = [(rotor.position_m, rotor.spin) for rotor in airframe.rotors]
    chosen = rotor_parameters(rotors, airframe.propeller.torque_per_thrust_m)
    # PX4 starts from 0.5: on the ground its controller would wind up until the vehicle tips.
    chosen["MPC_THR_HOVER"] = hover_command(airframe, altitude_m=setup.home.altitude_m)
    if parameters.vision.source != "none":
        chosen |= external_vision_parameters(
            delay_s=_vision_delay_s(parameters), with_gnss=parameters.sensors.gnss != NO_GNSS
        )
    if parameters.sensors.optical_flow != NO_PRESET:
        chosen |= OPTICAL_FLOW_PARAMETERS
    if parameters.rc != "none":
        chosen |= RC_PARAMETERS
    elif parameters.mission.file != NO_FILE:
        chosen |= COMPANION_PARAMETERS
    chosen |= read_parameter_file(parameters.px4.parameters)
    return px4_process(
        parameters.px4.dir,
        parameters.fleet.link_number,
        setup.folder,
        home=setup.home,
        speed_factor=parameters.speed,
        gnss_delay_s=_gnss_delay_s(parameters),
        parameters=chosen,
        model=parameters.px4.model,
        links=_links(setup),
        has_battery=airframe.battery.capacity_ah > 0.0,
        cpu=pinned_cpu(parameters),
    )


def _links(setup: BackendSetup) -> tuple[str, ...] | None:
    """Return the links for outside clients; None leaves it to the process."""
    if setup.mission is None:
        return _OUTSIDE_LINKS
    return ("ground",) if setup.has_ground_station else None


def _gnss_delay_s(parameters: SimulatorParameters) -> float:
    if parameters.sensors.gnss == NO_GNSS:
        return 0.0
    return float(load_preset("gnss", parameters.sensors.gnss).delay_s)


def _vision_delay_s(parameters: SimulatorParameters) -> float:
    if parameters.vision.source != "simulated":
        return parameters.vision.delay_s
    return float(load_preset("external_vision", parameters.vision.preset).delay_s)
