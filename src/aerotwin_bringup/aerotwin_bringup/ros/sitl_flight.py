# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenario of launch/sitl_flight.launch.yaml: fly, then evaluate and report."""

import sys
from dataclasses import dataclass
from itertools import count

import yaml

from aerotwin_core.bag import BagReader
from aerotwin_core.cli import say, say_fatal
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.parameters import parameter
from aerotwin_core.section import Section
from aerotwin_px4_bridge.px4_files import ulog_path
from aerotwin_px4_bridge.ulog import read_ulog
from aerotwin_run_evaluation.bag.run_topics import RunTopics
from aerotwin_run_evaluation.report.fleet_section import fleet_section, read_member
from aerotwin_run_evaluation.report.flight_section import flight_section, path_errors
from aerotwin_run_evaluation.report.px4_log_section import TOPICS as PX4_LOG_TOPICS
from aerotwin_run_evaluation.report.px4_log_section import px4_log_section
from aerotwin_run_evaluation.report.run_report import RunRecord, say_step, write_run_report
from aerotwin_simulator import topics
from aerotwin_simulator.ros.flight import FlightResult
from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters
from aerotwin_simulator.ros.process import exit_code, run_simulator
from aerotwin_simulator.ros.simulator_node import SimulatorNode
from aerotwin_trajectory_evaluation import ResourceRecorder, ResourceUsage
from aerotwin_worlds import World

EXIT_FAILURE = 1
SHIPPED, OF_LIDAR = "stereo_odometry", "kiss_icp"


@dataclass(frozen=True, kw_only=True)
class SitlFlightParameters(FlightNodeParameters):
    """A flight with a SLAM under test and a report."""

    slam: str = parameter(SHIPPED, text="SLAM under test; none = nobody is waited for or judged")
    slam_name: str = parameter("", text="name of the method in reports and studies; empty = slam")
    slam_process: str = parameter(
        "", text="part of the SLAM's command line, to measure its cost; empty = slam"
    )
    wait_for: str = parameter(
        topics.SLAM_ODOM.name,
        text="topic whose stamps answer frames or scans; empty = no wait (unused with slam none)",
        choices=("", *topics.ANSWERS),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slam != "none" and (self.instances > 1 or self.fleet != "none"):
            raise ParameterError(
                f"slam: expected none with several vehicles, found '{self.slam}'; a SLAM is judged "
                "on one vehicle"
            )
        if self.slam == SHIPPED and self.wait_for == topics.STEP_ACK.name:
            raise ParameterError(
                f"wait_for: expected {topics.SLAM_ODOM.name} or nothing with slam {SHIPPED}, found "
                f"{self.wait_for}; it answers on {topics.SLAM_ODOM.name} only"
            )

        if self.slam == OF_LIDAR and not self.has_lidar:
            raise ParameterError(
                f"lidar: expected a preset with slam {OF_LIDAR}, found '{self.lidar}'; name one, "
                "spinning_16 for instance"
            )

    @property
    def waits_at_scans(self) -> bool:
        """Whether the SLAM answers the scans of the lidar, not the frames of a camera."""
        return self.slam == OF_LIDAR or super().waits_at_scans

    @property
    def is_judged(self) -> bool:
        """Whether a SLAM takes part that something is shown to: the shipped one sees the pair."""
        if self.slam == SHIPPED:
            return self.camera
        return self.slam != "none" and (self.has_cameras or self.has_lidar)

    @property
    def is_followed(self) -> bool:
        """Whether the loop waits for the SLAM, at what it is to answer."""
        return self.is_judged and bool(self.wait_for)


class SitlFlight:
    """Measures the SLAM's processes during the flight and writes the report after it."""

    def __init__(self) -> None:
        self._recorder: ResourceRecorder | None = None

    def begin(self, node: SimulatorNode) -> None:
        """Start to measure the SLAM under test."""
        parameters = node.parameters
        assert isinstance(parameters, SitlFlightParameters)
        if not parameters.is_judged:
            return
        self._recorder = ResourceRecorder(
            pattern=parameters.slam_process or parameters.slam
        ).start()
        if node.gate is not None:
            node.gate.on_answer = self._recorder.frame_done

    def end(self, result: FlightResult, parameters: FlightNodeParameters, world: World) -> int:
        """Write the report and say where it is."""
        usage = self._recorder.stop() if self._recorder is not None else None
        if parameters.record == "none":
            return exit_code(result)
        slam = "none"
        if isinstance(parameters, SitlFlightParameters) and parameters.is_judged:
            slam = parameters.slam
        say_step("flight")
        record = flight_record(result, world, usage, slam=slam)
        path = write_run_report(record, on_step=say_step)
        say(f"report: {path}")
        return exit_code(result)


def flight_record(
    result: FlightResult, world: World, usage: ResourceUsage | None, *, slam: str
) -> RunRecord:
    """Return what the report of a flight is made from; without a SLAM (none) it is not judged."""
    bag = BagReader(result.folder / "bag")
    text = (result.folder / "config.yaml").read_text(encoding="utf-8")
    configuration = yaml.safe_load(text)
    chapters = [
        flight_section(
            path_errors(bag),
            outcome=result.outcome,
            duration_s=result.duration_s,
            real_time_factor=result.real_time_factor,
            parameters=configuration["parameters"],
            commanders=[c for vehicle in result.vehicles for c in vehicle.commanders],
        )
    ]
    if len(result.vehicles) > 1:
        members = [
            read_member(bag, v.name, outcome=v.outcome, n_missed=v.n_missed)
            for v in result.vehicles
        ]
        chapters.append(fleet_section(members))
    chapters += px4_log_chapters(result, bag, world)
    warnings = list(result.warnings)
    if not result.is_success and not result.is_interrupted:
        warnings.insert(0, f"The flight failed: {result.outcome}")
    return RunRecord(
        folder=result.folder,
        title=f"Flight in {world.name}",
        truth_bag=bag,
        slam_bag=None if slam == "none" else bag,
        world=world,
        configuration=configuration,
        usage=usage,
        duration_s=result.duration_s,
        topics=RunTopics(is_map_expected=slam in (SHIPPED, OF_LIDAR)),
        lead=tuple(chapters),
        warnings=tuple(warnings),
        is_partial=result.is_interrupted,
    )


def px4_log_chapters(result: FlightResult, bag: BagReader, world: World) -> list[Section]:
    """Return a chapter for each log that a PX4 left in the run folder."""
    chapters = []
    plane = LocalTangentPlane(world.origin)
    for vehicle in result.vehicles:
        topic = f"/{vehicle.name}/truth/odom" if vehicle.name else "/truth/odom"
        if bag.counts.get(topic, 0) < 2:
            continue
        for number in count():
            path = ulog_path(result.folder, vehicle.instance, number)
            if not path.is_file():
                break
            try:
                log = read_ulog(path, PX4_LOG_TOPICS)
            except UserError as error:
                result.warnings.append(f"PX4's log is not shown: {error}")
                continue
            truth = bag.trajectory(topic)
            chapters.append(px4_log_section(log, truth, plane, vehicle.name, number))
    return chapters


def main() -> None:
    """Entry point of the executable `sitl_flight`."""
    try:
        code = run_simulator(SitlFlight(), SitlFlightParameters)
    except UserError as error:
        say_fatal(error)
        code = EXIT_FAILURE
    sys.exit(code)
