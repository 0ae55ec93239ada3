# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenario of launch/recorded_flight.launch.yaml: fly a recording again, and compare."""

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.bag import BagReader
from aerotwin_core.cli import say, say_fatal
from aerotwin_core.errors import EXIT_FAILURE, UserError
from aerotwin_core.parameters import parameter, replaced
from aerotwin_run_evaluation.report.flight_report import write_flight_report
from aerotwin_scenarios.recorded_flight import plan_recorded_flight, write_mission
from aerotwin_simulator.ros.flight import FlightResult
from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters
from aerotwin_simulator.ros.process import exit_code, run_simulator
from aerotwin_simulator.ros.simulator_node import SimulatorNode
from aerotwin_trajectory_evaluation import (
    RecordedTrack,
    TrackOptions,
    compare_recorded,
    read_recording,
    recorded_section,
)
from aerotwin_trajectory_evaluation.recorded_chapter import RecordedFlight
from aerotwin_trajectory_evaluation.recorded_track import check_recording
from aerotwin_trajectory_evaluation.recordings import FlightRecording
from aerotwin_worlds import World

TRUTH = "/truth/odom"
NOT_REACHED = "The recorded track was not reached: nothing is compared."


@dataclass(frozen=True, kw_only=True)
class RecordedFlightParameters(FlightNodeParameters, TrackOptions):
    """The recording to fly again, and how it becomes a track."""

    recording: str = parameter(text="ULog, TUM, EuRoC or GNSS CSV file, or a bag")
    topic: str = parameter("", text="Odometry or PoseStamped topic of a bag; empty = its only one")


class RecordedFlightScenario:
    """Turns the recording into a mission before the flight, and compares the two after it."""

    def __init__(self) -> None:
        self._recording: FlightRecording | None = None
        self._track: RecordedTrack | None = None

    def check(self, parameters: FlightNodeParameters) -> None:
        """Read the recording, and refuse what no world could change before one is loaded."""
        assert isinstance(parameters, RecordedFlightParameters)
        self._recording = read_recording(parameters.recording, topic=parameters.topic or None)
        check_recording(self._recording, parameters)

    def prepare(
        self, parameters: FlightNodeParameters, world: World, folder: Path
    ) -> tuple[FlightNodeParameters, World]:
        """Return the parameters with the mission, and the world with its start at the track's."""
        assert isinstance(parameters, RecordedFlightParameters)
        assert self._recording is not None
        try:
            track, world = plan_recorded_flight(self._recording, parameters, world)
            ground_m = float(world.start_p_map[2])
            mission = write_mission(track, folder.resolve(), ground_m=ground_m)
        except UserError:
            with contextlib.suppress(OSError):
                folder.rmdir()  # empty: no flight, no run
            raise
        self._track = track
        say(
            f"{track.recording.path.name}: {track.recording.kind}, {track.t[-1]:.1f} s at "
            f"{1.0 / track.time_scale:.2f} times the recorded pace"
        )
        return replaced(parameters, {"mission.file": str(mission)}), world

    def begin(self, node: SimulatorNode, world: World) -> None:
        """Do nothing: no other process accompanies the flight."""

    def end(self, result: FlightResult, parameters: FlightNodeParameters, world: World) -> int:
        """Write the report and print its path."""
        if parameters.record == "none":
            return exit_code(result)
        flight = self._compare(result)
        path = write_flight_report(
            result,
            world,
            title=f"Recorded flight in {world.name}",
            lead=() if flight is None else (recorded_section(flight),),
            warnings=(NOT_REACHED,) if flight is None else (),
        )
        say(f"report: {path}")
        return exit_code(result)

    def _compare(self, result: FlightResult) -> RecordedFlight | None:
        """Return recording and flight side by side; None if the track was not reached."""
        assert self._track is not None
        (vehicle,) = result.simulation.vehicles
        start_ns = vehicle.backend.client.track_start_ns
        bag = BagReader(result.folder / "bag")
        if start_ns is not None and bag.counts.get(TRUTH, 0) > 1:
            return compare_recorded(self._track, bag.trajectory(TRUTH), start_ns)
        return None


def main() -> None:
    """Entry point of the executable `recorded_flight`."""
    scenario = RecordedFlightScenario()
    try:
        code = run_simulator(
            scenario, RecordedFlightParameters, check=scenario.check, prepare=scenario.prepare
        )
    except UserError as error:
        say_fatal(error)
        code = EXIT_FAILURE
    sys.exit(code)
