# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenario of launch/sitl_flight.launch.yaml: fly, then evaluate and report."""

import sys
from dataclasses import dataclass

from aerotwin_core.cli import say, say_fatal
from aerotwin_core.errors import EXIT_FAILURE, ParameterError, UserError
from aerotwin_core.parameters import parameter
from aerotwin_run_evaluation.map_process import MapProcess
from aerotwin_run_evaluation.report.flight_report import JudgedSlam, write_flight_report
from aerotwin_run_evaluation.report.run_report import say_step
from aerotwin_simulator import topics
from aerotwin_simulator.fleet import plan_vehicles
from aerotwin_simulator.parameters import NO_FILE
from aerotwin_simulator.ros.flight import FlightResult
from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters
from aerotwin_simulator.ros.process import exit_code, run_simulator
from aerotwin_simulator.ros.simulator_node import SimulatorNode
from aerotwin_trajectory_evaluation import ResourceRecorder
from aerotwin_worlds import World

SHIPPED, OF_LIDAR = "stereo_odometry", "kiss_icp"


@dataclass(frozen=True, kw_only=True)
class SitlFlightParameters(FlightNodeParameters):
    """A flight with a SLAM under test and a report."""

    slam: str = parameter(
        SHIPPED,
        text="SLAM under test; none = no SLAM is waited for or judged; a fleet file may name one "
        "for each vehicle",
    )
    slam_name: str = parameter("", text="name of the method in reports and studies; empty = slam")
    slam_process: str = parameter(
        "", text="part of the SLAM's command line, to measure its cost; empty = slam"
    )
    wait_for: str = parameter(
        topics.SLAM_ODOM.name,
        text="topic whose stamps answer frames or scans; empty = no wait; with slam none only "
        "step/ack is waited for",
        choices=("", *topics.ANSWERS),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slam == SHIPPED and self.wait_for == topics.STEP_ACK.name:
            raise ParameterError(
                f"wait_for: expected {topics.SLAM_ODOM.name} or nothing with slam {SHIPPED}, found "
                f"{self.wait_for}; it answers on {topics.SLAM_ODOM.name} only"
            )
        # Of a fleet file each vehicle is checked with what is its own.
        is_vehicle = self.fleet.file == "none"
        if is_vehicle and self.slam == OF_LIDAR and not self.lidar.is_mounted:
            raise ParameterError(
                f"lidar.preset: expected one with slam {OF_LIDAR}, found '{self.lidar.preset}'; "
                "name spinning_16 for instance"
            )

    @property
    def awaited_sensor(self) -> str:
        """The sensor whose readings the SLAM answers."""
        return topics.LIDAR if self.slam == OF_LIDAR else super().awaited_sensor

    @property
    def has_slam(self) -> bool:
        """Whether a SLAM is expected to publish the transforms of the vehicle."""
        return self.is_judged

    @property
    def is_judged(self) -> bool:
        """Whether a SLAM takes part and receives data: the shipped one needs the stereo pair."""
        if self.slam == SHIPPED:
            return self.camera.is_rendered
        return self.slam != "none" and self.sees

    @property
    def is_followed(self) -> bool:
        """Whether the loop waits for the SLAM's answers, or those of a node that estimates none.

        Without a camera that node answers at the times of one if `wait_at` asks for it.
        """
        if self.slam == "none" and self.wait_for == topics.STEP_ACK.name:
            return self.sees or self.wait_at == topics.CAMERA
        return self.is_judged and bool(self.wait_for)


class SitlFlight:
    """Measures the processes of the SLAMs during the flight and writes the report after it."""

    def __init__(self) -> None:
        self._recorders: dict[str, ResourceRecorder] = {}  # by vehicle
        self._map_process: MapProcess | None = None

    def begin(self, node: SimulatorNode, world: World) -> None:
        """Start to measure the SLAMs under test, and to prepare for their maps."""
        judged = judged_vehicles(node.parameters)
        if node.parameters.record != "none" and any(publishes_map(own) for own in judged.values()):
            self._map_process = MapProcess(world)
        for vehicle, parameters in judged.items():
            program = parameters.slam_process or parameters.slam
            recorder = ResourceRecorder(pattern=process_pattern(program, vehicle)).start()
            self._recorders[vehicle] = recorder
            if (gate := node.gates.get(vehicle)) is not None:
                gate.call_on_answer(recorder.frame_done)

    def end(self, result: FlightResult, parameters: FlightNodeParameters, world: World) -> int:
        """Write the report and print its path."""
        usages = {vehicle: recorder.stop() for vehicle, recorder in self._recorders.items()}
        if parameters.record == "none":
            say("no report: nothing was recorded, by record none")
            return exit_code(result)
        slams = {
            vehicle: JudgedSlam(
                name=own.slam_name or own.slam,
                usage=usages.get(vehicle),
                is_map_expected=publishes_map(own),
            )
            for vehicle, own in judged_vehicles(parameters).items()
        }
        say_step("flight")
        title = f"Flight in {world.name}"
        try:
            path = write_flight_report(
                result, world, title=title, slams=slams, map_process=self._map_process
            )
        finally:
            if self._map_process is not None:
                self._map_process.end()
        say(f"report: {path}")
        return exit_code(result)


def publishes_map(parameters: SitlFlightParameters) -> bool:
    """Return whether the SLAM under test is known to publish a map."""
    return parameters.slam in (SHIPPED, OF_LIDAR)


def check_slam(parameters: FlightNodeParameters) -> None:
    """Refuse a SLAM that would get nothing; vehicles of a fleet file may each be without one.

    Raises ParameterError if the shipped SLAM is under test and no stereo pair renders.
    """
    assert isinstance(parameters, SitlFlightParameters)
    is_blind = parameters.slam == SHIPPED and not parameters.camera.is_rendered
    if is_blind and parameters.fleet.file == NO_FILE:
        raise ParameterError(
            f"camera.is_rendered: expected true with slam {SHIPPED}, which needs the stereo pair, "
            f"found false; render it, or choose slam none or {OF_LIDAR} with a lidar"
        )


def judged_vehicles(parameters: FlightNodeParameters) -> dict[str, SitlFlightParameters]:
    """Return the parameters of the vehicles whose SLAM is judged, by name."""
    own = {plan.name: plan.parameters for plan in plan_vehicles(parameters)}
    return {
        name: each
        for name, each in own.items()
        if isinstance(each, SitlFlightParameters) and each.is_judged
    }


def process_pattern(program: str, vehicle: str) -> str:
    """Return a regular expression of the command line of a vehicle's SLAM.

    In a fleet it is that of a node in the vehicle's namespace, as launch files start it.
    """
    return rf"(?:{program}).*__ns:=\S*/{vehicle}(?:\s|$)" if vehicle else program


def main() -> None:
    """Entry point of the executable `sitl_flight`."""
    try:
        code = run_simulator(SitlFlight(), SitlFlightParameters, check=check_slam)
    except UserError as error:
        say_fatal(error)
        code = EXIT_FAILURE
    sys.exit(code)
