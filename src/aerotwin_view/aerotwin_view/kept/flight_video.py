# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight as a video or one picture, seen by a camera that follows it."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import av
import cv2
import numpy as np
import trimesh

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, MovingObject, PlacedObject, Rasteriser
from aerotwin_rendering.view import optical_pose
from aerotwin_view.recorded.shown_flight import ShownFlight
from aerotwin_worlds import World
from aerotwin_worlds.frame_picture import draw_caption

SIZE_PX = (1280, 720)
FRAMES_HZ = 25
ENDINGS = (".mp4", ".png")
_FOCAL_SHARE = 0.7
"""Of the width: a field of 71 degrees."""
_PITCH_DOWN = math.radians(20.0)
_LEAST_AWAY_M = 4.0
_SMOOTH_S = 2.0
"""The camera's place is an average over so long to both sides."""
_CRF = "23"
Progress = Callable[[int, int], None]


def write_video(
    flight: ShownFlight, world: World, path: Path, speed: float, on_progress: Progress
) -> int:
    """Write the flight as MP4 (H.264), `speed` times as fast as it was; return how many frames.

    A path that ends in .png gets the picture in the middle of the flight. `on_progress` is called
    with frames done and all.

    Raises
    ------
    UserError
        If the path ends otherwise, or cannot be written.
    """
    if path.suffix not in ENDINGS:
        raise UserError(f"{path}: expected a name that ends in {' or '.join(ENDINGS)}")
    film = _Film(flight, world)
    if path.suffix == ".png":
        picture = film.picture((flight.start_ns + flight.end_ns) // 2)
        if not cv2.imwrite(str(path), picture[..., ::-1]):
            raise UserError(f"{path}: it cannot be written; check its folder")
        return 1
    step_ns = round(speed * 1e9 / FRAMES_HZ)
    stamps = range(flight.start_ns, flight.end_ns + 1, step_ns)
    with atomic_file(path) as file:
        _encode(file, (film.picture(stamp_ns) for stamp_ns in stamps), len(stamps), on_progress)
    return len(stamps)


class _Film:
    """Pictures of a flight."""

    def __init__(self, flight: ShownFlight, world: World) -> None:
        self._flight = flight
        self._rasteriser = Rasteriser(world.meshes)
        self._credit = f"{world.name}; {world.attribution}; {world.licence}"
        width, height = SIZE_PX
        focal_px = _FOCAL_SHARE * width
        self._camera = PinholeCamera(
            width=width, height=height, fx=focal_px, fy=focal_px,
            cx=0.5 * (width - 1), cy=0.5 * (height - 1),
        )  # fmt: skip
        self._objects = [
            MovingObject(robot.name, [_mesh(robot.model)], number=k)
            for k, robot in enumerate(flight.robots)
        ]
        self._yaw = _heading(flight)

    def picture(self, stamp_ns: int) -> np.ndarray:
        """Return the picture (h, w, 3) uint8, red first, at a time [ns]."""
        placed = tuple(
            PlacedObject(object=each, T_map_object=robot.transform_at(stamp_ns))
            for each, robot in zip(self._objects, self._flight.robots, strict=True)
        )
        around_ns = stamp_ns + np.round(np.linspace(-_SMOOTH_S, _SMOOTH_S, 9) * 1e9).astype(int)
        places = np.array(
            [[robot.transform_at(int(at_ns))[:3, 3] for robot in self._flight.robots]
             for at_ns in around_ns]
        )  # fmt: skip
        middle = places.mean(axis=(0, 1))
        spread = np.linalg.norm(places - middle, axis=2).max()
        away_m = _LEAST_AWAY_M + 1.6 * float(spread)
        back = np.array([math.cos(self._yaw), math.sin(self._yaw), 0.0]) * math.cos(_PITCH_DOWN)
        eye = middle - away_m * (back - np.array([0.0, 0.0, math.sin(_PITCH_DOWN)]))
        view = CameraView(
            camera=self._camera,
            T_map_optical=optical_pose(eye, yaw=self._yaw, pitch_down=_PITCH_DOWN),
            encoding="rgb8",
            depth=False,
            objects=placed,
        )
        picture = np.ascontiguousarray(self._rasteriser.render([view])[0].image)
        seconds = (stamp_ns - self._flight.start_ns) * 1e-9
        draw_caption(picture, f"{seconds:.1f} s   {self._credit}")
        return picture


def _heading(flight: ShownFlight) -> float:
    """Return the direction [rad] from where the flight begins to the middle of its places."""
    places = np.concatenate([robot.trajectory.p_ref_body for robot in flight.robots])
    starts = np.array([robot.trajectory.p_ref_body[0] for robot in flight.robots])
    along = places.mean(axis=0) - starts.mean(axis=0)
    return math.atan2(along[1], along[0]) if np.linalg.norm(along[:2]) > 0.5 else 0.0


def _mesh(model: trimesh.Trimesh | None) -> TexturedMesh:
    """Return a shape as a mesh whose texture has a texel for each of its colours."""
    shape = trimesh.creation.icosphere(subdivisions=2, radius=0.2) if model is None else model
    assert isinstance(shape.visual, trimesh.visual.ColorVisuals)
    colours = np.asarray(shape.visual.face_colors)[:, :3]
    palette, index = np.unique(colours, axis=0, return_inverse=True)
    vertices = np.asarray(shape.vertices)[shape.faces].reshape(-1, 3)
    u = np.repeat((index.reshape(-1) + 0.5) / len(palette), 3)
    lit = 0.6 + 0.4 * np.clip(np.repeat(shape.face_normals[:, 2], 3), -1.0, 1.0)
    return TexturedMesh(
        vertices_map=vertices,
        triangles=np.arange(len(vertices), dtype=np.int32).reshape(-1, 3),
        uv=np.column_stack([u, np.full(len(u), 0.5)]).astype(np.float32),
        texture=palette[None].astype(np.uint8),
        light=lit.astype(np.float32),
        name="robot",
    )


def _encode(file: BinaryIO, pictures: Iterator[np.ndarray], n: int, on_progress: Progress) -> None:
    """Write pictures as H.264, which browsers play."""
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FRAMES_HZ, options={"crf": _CRF})
        stream.width, stream.height = SIZE_PX
        stream.pix_fmt = "yuv420p"
        for k, picture in enumerate(pictures, start=1):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            on_progress(k, n)
        container.mux(stream.encode())
