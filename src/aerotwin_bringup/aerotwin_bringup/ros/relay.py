# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenario of launch/relay.launch.yaml: fly every case of the relay manoeuvre, and report.

Each case is a separate flight, with its own step, in its own folder below the run's.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import rclpy
import yaml
from rclpy.signals import SignalHandlerOptions

from aerotwin_core.bag import BagReader
from aerotwin_core.check_only import is_check_only
from aerotwin_core.cli import say, say_fatal, write_text_atomically
from aerotwin_core.errors import EXIT_FAILURE, UserError, exit_code_of
from aerotwin_core.parameters import parameter, replaced, to_mapping
from aerotwin_core.ros.node import init_rclpy
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.run_folder import check_run_name, make_run_folder
from aerotwin_core.stop_request import EXIT_INTERRUPTED, WRITING_REPORT, StopRequest
from aerotwin_flight_control.relay_evaluation import RelayResult, relay_sides
from aerotwin_flight_control.relay_section import relay_section
from aerotwin_report import write_report
from aerotwin_scenarios.relay_cases import (
    CONTROLLER,
    VEHICLES,
    RelayCase,
    load_cases,
    relay_origin,
    write_fleet,
)
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.recording import run_configuration
from aerotwin_simulator.ros.flight import FlightResult, fly
from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters
from aerotwin_simulator.ros.simulator_node import SimulatorNode
from aerotwin_worlds import World, load_world
from aerotwin_worlds.moved_start import with_moved_start


@dataclass(frozen=True, kw_only=True)
class RelayParameters(FlightNodeParameters):
    """Which relays are flown, and where."""

    cases: str = parameter(text="file of cases")
    origin_east_m: float = parameter(
        0.0, text="where eq. 17 has its origin, east of the world's start", unit="m"
    )
    origin_north_m: float = parameter(0.0, text="the same, north", unit="m")


class Relay:
    """Flies the cases one after the other."""

    def __init__(self) -> None:
        self._is_stop_requested = False
        self._node: SimulatorNode | None = None

    def stop(self) -> None:
        """End the current flight, and fly no more."""
        self._is_stop_requested = True
        if self._node is not None:
            self._node.request_stop()

    def run(self) -> int:
        """Fly, report, and return the exit code."""
        node = self._new_node()
        parameters = node.parameters
        assert isinstance(parameters, RelayParameters)
        cases_path = Path(parameters.cases).resolve()
        cases = _checked_cases(parameters)
        world = with_moved_start(load_world(parameters.world), parameters.start)
        origin = relay_origin(world, parameters.origin_east_m, parameters.origin_north_m)
        folder = make_run_folder(Path(parameters.runs_dir), parameters.name).resolve()
        configuration = yaml.safe_load(run_configuration(to_mapping(parameters), world))
        configuration |= {"cases": to_mapping(cases), "origin_m": origin.tolist()}
        text = yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True)
        write_text_atomically(folder / "config.yaml", text)
        results: list[RelayResult] = []
        warnings: list[str] = []
        for case in cases:
            if self._is_stop_requested:
                break
            case_folder = folder / case.name
            case_folder.mkdir()
            fleet = write_fleet(
                case, case_folder, cases_folder=cases_path.parent, world=world, origin_map=origin
            )
            own = replaced(
                parameters,
                {"fleet.file": str(fleet), "controller.kind": CONTROLLER, "step_s": case.step_s},
            )
            check_before_flight(own)
            node = node or self._new_node()
            node.fly_by(own)
            flight = fly(node, world, case_folder)
            say(f"{case.name}: {flight.outcome} ({flight.duration_s:.1f} s)")
            if flight.is_success:
                results.append(_judge(case, flight))
            else:
                warnings.append(f"{case.title}: {flight.outcome}; this case is not judged.")
            warnings += flight.warnings
            self._end(node)
            node = None
        return self._report(folder, world, configuration, results, warnings)

    def _new_node(self) -> SimulatorNode:
        self._node = SimulatorNode(RelayParameters)
        if self._is_stop_requested:
            self._node.request_stop()
        return self._node

    def _end(self, node: SimulatorNode) -> None:
        self._node = None
        node.destroy_node()

    def _report(
        self,
        folder: Path,
        world: World,
        configuration: dict,
        results: list[RelayResult],
        warnings: list[str],
    ) -> int:
        if self._is_stop_requested:
            warnings.insert(0, "This report is partial: the run was stopped before its end.")
        write_report(
            folder,
            title=f"Relay manoeuvre in {world.name}",
            sections=[relay_section(results)] if results else [],
            configuration=configuration,
            warnings=[*warnings, *world.warnings],
            seed=configuration["parameters"]["seed"],
            world=world.credits,
        )
        say(f"report: {folder / 'report.html'}")
        if self._is_stop_requested:
            return EXIT_INTERRUPTED
        n_cases = len(configuration["cases"])
        is_met = len(results) == n_cases and all(
            r.is_within_thresholds is not False for r in results
        )
        return 0 if is_met else EXIT_FAILURE


def _checked_cases(parameters: RelayParameters) -> tuple[RelayCase, ...]:
    """Return the cases; raises UserError for what would end the run at its start."""
    check_run_name(parameters.name)
    check_before_flight(replaced(parameters, {"controller.kind": CONTROLLER}))
    return load_cases(parameters.cases)


def _check_only() -> int:
    """Check the parameters, and publish nothing; return the exit code."""
    node = ConfiguredNode("simulator")
    try:
        _checked_cases(declare_parameters(node, RelayParameters))
    finally:
        node.destroy_node()
    return 0


def _judge(case: RelayCase, flight: FlightResult) -> RelayResult:
    """Evaluate how a case was flown, from the truth in its bag."""
    controllers = [vehicle.backend.controller for vehicle in flight.simulation.vehicles]
    bag = BagReader(flight.folder / "bag")
    return RelayResult(
        name=case.name,
        title=case.title,
        text=case.text,
        sides=relay_sides(
            [bag.trajectory(f"/{name}/truth/odom") for name in VEHICLES],
            [controller.relay for controller in controllers],
            [controller.begin_ns("relay") for controller in controllers],
        ),
        step_s=case.step_s,
        bar_rmse_m=case.max_rmse_m,
        bar_separation_m=case.min_separation_m,
    )


def main() -> None:
    """Fly and report; where `CHECK_ONLY` is in the environment it ends after its checks."""
    init_rclpy(signal_handler_options=SignalHandlerOptions.NO)
    relay = Relay()
    StopRequest(relay.stop).announce(WRITING_REPORT)
    try:
        code = _check_only() if is_check_only() else relay.run()
    except (UserError, OSError) as error:
        say_fatal(error)
        code = exit_code_of(error)
    finally:
        rclpy.try_shutdown()
    sys.exit(code)
