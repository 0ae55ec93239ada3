# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cameras on a body: rendered at their exact due times, degraded as in their preset."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from aerotwin_core.camera_messages import camera_info_message, image_message
from aerotwin_core.messages import serialize
from aerotwin_core.threads import default_thread_count, run_tasks
from aerotwin_core.time import Schedule, from_seconds
from aerotwin_faults import ActiveFault
from aerotwin_faults.together import found_depth, lit_image, sent_picture
from aerotwin_rendering import CameraView, RenderedFrame
from aerotwin_sensor_models import CameraParameters, FrameExposure
from aerotwin_simulator.sent_frames import FrameQueue, SentFrame
from aerotwin_simulator.topics import Topic
from aerotwin_worlds.world_follower import Renderer

MONO, RGB, BGR, DEPTH, IDS = "mono", "rgb", "bgr", "depth", "ids"
PICTURES = {MONO: "mono8", RGB: "rgb8", BGR: "bgr8"}
"""Encoding of the messages by kind of image; colours are rendered as rgb8."""
_BAND_ROWS = 16
"""Rows of a rolling shutter that are rendered at one pose: at 2 rad/s, 30 ms of readout and 458 px
of focal length the image moves by 0.9 px from one band to the next."""
_NEAREST_M = 0.05
"""Near clip, unless the range of depth begins nearer. The range of depth does not limit the image:
surfaces outside it are visible, and nearer ones hide those behind."""


class Motion(Protocol):
    """Poses of the body, up to an instant."""

    @property
    def end_ns(self) -> int:
        """The last instant with a known pose."""

    def pose(self, stamp_ns: int) -> np.ndarray:
        """Return T_map_body (4, 4) at an instant since the last `end_ns`."""


@dataclass(frozen=True, kw_only=True)
class CameraTopics:
    """Topics of one kind of image."""

    image: Topic
    info: Topic


@dataclass(frozen=True, kw_only=True)
class Eye:
    """One lens on the body."""

    name: str  # frame that looks along x
    frame_id: str  # of its messages, `<name>_optical`, along z
    T_body_optical: np.ndarray  # (4, 4)
    camera_index: int  # selects a noise stream of its own
    sinks: dict[str, CameraTopics]  # by kind of image: mono, rgb or bgr; depth; ids
    baseline_m: float = 0.0  # from the left eye of its pair; 0 for that one or a single one


@dataclass
class _Shot:
    """A frame while its bands of rows are exposed, one after the other.

    `due_ns` are the instants of which poses are taken: for each band the middle of its exposure,
    with motion blur begin, middle and end. They are set when the frame before is complete.
    """

    stamp_ns: int
    exposure: FrameExposure | None = None
    due_ns: list[int] = field(default_factory=list)
    T_map_body: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return len(self.T_map_body) == len({*self.due_ns})

    def begin(self, exposure: FrameExposure, delays_ns: Sequence[int], *, is_blurred: bool) -> None:
        """Set the exposure, and with the delays of the bands the instants of poses."""
        half_ns = from_seconds(0.5 * exposure.time_s)
        offsets = (-half_ns, 0, half_ns) if is_blurred else (0,)
        self.exposure = exposure
        self.due_ns = [self.stamp_ns + delay + offset for delay in delays_ns for offset in offsets]


class BodyCamera:
    """One camera, or a pair whose images are taken at the same instants.

    Frame k is due at k / `rate_hz`; `seed` is that of the noise. `readout_s` is the time from the
    first row to the last of a rolling shutter; `parameters` are those of its preset. `infos` are
    the CameraInfo messages of the eyes, without a stamp. The eyes share an automatic exposure,
    which follows the images of the first. Faults act on
    the light, on what is measured of it, and on frames that are sent.
    """

    def __init__(
        self,
        parameters: CameraParameters,
        eyes: Sequence[Eye],
        *,
        rate_hz: float,
        renderer: Renderer,
        seed: int,
    ) -> None:
        self.eyes = tuple(eyes)
        self.parameters, self._renderer = parameters, renderer
        self._lens = parameters.lens()
        self._image_sensor = parameters.image_sensor(seed)
        self._depth_sensor = parameters.depth_sensor(seed)
        self.readout_s = parameters.readout_s
        self.rate_hz, self._schedule = rate_hz, Schedule(rate_hz)
        self._bands = _bands(parameters)
        self._control = parameters.auto_exposure()
        longest_s = parameters.exposure.longest_s
        self._blur = parameters.motion_blur() if longest_s > 0.0 else None
        self._lead_ns = from_seconds(0.5 * longest_s)
        self._shots: deque[_Shot] = deque()
        self._faults: Sequence[ActiveFault] = ()
        self._queue = FrameQueue(
            {
                topic: eye.name
                for eye in self.eyes
                for sinks in eye.sinks.values()
                for topic in (sinks.info, sinks.image)
            }
        )
        self._n_threads = default_thread_count()
        self.infos = [
            camera_info_message(0, eye.frame_id, self._lens, eye.baseline_m) for eye in self.eyes
        ]

    @property
    def topics(self) -> list[Topic]:
        """Its topics, in the order of the messages of a frame."""
        sinks = [sink for eye in self.eyes for sink in eye.sinks.values()]
        return [topic for sink in sinks for topic in (sink.info, sink.image)]

    def warm_up(self) -> None:
        """Render once so that no later frame pays for compilation or caches."""
        self.render([np.eye(4)] * len(self._bands))

    def apply_faults(self, faults: Sequence[ActiveFault]) -> None:
        """Let the faults of this list act from now on; others that join it act, too."""
        self._faults = faults

    def restart(self, after_ns: int) -> None:
        """Discard incomplete frames; the next one is exposed after an instant [ns]."""
        self._shots.clear()
        self._queue.clear()
        self._control.restart()
        self._schedule = Schedule(self.rate_hz, after_ns + self._lead_ns)

    def frames(self, motion: Motion) -> Iterator[tuple[int, list[tuple[Topic, bytes]]]]:
        """Yield (stamp_ns, messages) for each frame that is complete at the end of the motion.

        The stamp is the due time: the middle of the exposure of the first row. A frame is complete
        when its last rows were exposed, which is after the stamp with an exposure time or a rolling
        shutter. No frame begins before the last one is complete (`check_rate`).
        """
        due = self._schedule.until(motion.end_ns + self._lead_ns)
        self._shots.extend(_Shot(stamp_ns) for stamp_ns in due)
        while self._shots:
            shot = self._shots[0]
            self._expose(shot, motion)
            if not shot.is_complete:
                return
            self._shots.popleft()
            yield shot.stamp_ns, self._develop(shot)

    def sent_frames(self, motion: Motion) -> Iterator[SentFrame]:
        """Yield what is sent up to the end of the motion: the frames, less those that faults drop.

        Frames that are delayed are sent with the first motion that ends late enough.
        """
        for stamp_ns, messages in self.frames(motion):
            self._queue.add(stamp_ns, messages, self._faults)
        yield from self._queue.until(motion.end_ns)

    def _expose(self, shot: _Shot, motion: Motion) -> None:
        if shot.exposure is None:
            delays_ns = [delay_ns for _, delay_ns in self._bands]
            shot.begin(self._control.exposure, delays_ns, is_blurred=self._blur is not None)
        for due_ns in shot.due_ns:
            if due_ns <= motion.end_ns and due_ns not in shot.T_map_body:
                shot.T_map_body[due_ns] = motion.pose(due_ns)

    def render(
        self, T_map_body: Sequence[np.ndarray], stamps_ns: Sequence[int] | None = None
    ) -> list[RenderedFrame]:
        """Return the ideal image of each eye, from body poses (4, 4), one for each band.

        With the instants of the bands [ns], it shows the objects that move in the world, too.
        """
        parameters, views = self.parameters, []
        objects_at = self._renderer.objects_at
        moving = [tuple(objects_at(stamp_ns)) for stamp_ns in stamps_ns or ()]
        moving = moving or [()] * len(self._bands)
        for eye in self.eyes:
            encoding = "mono8" if MONO in eye.sinks else "none"
            encoding = "rgb8" if {RGB, BGR} & {*eye.sinks} else encoding
            for (rows, _), T, objects in zip(self._bands, T_map_body, moving, strict=True):
                view = CameraView(
                    camera=self._lens,
                    T_map_optical=T @ eye.T_body_optical,
                    encoding=encoding,
                    depth=DEPTH in eye.sinks or (self._blur is not None and encoding != "none"),
                    ids=IDS in eye.sinks,
                    near_m=min(_NEAREST_M, parameters.near_m),
                    rows=rows,
                    objects=objects,
                )
                views.append(view)
        frames, n = self._renderer.render(views), len(self._bands)
        return [self._joined(frames[n * k : n * (k + 1)]) for k in range(len(self.eyes))]

    def _joined(self, bands: list[RenderedFrame]) -> RenderedFrame:
        """Return the rows of all bands in one frame."""
        whole = bands[0]
        for band, (rows, _) in zip(bands[1:], self._bands[1:], strict=True):
            for name in ("image", "depth", "ids"):
                if (picture := getattr(whole, name)) is not None and rows is not None:
                    picture[slice(*rows)] = getattr(band, name)[slice(*rows)]
        return whole

    def _develop(self, shot: _Shot) -> list[tuple[Topic, bytes]]:
        """Return the messages of a frame; its images are measured in parallel."""
        frames, found = self._exposed(shot), []
        requested = [
            (kind, frame, shot, eye)
            for eye, frame in zip(self.eyes, frames, strict=True)
            for kind in eye.sinks
        ]
        measured = run_tasks(self._measured, requested, self._n_threads)
        for (kind, *_), picture in zip(requested, measured, strict=True):
            if kind in PICTURES:
                self._control.on_image(picture)
                break
        if self._faults:
            measured = [
                sent_picture(self._faults, picture, eye.name, kind, shot.stamp_ns)
                for (kind, _, _, eye), picture in zip(requested, measured, strict=True)
            ]
        pictures = iter(measured)
        for eye, info in zip(self.eyes, self.infos, strict=True):
            for kind, sinks in eye.sinks.items():
                message = image_message(
                    shot.stamp_ns, eye.frame_id, next(pictures), is_blue_first=kind == BGR
                )
                info.header.stamp = message.header.stamp
                found += [(sinks.info, serialize(info)), (sinks.image, serialize(message))]
        return found

    def _exposed(self, shot: _Shot) -> list[RenderedFrame]:
        """Return the image of each eye as the light of its exposure, before errors and noise."""
        poses = [shot.T_map_body[due_ns] for due_ns in shot.due_ns]
        if self._blur is None or shot.exposure is None:
            return self.render(poses, shot.due_ns)
        frames = self.render(poses[1::3], shot.due_ns[1::3])
        for k, (eye, frame) in enumerate(zip(self.eyes, frames, strict=True)):
            if frame.image is not None and frame.depth is not None:
                ends = [
                    (begin @ eye.T_body_optical, end @ eye.T_body_optical)
                    for begin, end in zip(poses[::3], poses[2::3], strict=True)
                ]
                image = self._blur.blurred(
                    frame.image,
                    frame.depth,
                    ends,
                    band_rows=_BAND_ROWS if len(ends) > 1 else self.parameters.height,
                    time_s=shot.exposure.time_s,
                )
                frames[k] = replace(frame, image=image)
        return frames

    def _measured(self, kind: str, frame: RenderedFrame, shot: _Shot, eye: Eye) -> np.ndarray:
        stamp_ns, index = shot.stamp_ns, eye.camera_index
        if kind == IDS:
            assert frame.ids is not None
            return frame.ids
        if kind == DEPTH:
            assert frame.depth is not None
            depth = self._depth_sensor.measure(frame.depth, stamp_ns, camera_index=index)
            return found_depth(self._faults, depth, eye.name, stamp_ns)
        assert frame.image is not None
        image, light = lit_image(self._faults, frame.image, eye.name, stamp_ns)
        return self._image_sensor.expose(
            image, stamp_ns, camera_index=index, exposure=shot.exposure, light=light
        )


def _bands(parameters: CameraParameters) -> list[tuple[tuple[int, int] | None, int]]:
    """Return the rows that are exposed together, and their delay after the first [ns]."""
    if parameters.readout_s == 0.0:
        return [(None, 0)]
    height = parameters.height
    starts = range(0, height, _BAND_ROWS)
    rows = [(start, min(start + _BAND_ROWS, height)) for start in starts]
    share = [0.5 * (first + last - 1) / max(height - 1, 1) for first, last in rows]
    return [(r, from_seconds(parameters.readout_s * s)) for r, s in zip(rows, share, strict=True)]
