# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is to be localised in a map: images, where they begin, and along which views."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.cli import StageBars
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_dense_localization.localization import LocalizationParameters, virtual_poses
from aerotwin_dense_localization.localization.scan_path import moved_ahead
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_rendering import Rasteriser
from aerotwin_scenarios.dense_localization.commands.world_flights import along_the_map, fly
from aerotwin_scenarios.dense_localization.flights import T_BODY_OPTICAL
from aerotwin_scenarios.dense_localization.pictures import SCAN, Pictures
from aerotwin_scenarios.dense_localization.recordings.external_poses import (
    ExternalPoses,
    trajectory_of,
)
from aerotwin_scenarios.dense_localization.recordings.recorded_imu import RecordedImu
from aerotwin_scenarios.dense_localization.recordings.recording import CameraRecording
from aerotwin_scenarios.dense_localization.scanning import CAMERA
from aerotwin_scenarios.dense_localization.wall_flight import WallFlight
from aerotwin_trajectory_evaluation.files import load_trajectory
from aerotwin_worlds import World

Images = Iterator[tuple[int, np.ndarray]]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScanTask:
    """Images of one camera and what is known of where it was.

    Attributes
    ----------
    name : str
    camera : PinholeCamera
    images : iterator of (stamp_ns, image)
    n_images : int
        To expect.
    T_base_cam : (4, 4) array or None
        Where the camera's optical frame sits on the vehicle, if known.
    T_map_start : (4, 4) array or None
        Where the camera begins; None: it is looked for everywhere.
    imu : RecordedImu or None
        Of the body that carries the camera; it says where images are expected.
    expected : callable
        Else: returns where an image is expected at a stamp; None: where the last motion leads.
    virtual : (n, 4, 4) array
        T_map_optical of the virtual key-frames.
    reference : GivenPoses or None
        To compare with.
    notes : tuple of str
        What a reader should know.
    frames : tuple of str
        Of the poses that begin, guide and judge.
    """

    name: str
    camera: PinholeCamera
    images: Images
    n_images: int
    T_base_cam: FloatArray | None
    T_map_start: FloatArray | None
    virtual: FloatArray
    imu: RecordedImu | None = None
    expected: Callable[[int], FloatArray | None] = lambda stamp_ns: None
    reference: ExternalPoses | None = None
    notes: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


def recorded_scan(
    recording: CameraRecording,
    virtual: FloatArray,
    *,
    start: FloatArray | None,
    poses: str | None,
    is_guided: bool,
    imu: str | None,
    reference: str | None,
) -> ScanTask:
    """Return what is to be localised of a recording.

    Parameters
    ----------
    recording : CameraRecording
        Of one camera.
    virtual : (n, 4, 4) array
        Virtual key-frames.
    start : (4, 4) array or None
        T_map_body where the first image was taken.
    poses : str or None
        Instead: a word for poses, the first of which begins.
    is_guided : bool
        Whether each image is expected where these poses say.
    imu : str or None
        Topic of an IMU that says it instead.
    reference : str or None
        A word for the poses to compare with.

    Raises
    ------
    UserError
        If poses or samples, or how the camera sits on what they are of, are not known.
    """
    judge = None if reference is None else recording.poses(reference)
    samples = None if imu is None else RecordedImu(recording, imu)
    images, notes = recording.pictures(), []
    T_map_start, expected, provided = None, _nothing, None
    if start is not None:
        T_map_start = start @ mounting_of(recording, "--start")
    elif poses is not None:
        provided = recording.poses(poses)
        T_map_start, images, n_before = _begun(images, provided, recording.name)
        expected = provided.at if is_guided else _nothing
        if n_before:
            notes.append(f"{n_before} images before the first of the poses are left out")
        if provided.is_truth:
            reported = "where each image is expected" if is_guided else "where it begins"
            notes.append(f"{reported} is told by {provided.source}, the TRUTH")
    return ScanTask(
        name=recording.name, camera=recording.camera, images=images,
        n_images=recording.n_pictures, T_base_cam=recording.T_base_cam, T_map_start=T_map_start,
        virtual=virtual, imu=samples, expected=expected, reference=judge, notes=tuple(notes),
        frames=tuple(one.frame for one in (provided, judge) if one is not None),
    )  # fmt: skip


def mounting_of(recording: CameraRecording, option: str) -> FloatArray:
    """Return where the camera sits on the body whose poses an option gives.

    Raises
    ------
    UserError
        If nobody says so.
    """
    if recording.T_body_cam is None:
        raise UserError(
            f"{option}: is of base_link, and /tf_static of {recording.name} does not say how the "
            "camera sits on it; give --mounting, or the pose of the camera and --poses-of optical"
        )
    return recording.T_body_cam


def views_along(
    file: Path, recording: CameraRecording, parameters: LocalizationParameters, distance_m: float
) -> FloatArray:
    """Return virtual key-frames along the poses of a file, a distance before a surface [m]."""
    path = load_trajectory(file).trajectory.transforms() @ mounting_of(recording, "--path")
    return _virtual(path, recording.camera, parameters, distance_m)


def views_of_wall(
    flight: WallFlight,
    dense_map: DenseMap,
    camera: PinholeCamera,
    parameters: LocalizationParameters,
) -> FloatArray:
    """Return virtual key-frames along a raster over what the map shows."""
    path = along_the_map(flight, dense_map)
    return _virtual(path, camera, parameters, flight.standoff_m)


def views_of_mapping(dense_map: DenseMap, parameters: LocalizationParameters) -> FloatArray:
    """Return virtual key-frames behind the poses from which the map was seen."""
    poses = np.array([surface.T_map_surface for surface in dense_map.surfaces])
    return moved_ahead(poses, -parameters.setback_m)


def world_scan(
    world: World,
    dense_map: DenseMap,
    flight: WallFlight,
    parameters: LocalizationParameters,
    folder: Path,
    *,
    seed: int,
    is_start_known: bool,
) -> ScanTask:
    """Fly past a world's wall along the map, and return the pictures of it that are to be taken.

    Parameters
    ----------
    world : World
    dense_map : DenseMap
    flight : WallFlight
    parameters : LocalizationParameters
    folder : Path
        Of the flight's mission and log.
    seed : int
        Of flight and camera.
    is_start_told : bool
        Whether the autopilot's estimator tells where the flight begins.
    """
    path = along_the_map(flight, dense_map)
    with StageBars() as log:
        track = fly(
            world, path, flight, folder, seed=seed,
            on_progress=lambda share: log("flight", share),
        )  # fmt: skip
    pictures = Pictures(Rasteriser(world.meshes), CAMERA, seed=seed)
    stamps = track.stamps_ns.tolist()
    truth = ExternalPoses(
        trajectory=trajectory_of(stamps, list(track.T_map_optical)), T_body_cam=np.eye(4),
        source="the simulator", is_truth=True,
    )  # fmt: skip
    taken = zip(stamps, track.T_map_optical, strict=True)
    return ScanTask(
        name=world.name, camera=CAMERA, T_base_cam=T_BODY_OPTICAL,
        images=((stamp, pictures.mono(T, stamp, SCAN)) for stamp, T in taken),
        n_images=len(stamps),
        T_map_start=track.T_map_optical_reported[0] if is_start_known else None,
        virtual=_virtual(path, CAMERA, parameters, flight.standoff_m), reference=truth,
    )  # fmt: skip


def _virtual(
    path: FloatArray, camera: PinholeCamera, p: LocalizationParameters, distance_m: float
) -> FloatArray:
    return virtual_poses(
        path, camera, distance_m=distance_m, overlap=p.overlap, setback_m=p.setback_m
    )


def _begun(images: Images, provided: ExternalPoses, name: str) -> tuple[FloatArray, Images, int]:
    """Return the pose of the first image that has one, the images from it on, and how many not."""
    for n_before, (stamp_ns, image) in enumerate(images):
        T = provided.at(stamp_ns)
        if T is not None:
            return T, chain([(stamp_ns, image)], images), n_before
    first, last = provided.trajectory.stamps_ns[[0, -1]] * 1e-9
    raise UserError(
        f"{provided.source}: none of its poses, {first:.3f} s to {last:.3f} s, is at the time of "
        f"an image of {name}; check clocks, or give --start"
    )


def _nothing(stamp_ns: int) -> FloatArray | None:
    return None
