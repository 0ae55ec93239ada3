# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sample camera frames of a bag, as a reader wants to see them."""

import io
from typing import Any

import numpy as np
from PIL import Image

from aerotwin_core.messages import stamp_ns
from aerotwin_core.section import Figure, Section
from aerotwin_run_evaluation.bag.frames import FrameCollector

WIDTH_PX = 420
CHANNELS = {"mono8": 1, "8UC1": 1, "rgb8": 3, "bgr8": 3}
"""Encodings that are shown."""


def frames_section(frames: FrameCollector) -> Section | None:
    """Return the section with frames spread over the bag, None when there are no images."""
    if not frames.samples or frames.stamps_ns is None:
        return None
    start_ns = int(frames.stamps_ns[0])
    figures = [
        Figure(
            title=f"t = {(stamp_ns(message) - start_ns) * 1e-9:.2f} s",
            caption=f"frame {number}",
            png=png,
        )
        for number, message in frames.samples
        if (png := _png(message)) is not None
    ]
    return Section(
        title="Camera frames",
        name="frames",
        text="What the left camera saw, as it was recorded.",
        figures=tuple(figures),
        metrics={"n_frames": len(frames.stamps_ns)},
    )


def _png(message: Any) -> bytes | None:
    """Return the picture as PNG; None if its encoding is not shown or its sizes disagree."""
    channels = CHANNELS.get(message.encoding)
    height, width, step = message.height, message.width, message.step
    data = np.asarray(message.data)
    if channels is None or width * height == 0 or step < width * channels:
        return None
    if data.size < height * step:
        return None
    rows = data[: height * step].reshape(height, step)
    image = rows[:, : width * channels].reshape(height, width, channels)
    if message.encoding == "bgr8":
        image = image[:, :, ::-1]
    picture = Image.fromarray(np.ascontiguousarray(image[:, :, 0] if channels == 1 else image))
    scale = min(1.0, WIDTH_PX / width)
    size = (max(round(scale * width), 1), max(round(scale * height), 1))
    png = io.BytesIO()
    picture.resize(size, Image.Resampling.BOX).save(png, "PNG")
    return png.getvalue()
