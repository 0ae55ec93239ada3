# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One pass over the images of a bag, into files; and the truth of a camera at their stamps."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_datasets.images import PictureWriter, pixels_of
from aerotwin_datasets.recording import CameraStream, InOrder, Recording
from aerotwin_datasets.truth import truth_of

Place = Callable[[CameraStream, int], Path | None]
"""From a camera and a stamp [ns] to the file of its image, None to leave it out."""
Change = Callable[[CameraStream, np.ndarray], np.ndarray]


def write_images(
    recording: Recording,
    cameras: Sequence[CameraStream],
    place: Place,
    change: Change | None = None,
) -> InOrder:
    """Write images to their places; return their stamps by topic, and what was out of order.

    `change` makes of the values of an image those of its file.
    """
    by_topic = {camera.topic: camera for camera in cameras}
    in_order = InOrder(recording, list(by_topic))
    total = sum(recording.counts[topic] for topic in by_topic)
    with (
        progress(total, "writing the data set", unit="image") as bar,
        PictureWriter() as pictures,
    ):
        for topic, stamp, message in in_order:
            bar.update(1)
            camera = by_topic[topic]
            path = place(camera, stamp)
            if path is not None:
                pixels = pixels_in(camera, message)
                pictures.write(path, pixels if change is None else change(camera, pixels))
    return in_order


def stamps_of(recording: Recording, camera: CameraStream) -> list[int]:
    """Return the stamps of a camera's images that follow each other [ns]."""
    in_order = InOrder(recording, [camera.topic])
    for _ in in_order:
        pass
    return in_order.stamps[camera.topic]


def pixels_in(camera: CameraStream, message: Any) -> np.ndarray:
    """Return the values of an image.

    Raises `UserError` if it is invalid.
    """
    try:
        return pixels_of(message)
    except ValueError as error:
        raise UserError(f"topic {camera.topic}: {error}") from None


def truth_at(
    recording: Recording, camera: CameraStream, stamps_ns: Sequence[int]
) -> Trajectory | None:
    """Return the true poses of a camera's optical frame, None if the truth does not cover them."""
    whole = dataclasses.replace(recording, span_ns=None)  # an image is recorded after its stamp
    truth = truth_of(whole, camera.T_base_optical)
    stamps = np.array(stamps_ns, dtype=np.int64)
    if truth is None or not len(stamps) or len(truth.trajectory) < 2:
        return None
    known = truth.trajectory.stamps_ns
    if stamps[0] < known[0] or stamps[-1] > known[-1]:
        return None
    return truth.trajectory.interpolate(stamps)
