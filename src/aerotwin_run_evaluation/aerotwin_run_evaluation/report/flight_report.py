# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of a simulated flight: the flight, the autopilot's log, its SLAM."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import yaml

from aerotwin_ardupilot_bridge.dataflash_log import log_path, read_dataflash
from aerotwin_core.bag import BagReader
from aerotwin_core.documents import PlainLoader
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.section import Section
from aerotwin_core.trajectory import Trajectory
from aerotwin_px4_bridge import Commander
from aerotwin_px4_bridge.px4_files import ulog_path
from aerotwin_px4_bridge.ulog import read_ulog
from aerotwin_run_evaluation.bag.roles import topics_of_vehicle
from aerotwin_run_evaluation.map_process import MapProcess
from aerotwin_run_evaluation.report.ardupilot_log_section import ardupilot_log_section
from aerotwin_run_evaluation.report.fleet_section import fleet_section, read_member
from aerotwin_run_evaluation.report.fleet_slams import fleet_slam_sections, with_warnings
from aerotwin_run_evaluation.report.flight_section import (
    flight_section,
    path_errors,
    read_tracks,
    track_topics,
)
from aerotwin_run_evaluation.report.formation_record import PLAN, read_formation
from aerotwin_run_evaluation.report.formation_section import formation_section
from aerotwin_run_evaluation.report.px4_log_section import TOPICS as PX4_LOG_TOPICS
from aerotwin_run_evaluation.report.px4_log_section import px4_log_section
from aerotwin_run_evaluation.report.run_report import say_step, write_map, write_run_report
from aerotwin_run_evaluation.run_judgement import RunRecord, judge_run
from aerotwin_trajectory_evaluation import ResourceUsage
from aerotwin_worlds import World


class FlownVehicle(Protocol):
    """Result of a vehicle; see `VehicleResult` of the simulator."""

    name: str
    instance: int
    kind: str
    has_autopilot: bool
    outcome: str
    n_missed: int
    commanders: tuple[Commander, ...]


@dataclass(frozen=True, kw_only=True)
class JudgedSlam:
    """The SLAM of a vehicle: its name, its cost, and whether it is known to publish a map."""

    name: str
    usage: ResourceUsage | None = None
    is_map_expected: bool = False


class FlownFlight(Protocol):
    """Result of a flight; see `FlightResult` of the simulator."""

    folder: Path
    outcome: str
    is_success: bool
    is_interrupted: bool
    real_time_factor: float
    duration_s: float
    warnings: tuple[str, ...]
    vehicles: tuple[FlownVehicle, ...]


def write_flight_report(
    flight: FlownFlight,
    world: World,
    *,
    title: str,
    slams: Mapping[str, JudgedSlam] | None = None,
    lead: Sequence[Section] = (),
    warnings: Sequence[str] = (),
    map_process: MapProcess | None = None,
) -> Path:
    """Evaluate a flight from the bag in its folder; return the path of report.html.

    `slams`: those that took part, by vehicle ("" for a single one). `lead`: first sections of the
    report. `warnings`: in addition to those of the flight. `map_process`: begun during the flight;
    by default one is started for a map.
    """
    slams = slams or {}
    bag = BagReader(flight.folder / "bag")
    text = (flight.folder / "config.yaml").read_text(encoding="utf-8")
    configuration = yaml.load(text, Loader=PlainLoader)
    plane = LocalTangentPlane(world.origin)
    tracks = read_tracks(bag, [vehicle.name for vehicle in flight.vehicles])
    logs, problems = _log_sections(flight, tracks, plane)
    formation, strange = _formation(bag, tracks, flight)
    failure = not flight.is_success and not flight.is_interrupted
    record = RunRecord(
        truth_bag=bag,
        slam_bag=None,
        world=world,
        map_process=map_process,
        duration_s=flight.duration_s,
        topics=topics_of_vehicle("", is_map_expected=False),
        warnings=(
            *([f"The flight failed: {flight.outcome}"] if failure else []),
            *flight.warnings,
            *problems,
            *strange,
            *warnings,
        ),
        is_partial=flight.is_interrupted,
    )
    if "" in slams:
        record = _with_slam(record, "", slams[""])
    fleet = [vehicle for vehicle in flight.vehicles if vehicle.name]
    members = [
        read_member(tracks, v.name, kind=v.kind, outcome=v.outcome, n_missed=v.n_missed)
        for v in fleet
    ]
    errors, evaluation = path_errors(tracks), judge_run(record, say_step)
    say_step("report")
    chapters = [
        flight_section(
            errors,
            outcome=flight.outcome,
            has_failed=failure,
            duration_s=flight.duration_s,
            real_time_factor=flight.real_time_factor,
            parameters=configuration["parameters"],
            has_autopilot=any(v.has_autopilot for v in flight.vehicles),
            commanders=[c for vehicle in flight.vehicles for c in vehicle.commanders],
        )
    ]
    if members:
        chapters += [*formation, fleet_section(members)]
        named = {name: slam for name, slam in slams.items() if name}
        judged = {
            name: judge_run(_with_slam(record, name, slam), say_step)
            for name, slam in named.items()
        }
        chapters += fleet_slam_sections({name: slam.name for name, slam in named.items()}, judged)
        evaluation = with_warnings(evaluation, judged)
        for name, each in judged.items():
            write_map(flight.folder / name, each.slam.map)
    chapters += logs
    return write_run_report(
        flight.folder,
        evaluation,
        title=title,
        configuration=configuration,
        lead=(*lead, *chapters),
    )


def _formation(
    bag: BagReader, tracks: Mapping[str, Trajectory], flight: FlownFlight
) -> tuple[list[Section], list[str]]:
    """Return the section on a formation, if one was flown, and a warning if its plans are none."""
    try:
        flown = read_formation(bag, tracks, [vehicle.name for vehicle in flight.vehicles])
    except ValueError as error:
        return [], [f"the formation is not shown: {PLAN}: {error}"]
    return ([] if flown is None else [formation_section(flown)]), []


def _with_slam(record: RunRecord, vehicle: str, slam: JudgedSlam) -> RunRecord:
    """Return the record of a flight with the SLAM of a vehicle to judge."""
    return replace(
        record,
        slam_bag=record.truth_bag,
        usage=slam.usage,
        topics=topics_of_vehicle(vehicle, is_map_expected=slam.is_map_expected),
    )


def _log_sections(
    flight: FlownFlight, tracks: Mapping[str, Trajectory], plane: LocalTangentPlane
) -> tuple[list[Section], list[str]]:
    """Return sections on the autopilots' logs, and warnings for those that cannot be read."""
    sections, problems = [], []
    for vehicle in flight.vehicles:
        truth = tracks.get(track_topics(vehicle.name)[0])
        if truth is None:
            continue
        for path_of, section_of in _LOGS:
            for number in count():
                path = path_of(flight.folder, vehicle.instance, number)
                if not path.is_file():
                    break
                try:
                    sections.append(section_of(path, truth, plane, vehicle.name, number))
                except UserError as error:
                    problems.append(f"the autopilot's log is not shown: {error}")
    return sections, problems


def _px4(path: Path, *rest: Any) -> Section:
    return px4_log_section(read_ulog(path, PX4_LOG_TOPICS), *rest)


def _ardupilot(path: Path, *rest: Any) -> Section:
    return ardupilot_log_section(read_dataflash(path), *rest)


_LOGS: tuple[tuple[Callable[[Path, int, int], Path], Callable[..., Section]], ...] = (
    (ulog_path, _px4),
    (log_path, _ardupilot),
)
"""Where an autopilot's log is, and what shows it."""
