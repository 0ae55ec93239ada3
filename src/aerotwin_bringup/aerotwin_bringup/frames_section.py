# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sample camera frames of a bag, as a reader wants to see them."""

from typing import Any

import cv2
import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.messages import TYPESTORE, stamp_ns
from aerotwin_core.section import Figure, Section

N_FRAMES = 6
WIDTH_PX = 560
CHANNELS = {"mono8": 1, "8UC1": 1, "rgb8": 3, "bgr8": 3}
"""Encodings that are shown."""


def frames_section(bag: BagReader, topic: str = "/stereo/left/image_raw") -> Section | None:
    """Return the chapter with frames spread over the bag, None when there are no images."""
    count = bag.counts.get(topic, 0)
    if count == 0:
        return None
    wanted = set(np.linspace(0, count - 1, min(N_FRAMES, count)).astype(int).tolist())
    start_ns = bag.start_ns
    figures = []
    for k, (_, _, cdr) in enumerate(bag.raw([topic])):
        if k in wanted:
            message = TYPESTORE.deserialize_cdr(cdr, bag.topics[topic])
            if message.encoding not in CHANNELS:
                continue
            seconds = (stamp_ns(message) - start_ns) * 1e-9
            figures.append(
                Figure(title=f"t = {seconds:.2f} s", caption=f"frame {k}", png=_png(message))
            )
    return Section(
        title="Camera frames",
        name="frames",
        text="What the left camera saw, with sensor noise, as the SLAM under test got it.",
        figures=tuple(figures),
        metrics={"n_frames": count},
    )


def _png(message: Any) -> bytes:
    channels = CHANNELS[message.encoding]
    height, width = message.height, message.width
    rows = np.asarray(message.data).reshape(height, message.step)
    image = rows[:, : width * channels].reshape(height, width, channels)
    if message.encoding == "rgb8":
        image = image[:, :, ::-1]
    scale = min(1.0, WIDTH_PX / width)
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return bytes(cv2.imencode(".png", small)[1])
