# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole mission: a wall is mapped from afar, then scanned from nearby by the map alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import yaml

from aerotwin_core.cli import progress, say, write_text_atomically
from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray, invert_transform, quaternion_from_rotation
from aerotwin_core.parameters import parameter, to_mapping
from aerotwin_core.run_folder import make_run_folder
from aerotwin_core.stop_request import WRITING_REPORT, StopRequest
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import write_tum
from aerotwin_dense_localization.mapping import save_map
from aerotwin_dense_localization.splats import SplatRasteriser
from aerotwin_rendering import Rasteriser, WorldQueries
from aerotwin_report import write_report
from aerotwin_scenarios.dense_localization.commands.world_flights import (
    against_the_truth,
    along_the_map,
)
from aerotwin_scenarios.dense_localization.flights import SCAN, CameraTrack, Pictures, fly_camera
from aerotwin_scenarios.dense_localization.mapping import MadeMap, make_map, record_frames
from aerotwin_scenarios.dense_localization.mission.closed_loop import (
    LocalizedFlight,
    LoopParameters,
    fly_localized,
    standing_camera,
    whole_way,
    world_with_start,
)
from aerotwin_scenarios.dense_localization.mission.loop_scores import JudgedFlight, judge
from aerotwin_scenarios.dense_localization.mission.mission_page import loop_section, map_section
from aerotwin_scenarios.dense_localization.scanning import CAMERA, localizer_along
from aerotwin_scenarios.dense_localization.wall_flight import CLIFF_SCAN, WallFlight
from aerotwin_simulator.mission_flight import AutopilotChoice
from aerotwin_simulator.recording import run_configuration
from aerotwin_worlds import World, load_world


@dataclass(frozen=True, kw_only=True)
class MissionParameters(AutopilotChoice):
    """Which wall is mapped and scanned, and how."""

    world: str = parameter("cliff", text="name in worlds/ (with @SEED), or path of a world")
    seed: int = parameter(0, text="seed of every noise: flights, sensors, cameras", minimum=0)
    instance: int = parameter(0, text="vehicle number; shifts every port", minimum=0, maximum=200)
    mapping: WallFlight = field(default_factory=WallFlight)
    scan: WallFlight = CLIFF_SCAN
    loop: LoopParameters = field(default_factory=LoopParameters)
    mapping_poses: bool = parameter(
        False, text="map with true poses in place of the autopilot's estimates; the report says so"
    )
    start_away_m: float = parameter(
        6.0,
        text="the scan takes off on the ground this far behind the first place of its path",
        unit="m",
        minimum=0.0,
        maximum=50.0,
    )
    baselines: bool = parameter(
        False, text="moved: `make verify NAMES=dense` runs the study of a seed"
    )
    runs_dir: str = parameter("runs", text="folder in which the run's own folder is made")
    name: str = parameter("dense", text="second part of the run folder's name")

    def __post_init__(self) -> None:
        if self.baselines:
            raise ParameterError(
                "baselines: expected false, found true; the study of a seed is no longer part of a "
                f"mission, `make verify NAMES=dense ARGS='--set seeds=[{self.seed}]'` runs it"
            )


class DenseMission:
    """A mapping flight, its map, a scan in closed loop, and the report of both.

    `stop` is checked between all steps until the report is begun.

    `folder`: of the run: `map/`, `trajectories/`, `metrics.json`, `report.html`, `config.yaml`.

    Raises `UserError` if there is no such world, or the folder cannot be made.
    """

    def __init__(self, parameters: MissionParameters, stop: StopRequest | None = None) -> None:
        self.parameters = parameters
        self._stop = stop
        self.world: World = load_world(parameters.world)
        self._rasteriser = Rasteriser(self.world.meshes)
        self.folder = make_run_folder(Path(parameters.runs_dir), parameters.name).resolve()
        self._configuration = run_configuration(to_mapping(parameters), self.world)
        write_text_atomically(self.folder / "config.yaml", self._configuration)

    def run(self) -> bool:
        """Run all steps and write the report; return whether the scan was flown to its end.

        Raises `UserError` if the mapping flight fails, or the map does not show the region of the
        scan and `Stopped` if a stop was requested before the report was begun.
        """
        made = self._map(self._fly_mapping())
        path = along_the_map(self.parameters.scan, made.dense_map)
        self._check()
        flight = self._scan(made, path)
        self._check()
        if self._stop is not None:
            self._stop.announce(WRITING_REPORT)
        judged = judge(
            flight, path, WorldQueries(self.world), made.T_true_map,
            standoff_m=self.parameters.scan.standoff_m,
        )  # fmt: skip
        self._save_flight(flight)
        self._report(made, judged)
        return flight.is_success

    def _check(self) -> None:
        if self._stop is not None:
            self._stop.check()

    @contextmanager
    def _share(self, text: str) -> Iterator[Callable[[float], object]]:
        """Show a progress bar; yield the callback for the completed share, which may stop."""
        with progress(100.0, text, unit="%") as bar:

            def log(share: float) -> None:
                self._check()
                bar.update(max(100.0 * share - bar.n, 0.0))

            yield log

    def _fly_mapping(self) -> CameraTrack:
        p = self.parameters
        with self._share("mapping flight") as log:
            track = fly_camera(
                self.world, p.mapping.path(), self.folder / "mapping",
                speed_m_s=p.mapping.speed_m_s, rate_hz=p.mapping.rate_hz, seed=p.seed,
                instance=p.instance, autopilot=p, on_progress=log,
            )  # fmt: skip
        say(f"mapping flight: {len(track.stamps_ns)} frames, {p.mapping.standoff_m:g} m off")
        self._save("mapping_truth", track.stamps_ns, track.T_map_optical)
        self._save("mapping_autopilot", track.stamps_ns, track.T_map_optical_reported)
        return track

    def _map(self, track: CameraTrack) -> MadeMap:
        p = self.parameters
        n_frames, n_done = len(track.stamps_ns), count(1)
        with self._share("stereo depth") as log:
            frames = record_frames(
                self._rasteriser, track, seed=p.seed,
                on_frame=lambda: log(next(n_done) / n_frames),
            )  # fmt: skip
        say("map: its frames are tied to each other and merged")
        made = make_map(frames, track, has_truth=p.mapping_poses, on_keyframe=self._check)
        self._check()
        save_map(
            self.folder / "map",
            made.dense_map,
            {"world": self.world.name, "poses": "true" if p.mapping_poses else "autopilot"},
        )
        keyframes = made.keyframes
        stamps = np.array([keyframe.stamp_ns for keyframe in keyframes])
        self._save("keyframes", stamps, np.array([one.T_map_optical for one in keyframes]))
        say(f"map: {len(made.dense_map):,} splats of {len(keyframes)} key-frames")
        return made

    def _scan(self, made: MadeMap, path: FloatArray) -> LocalizedFlight:
        p = self.parameters
        world = self._world_before(path)
        way, start = whole_way(world, path), standing_camera(world)
        pictures = Pictures(self._rasteriser, CAMERA, seed=p.seed)
        with (
            localizer_along(made, way, start, standoff_m=p.scan.standoff_m) as localizer,
            self._share("scan without GNSS") as log,
        ):
            flight = fly_localized(
                world, localizer, path, pictures, self.folder / "scan",
                speed_m_s=p.scan.speed_m_s, rate_hz=p.scan.rate_hz, seed=p.seed,
                instance=p.instance, autopilot=p, parameters=p.loop, on_progress=log,
            )  # fmt: skip
        say(f"scan without GNSS: {flight.outcome}, {len(flight.found)} images")
        return flight

    def _world_before(self, path: FloatArray) -> World:
        """Return the world with its start behind the first pose of a path, on the ground."""
        ahead = path[0, :2, 2]
        x, y = path[0, :2, 3] - self.parameters.start_away_m * ahead
        return world_with_start(self.world, x, y, float(np.arctan2(ahead[1], ahead[0])))

    def _report(self, made: MadeMap, judged: JudgedFlight) -> None:
        p = self.parameters
        path = write_report(
            self.folder,
            title=f"Dense localisation in {self.world.name}",
            sections=[
                loop_section(judged, made, has_truth=p.mapping_poses),
                map_section(
                    made,
                    against_the_truth(self.world, made, p.mapping),
                    _pair(self._rasteriser, made, judged, p.seed),
                    has_truth=p.mapping_poses,
                ),
            ],
            configuration=yaml.safe_load(self._configuration),
            warnings=self._warnings(judged.flight),
            seed=p.seed,
            world=self.world.credits,
            summary=f"A wall is mapped in stereo from {p.mapping.standoff_m:g} m with GNSS, then "
            f"scanned from {p.scan.standoff_m:g} m with one camera and without. Both flights are "
            "simulated: this checks the method and is no twin result.",
        )
        say(f"report: {path}")

    def _warnings(self, flight: LocalizedFlight) -> list[str]:
        warnings = list(self.world.warnings)
        if not flight.is_success:
            warnings.insert(0, f"The scan was not flown to its end: {flight.outcome}")
        if self.parameters.mapping_poses:
            warnings.append("The map was made with true poses: no vehicle knows them.")
        return warnings

    def _save_flight(self, flight: LocalizedFlight) -> None:
        track = flight.track
        is_there = np.array([found.is_localized for found in flight.found], dtype=bool)
        localized = np.array([one.T_map_cam for one in flight.found if one.T_map_cam is not None])
        self._save("scan_truth", track.stamps_ns, track.T_map_optical)
        self._save("scan_localized", track.stamps_ns[is_there], localized)
        for name, poses in (
            ("scan_autopilot", track.T_map_optical_reported),
            ("scan_planned", flight.T_map_optical_desired),
        ):
            is_known = np.isfinite(poses[:, 0, 3])
            self._save(name, track.stamps_ns[is_known], poses[is_known])

    def _save(self, name: str, stamps_ns: np.ndarray, T_map_optical: FloatArray) -> None:
        """Write poses of the camera as trajectories/NAME.tum, if there are any."""
        if not len(stamps_ns):
            return
        q = np.array([quaternion_from_rotation(T[:3, :3]) for T in T_map_optical])
        (self.folder / "trajectories").mkdir(exist_ok=True)
        write_tum(
            self.folder / "trajectories" / f"{name}.tum",
            Trajectory(stamps_ns, T_map_optical[:, :3, 3], q),
        )


def _pair(
    rasteriser: Rasteriser, made: MadeMap, judged: JudgedFlight, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return an image from the middle of the scan, and the map rendered at its pose [DN]."""
    track = (judged.scan if judged.score["n_scan"] else judged.flight).track
    k = len(track.stamps_ns) // 2
    T = track.T_map_optical[k]
    grey = Pictures(rasteriser, CAMERA, seed=seed).mono(T, int(track.stamps_ns[k]), SCAN)
    T_in_map = invert_transform(made.T_true_map) @ T
    seen = SplatRasteriser(CAMERA).render(made.dense_map.visible(CAMERA, T_in_map), T_in_map)
    return grey, seen.grey
