# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator as a process: signals, run folder, one flight, and the scenario around it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import rclpy
from rclpy.signals import SignalHandlerOptions

from aerotwin_core.check_only import is_check_only
from aerotwin_core.cli import say, say_fatal
from aerotwin_core.errors import EXIT_FAILURE, UserError, exit_code_of
from aerotwin_core.launch_record import write_launch_record
from aerotwin_core.ros.node import init_rclpy
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.run_folder import check_run_name, make_run_folder
from aerotwin_core.stop_request import EXIT_INTERRUPTED, WRITING_REPORT, StopRequest, end_process
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.recording import write_configuration
from aerotwin_simulator.ros.flight import FlightResult, fly
from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters
from aerotwin_simulator.ros.simulator_node import SimulatorNode
from aerotwin_worlds import World, load_world
from aerotwin_worlds.moved_start import with_moved_start


def exit_code(result: FlightResult) -> int:
    """Return 0 for a successful flight, 130 for an interrupted one, else 1."""
    if result.is_interrupted:
        return EXIT_INTERRUPTED
    return 0 if result.is_success else EXIT_FAILURE


class Scenario(Protocol):
    """Actions around a flight: measuring while it lasts, reporting when it is over."""

    def begin(self, node: SimulatorNode, world: World) -> None:
        """Start the measurements of the flight, and what its report needs of the world."""

    def end(self, result: FlightResult, parameters: FlightNodeParameters, world: World) -> int:
        """Report, and return the exit code of the process."""


Check = Callable[[FlightNodeParameters], None]
Prepare = Callable[[FlightNodeParameters, World, Path], tuple[FlightNodeParameters, World]]


def run_simulator(
    scenario: Scenario | None = None,
    parameters_type: type[FlightNodeParameters] = FlightNodeParameters,
    *,
    check: Check = lambda _: None,
    prepare: Prepare | None = None,
) -> int:
    """Make the node, fly, and let the scenario report; return the exit code.

    `check` gets the parameters before the world is loaded, to refuse what it would not change;
    `prepare` gets parameters, world and run folder before the flight and returns both as flown.
    SIGINT and SIGTERM end the flight, not the process: the bag is closed and the report made,
    however long that takes. A second Ctrl-C aborts that. Where `CHECK_ONLY` is in the environment
    the process ends after its checks, and publishes nothing.

    Where removing the topics of the node would take minutes, it ends the process instead of
    returning: they count as lost after the lease of DDS, whose next participant frees their memory.
    """
    is_left = False
    node: ConfiguredNode | None = None

    def end_flight() -> None:
        if isinstance(node, SimulatorNode):
            node.request_stop()

    def end_node() -> None:
        nonlocal node, is_left
        ended, node = node, None
        if ended is not None:
            ended.destroy_node()  # before rclpy ends: its threads would abort the process
            is_left = isinstance(ended, SimulatorNode) and ended.is_left
        rclpy.try_shutdown()

    def run() -> int:
        nonlocal node
        if is_check_only():
            node = ConfiguredNode("simulator")
            _check(declare_parameters(node, parameters_type), check)
            return 0
        node = simulator = SimulatorNode(parameters_type)
        parameters = simulator.parameters
        _check(parameters, check)
        world = with_moved_start(load_world(parameters.world), parameters.start)
        stop.wait_for_end()
        folder = make_run_folder(Path(parameters.runs_dir), parameters.name)
        if prepare is not None:
            parameters, world = prepare(parameters, world, folder)
            simulator.fly_by(parameters)
            check_before_flight(parameters)
        write_configuration(folder, parameters, world)
        write_launch_record(folder)
        if scenario is not None:
            scenario.begin(simulator, world)
        result = fly(simulator, world, folder)
        parameters = simulator.parameters
        end_node()
        say(f"flight: {result.outcome} ({result.duration_s:.1f} s, {folder})")
        if scenario is not None:
            stop.announce(WRITING_REPORT)
            return scenario.end(result, parameters, result.simulation.world)
        return exit_code(result)

    stop = StopRequest(end_flight, ends_at_once=True)
    init_rclpy(signal_handler_options=SignalHandlerOptions.NO)
    try:
        code = run()
    except (UserError, OSError) as error:
        say_fatal(error)
        code = exit_code_of(error)
    finally:
        end_node()
    if is_left:
        end_process(code)
    return code


def _check(parameters: FlightNodeParameters, further: Check) -> None:
    check_run_name(parameters.name)
    check_before_flight(parameters)
    further(parameters)


def main() -> None:
    """Fly with the parameters, without a scenario."""
    sys.exit(run_simulator())
