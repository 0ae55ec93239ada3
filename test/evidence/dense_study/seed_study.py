# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The paper's experiment with one seed: a map from 13 m, scans from near to far, by every method.

A picture is rendered once and taken twice, plainly and with changing exposure and blur; what the
methods and maps are given is then the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, invert_transform, transform_points
from aerotwin_core.parameters import to_mapping
from aerotwin_core.run_folder import library_versions
from aerotwin_dense_localization.localization import (
    ImageLocalization,
    follow_surface,
    raster_path,
)
from aerotwin_dense_localization.mapping import LinkParameters, MapParameters
from aerotwin_dense_localization.splats import SplatRasteriser
from aerotwin_map_evaluation.observed import CameraFieldOfView, visible_samples
from aerotwin_map_evaluation.surface import SurfaceReference
from aerotwin_rendering import Rasteriser
from aerotwin_scenarios.dense_localization.commands.world_flights import (
    NEAR_SURFACE_M,
    SURFACE_SAMPLE_M,
)
from aerotwin_scenarios.dense_localization.flights import (
    BLUR_PX,
    CHANGING,
    SCAN,
    CameraTrack,
    Pictures,
    fly_camera,
)
from aerotwin_scenarios.dense_localization.mapping import (
    BASELINE_M,
    RIG,
    MadeMap,
    make_map,
    record_frames,
)
from aerotwin_scenarios.dense_localization.scan_controls import Removal, controls_of
from aerotwin_scenarios.dense_localization.scanning import (
    CAMERA,
    ScanRun,
    localizer_along,
    parameters_at,
)
from aerotwin_scenarios.dense_localization.wall_flight import CLIFF_SCAN, WallFlight
from aerotwin_simulator.mission_flight import Positioning
from aerotwin_worlds import World, load_world
from evidence.dense_study.features import FeatureBaselines
from evidence.dense_study.results import (
    FEATURES,
    IMAGES,
    MAPPINGS,
    RESULT,
    ImagePair,
    MapResult,
    ScanResult,
    SeedResult,
    SurfaceScore,
    write_result,
)

WORLD = "cliff@{seed}"
WALLS = ("wall", "scan region")
"""Meshes of the world that the wall is made of."""
NORTH_RAD = np.pi / 2
MAPPING = WallFlight()
SCAN_ALONG_M, SCAN_UP_M = CLIFF_SCAN.extent_m
SPACING_M = 1.0
"""Of the places at which a path is led along the surface."""
Progress = Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
class Leg:
    """A scan at a distance.

    Attributes
    ----------
    distance_m : float
        From the wall.
    rate_hz, speed_m_s : float
        Of the camera and of the flight.
    row_m, up_m : float
        Between rows, and height of the raster.
    kinds : tuple of (str, str)
        Poses of the mapping and images (`MAPPINGS`, `IMAGES`) that direct alignment is given.
    every : int
        Every n-th image is also given to features; 0: none.
    positioning : str
        How the autopilot knows its place. GNSS is off by as much as the nearest scans are away
        from the wall: on these the vehicle is led by a tracker, along the map at its true place.
    """

    distance_m: float
    rate_hz: float = 14.0
    speed_m_s: float = 0.7
    row_m: float = 0.8
    up_m: float = SCAN_UP_M
    kinds: tuple[tuple[str, str], ...] = (("estimated", "plain"),)
    every: int = 20
    positioning: Positioning = "gnss"


LEGS = (
    Leg(distance_m=2.0, kinds=tuple(product(MAPPINGS, IMAGES))),
    Leg(distance_m=1.0, kinds=tuple(product(MAPPINGS, ("plain",))), positioning="tracker"),
    *(Leg(distance_m=d, row_m=2.4, rate_hz=5.0, every=5) for d in (3.0, 5.0, 8.0)),
    *(
        Leg(distance_m=d, row_m=0.5, up_m=0.5, speed_m_s=0.35, every=0, positioning="tracker")
        for d in (0.75, 0.5)
    ),
)
"""Distances of the paper's figures, its scan at 2 m with more than 1900 images, and nearer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScanFlight:
    """A scan as it was flown.

    Attributes
    ----------
    leg : Leg
    path : (n, 4, 4) array
        T_map_optical: the way along the surface that was to be flown.
    track : CameraTrack
        Where the camera was.
    """

    leg: Leg
    path: FloatArray
    track: CameraTrack


class SeedStudy:
    """The experiment with one seed of world, flights and cameras.

    Parameters
    ----------
    seed : int
    folder : Path
        Where flights and the result are kept.
    legs : sequence of Leg
    """

    def __init__(self, seed: int, folder: Path, legs: Sequence[Leg] = LEGS) -> None:
        self.seed, self.folder, self.legs = seed, folder, tuple(legs)
        self.world: World = load_world(WORLD.format(seed=seed))
        self._rasteriser = Rasteriser(self.world.meshes)

    def run(self, on_progress: Progress = lambda tokens: None) -> SeedResult:
        """Return what was found; the file `RESULT` holds it as well."""
        self.folder.mkdir(parents=True, exist_ok=True)
        on_progress("mapping flight")
        track = self._flown("mapping", MAPPING.path(), MAPPING.speed_m_s, MAPPING.rate_hz, "gnss")
        on_progress("maps")
        frames = record_frames(self._rasteriser, track, seed=self.seed)
        made = {kind: make_map(frames, track, has_truth=kind == "true") for kind in MAPPINGS}
        maps = self._judged(made, track)
        flights, scans = [], []
        for leg in self.legs:
            on_progress(f"scan at {leg.distance_m:g} m")
            flights.append(self._flight(leg, made["estimated"]))
            scans += self._scanned(flights[-1], made)
        result = SeedResult(
            seed=self.seed, world=self.world.name, maps=maps, scans=tuple(scans),
            controls=controls_of(ScanRun(track=flights[0].track, found=(), T_true_map=np.eye(4))),
            pictures=self._pictures(flights, made["estimated"]),
            configuration=self._configuration(),
        )  # fmt: skip
        write_result(self.folder / RESULT, result)
        return result

    def _flown(
        self,
        name: str,
        path: FloatArray,
        speed_m_s: float,
        rate_hz: float,
        positioning: Positioning,
    ) -> CameraTrack:
        return fly_camera(
            self.world, path, self.folder / name, speed_m_s=speed_m_s, rate_hz=rate_hz,
            seed=self.seed, positioning=positioning,
        )  # fmt: skip

    def _judged(self, made: Mapping[str, MadeMap], track: CameraTrack) -> tuple[MapResult, ...]:
        """Measure the maps to the true mesh, and how much of the wall they hold."""
        surface = SurfaceReference.from_meshes(self.world.meshes)
        wall = SurfaceReference.from_meshes(m for m in self.world.meshes if m.name in WALLS)
        visible = visible_samples(
            surface, wall.samples(SURFACE_SAMPLE_M), track.T_map_optical, _in_both, max_range_m=60.0
        )
        return tuple(_map_result(kind, one, surface, visible) for kind, one in made.items())

    def _flight(self, leg: Leg, made: MadeMap) -> ScanFlight:
        """Return the flight of a scan.

        It is led along the map that an operator would have: by GNSS as the map has it, by a
        tracker at its true place.
        """
        rough = raster_path(
            CLIFF_SCAN.corner_m, SCAN_ALONG_M, leg.up_m, row_m=leg.row_m, standoff_m=leg.distance_m,
            yaw_rad=NORTH_RAD,
        )  # fmt: skip
        path = follow_surface(rough, made.dense_map, standoff_m=leg.distance_m, spacing_m=SPACING_M)
        if leg.positioning == "tracker":
            path = made.T_true_map @ path
        track = self._flown(_name(leg), path, leg.speed_m_s, leg.rate_hz, leg.positioning)
        return ScanFlight(leg=leg, path=path, track=track)

    def _scanned(self, flight: ScanFlight, made: Mapping[str, MadeMap]) -> list[ScanResult]:
        leg, path, track = flight.leg, flight.path, flight.track
        localizers = {
            kind: localizer_along(
                made[kind[0]], _in_map(path, leg, made[kind[0]]),
                _in_map(track.T_map_optical_reported[0], leg, made[kind[0]]),
                standoff_m=leg.distance_m,
            )
            for kind in leg.kinds
        }  # fmt: skip
        found: dict[tuple[str, str], list[ImageLocalization]] = {kind: [] for kind in leg.kinds}
        pictures, cameras = [], self._cameras()
        for stamp_ns, T in zip(track.stamps_ns.tolist(), track.T_map_optical, strict=True):
            (seen,) = cameras["plain"].rendered(T)
            images = {name: cameras[name].taken(seen, stamp_ns, SCAN) for name in IMAGES}
            pictures.append(images["plain"])
            for kind, localizer in localizers.items():
                found[kind].append(localizer.localize(images[kind[1]]))
        for localizer in localizers.values():
            localizer.close()
        return [
            ScanResult.of(
                ScanRun(track=track, found=tuple(found[kind]), T_true_map=made[kind[0]].T_true_map),
                distance_m=leg.distance_m,
                mapping=kind[0],
                images=kind[1],
                method="dense",
            )
            for kind in leg.kinds
        ] + _by_features(flight, made["estimated"], pictures)

    def _cameras(self) -> dict[str, Pictures]:
        """Return who takes pictures, by the kind of images."""
        return {
            "plain": Pictures(self._rasteriser, CAMERA, seed=self.seed),
            "changing": Pictures(
                self._rasteriser, CAMERA, seed=self.seed, exposure=CHANGING, blur_px=BLUR_PX
            ),
        }

    def _pictures(self, flights: Sequence[ScanFlight], made: MadeMap) -> tuple[ImagePair, ...]:
        """Return a picture from the middle of each scan, and the map from where it was taken."""
        pairs, camera, rasteriser = [], self._cameras()["plain"], SplatRasteriser(CAMERA)
        for flight in flights:
            leg, track = flight.leg, flight.track
            k = len(track.stamps_ns) // 2
            T = track.T_map_optical[k]
            T_found = invert_transform(made.T_true_map) @ T
            rendered = rasteriser.render(made.dense_map.visible(CAMERA, T_found), T_found).grey
            grey = camera.mono(T, int(track.stamps_ns[k]), SCAN)
            pairs.append(
                ImagePair.write(self.folder, _name(leg), grey, rendered, distance_m=leg.distance_m)
            )
        return tuple(pairs)

    def _configuration(self) -> dict[str, object]:
        return {
            "seed": self.seed,
            "world": self.world.name,
            "mapping": {
                "standoff_m": MAPPING.standoff_m, "row_m": MAPPING.row_m,
                "speed_m_s": MAPPING.speed_m_s, "rate_hz": MAPPING.rate_hz,
                "baseline_m": BASELINE_M,
                "camera": _camera_tokens(RIG),
            },
            "scans": {"camera": _camera_tokens(CAMERA), "legs": to_mapping(self.legs)},
            "exposure": to_mapping(CHANGING),
            "blur_px": BLUR_PX,
            "localization": {
                f"{leg.distance_m:g} m": to_mapping(parameters_at(leg.distance_m))
                for leg in self.legs
            },
            "map": to_mapping(MapParameters()),
            "links": to_mapping(LinkParameters()),
            "versions": library_versions(),
        }  # fmt: skip


def _in_map(T_reported: FloatArray, leg: Leg, made: MadeMap) -> FloatArray:
    """Return poses as one who uses a map has them: a tracker's frame is tied to it, GNSS is not."""
    if leg.positioning == "tracker":
        return invert_transform(made.T_true_map) @ T_reported
    return T_reported


def _by_features(
    flight: ScanFlight, made: MadeMap, pictures: Sequence[np.ndarray]
) -> list[ScanResult]:
    """Return where features place every n-th picture.

    They are told the true place, to choose what they search: no sequence helps them.
    """
    leg = flight.leg
    if not leg.every:
        return []
    some = slice(None, None, leg.every)
    part = CameraTrack(**{name: values[some] for name, values in vars(flight.track).items()})
    baselines = FeatureBaselines(made, _in_map(flight.path, leg, made), leg.distance_m)
    T_map_true = invert_transform(made.T_true_map)
    found = [
        baselines.localize(grey, T_map_true @ T)
        for grey, T in zip(pictures[some], part.T_map_optical, strict=True)
    ]
    return [
        ScanResult.of(
            ScanRun(
                track=part, found=tuple(one[method] for one in found), T_true_map=made.T_true_map
            ),
            distance_m=leg.distance_m, mapping="estimated", images="plain", method=method,
        )
        for method in FEATURES
    ]  # fmt: skip


def _name(leg: Leg) -> str:
    return f"scan_{leg.distance_m:g}m"


def _camera_tokens(camera: PinholeCamera) -> str:
    wide = 2.0 * np.degrees(np.arctan2(0.5 * camera.width, camera.fx))
    return f"{camera.width}x{camera.height}, {wide:.1f} deg wide"


def _in_both(points_optical: FloatArray) -> np.ndarray:
    """Tell which points, from the left camera, both cameras of the rig have in their pictures."""
    in_view = CameraFieldOfView(RIG)
    return in_view(points_optical) & in_view(points_optical - [BASELINE_M, 0.0, 0.0])


def _map_result(
    kind: str, made: MadeMap, surface: SurfaceReference, visible: FloatArray
) -> MapResult:
    points = made.dense_map.cloud.points.astype(np.float64)
    placed = transform_points(made.T_true_map, points)
    away_m, _ = KDTree(placed).query(visible, distance_upper_bound=2.0 * NEAR_SURFACE_M)
    return MapResult(
        mapping=kind,
        n_splats=len(points),
        n_keyframes=len(made.keyframes),
        n_links=made.n_links,
        points_to_mesh=SurfaceScore.of(surface.distances(placed)),
        points_to_mesh_unaligned=SurfaceScore.of(surface.distances(points)),
        completeness_10cm=float((away_m <= NEAR_SURFACE_M).mean()),
        keyframes_mean_m=float(made.position_errors_m(is_aligned=True).mean()),
        keyframes_unaligned_mean_m=float(made.position_errors_m(is_aligned=False).mean()),
        removed=Removal.of(made),
    )
