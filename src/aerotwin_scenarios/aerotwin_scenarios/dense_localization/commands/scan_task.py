# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of a localisation run: images, initial pose, and poses of the rendered views."""

from collections.abc import Iterator
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
from aerotwin_scenarios.dense_localization.commands.world_flights import along_the_map
from aerotwin_scenarios.dense_localization.flights import SCAN, T_BODY_OPTICAL, Pictures, fly_camera
from aerotwin_scenarios.dense_localization.recordings.recorded_imu import RecordedImu
from aerotwin_scenarios.dense_localization.recordings.recording import (
    CameraRecording,
    ExternalPoses,
    Reading,
    trajectory_of,
)
from aerotwin_scenarios.dense_localization.recordings.sources import camera_recording, world_of
from aerotwin_scenarios.dense_localization.scanning import CAMERA
from aerotwin_scenarios.dense_localization.wall_flight import WallFlight
from aerotwin_trajectory_evaluation.files import load_trajectory

Images = Iterator[tuple[int, np.ndarray]]


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedScan:
    """Which images of a recording are localised, and from which inputs.

    `camera`: `left`, `right` or an image topic. `T_map_start` (4, 4): pose of the body at the first
    image. `poses`, `reference`: a topic, a file or `truth`: poses of which the first is the initial
    one, and the reference. `is_guided`: whether these poses predict each image. `imu`: topic of an
    IMU that predicts instead. `path`: poses along which views are rendered; without it and
    `is_raster`, behind those of the map. `flight`: the raster, used for views if `is_raster`, and
    the distance of the path from a surface.
    """

    source: Path
    reading: Reading
    camera: str
    T_map_start: FloatArray | None
    poses: str | None
    is_guided: bool
    imu: str | None
    reference: str | None
    path: Path | None
    flight: WallFlight
    is_raster: bool


@dataclass(frozen=True, kw_only=True)
class FlownScan:
    """Which world's wall is scanned, and how; `seed` is of flight and camera.

    `is_start_known` says whether the autopilot's estimator provides the initial pose.
    """

    world: str
    flight: WallFlight
    seed: int
    is_start_known: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class ScanTask:
    """Images of one camera and the known poses."""

    name: str
    camera: PinholeCamera
    images: Images  # `n_images` are expected
    n_images: int
    # (4, 4): pose of the camera's optical frame on the vehicle, if known
    T_base_cam: FloatArray | None
    # (4, 4): initial pose of the camera; None: it is searched in all views
    T_map_start: FloatArray | None
    virtual: FloatArray  # (n, 4, 4): T_map_optical of the virtual key-frames
    imu: RecordedImu | None = None  # of the body that carries the camera; predicts the images
    # else: where the images are expected; None: the last motion is extrapolated
    expected: ExternalPoses | None = None
    reference: ExternalPoses | None = None
    notes: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()  # of the poses that initialise, predict and evaluate


def recorded_scan(
    request: RecordedScan, dense_map: DenseMap, parameters: LocalizationParameters
) -> ScanTask:
    """Return the localisation task of a recording.

    Raises `UserError` if poses or samples, or the camera's pose on their body, are unknown.
    """
    recording = camera_recording(request.source, request.reading, request.camera)
    virtual = _views(request, recording, dense_map, parameters)
    reference = None if request.reference is None else recording.poses(request.reference)
    imu = None if request.imu is None else RecordedImu(recording, request.imu)
    images, notes = recording.pictures(), []
    T_map_start, provided = None, None
    if request.T_map_start is not None:
        T_map_start = request.T_map_start @ mounting_of(recording, "--start")
    elif request.poses is not None:
        provided = recording.poses(request.poses)
        T_map_start, images, n_before = _begun(images, provided, recording.name)
        if n_before:
            notes.append(f"{n_before} images before the first of the poses are left out")
        if provided.is_truth:
            reported = "where each image is expected" if request.is_guided else "where it begins"
            notes.append(f"{reported} is taken from {provided.source}, the TRUTH")
    return ScanTask(
        name=recording.name, camera=recording.camera, images=images,
        n_images=recording.n_pictures, T_base_cam=recording.T_base_cam, T_map_start=T_map_start,
        virtual=virtual, imu=imu, expected=provided if request.is_guided else None,
        reference=reference, notes=tuple(notes),
        frames=tuple(one.frame for one in (provided, reference) if one is not None),
    )  # fmt: skip


def _views(
    request: RecordedScan,
    recording: CameraRecording,
    dense_map: DenseMap,
    parameters: LocalizationParameters,
) -> FloatArray:
    """Return the virtual key-frames for a recording."""
    if request.is_raster:
        path = along_the_map(request.flight, dense_map)
    elif request.path is not None:
        path = load_trajectory(request.path).trajectory.transforms()
        path = path @ mounting_of(recording, "--path")
    else:
        return views_of_mapping(dense_map, parameters)
    return _virtual(path, recording.camera, parameters, request.flight.standoff_m)


def mounting_of(recording: CameraRecording, option: str) -> FloatArray:
    """Return the pose of the camera on the body whose poses an option provides.

    Raises `UserError` if it is unknown.
    """
    if recording.T_body_cam is None:
        raise UserError(
            f"{option}: is of base_link, and /tf_static of {recording.name} does not say how the "
            "camera sits on it; give --mounting, or the pose of the camera and --poses-of optical"
        )
    return recording.T_body_cam


def views_of_mapping(dense_map: DenseMap, parameters: LocalizationParameters) -> FloatArray:
    """Return virtual key-frames behind the poses of the map's key-frames."""
    poses = np.array([surface.T_map_surface for surface in dense_map.surfaces])
    return moved_ahead(poses, -parameters.setback_m)


def world_scan(
    request: FlownScan, dense_map: DenseMap, parameters: LocalizationParameters, folder: Path
) -> ScanTask:
    """Fly past a world's wall along the map, and return the task of localising the images.

    Mission and log of the flight are written to the folder.
    """
    world, flight, seed = world_of(request.world), request.flight, request.seed
    path = along_the_map(flight, dense_map)
    with StageBars() as log:
        track = fly_camera(
            world, path, folder, speed_m_s=flight.speed_m_s, rate_hz=flight.rate_hz, seed=seed,
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
        T_map_start=track.T_map_optical_reported[0] if request.is_start_known else None,
        virtual=_virtual(path, CAMERA, parameters, flight.standoff_m), reference=truth,
    )  # fmt: skip


def _virtual(
    path: FloatArray, camera: PinholeCamera, p: LocalizationParameters, distance_m: float
) -> FloatArray:
    return virtual_poses(
        path, camera, distance_m=distance_m, overlap=p.overlap, setback_m=p.setback_m
    )


def _begun(images: Images, provided: ExternalPoses, name: str) -> tuple[FloatArray, Images, int]:
    """Return the first known pose of an image, the images from it on, and how many come before."""
    for n_before, (stamp_ns, image) in enumerate(images):
        T = provided.at(stamp_ns)
        if T is not None:
            return T, chain([(stamp_ns, image)], images), n_before
    first, last = provided.trajectory.stamps_ns[[0, -1]] * 1e-9
    raise UserError(
        f"{provided.source}: none of its poses, {first:.3f} s to {last:.3f} s, is at the time of "
        f"an image of {name}; check clocks, or give --start"
    )
