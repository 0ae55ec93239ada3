# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A rendered frame as a picture: depths and ids as colours, and a caption."""

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from aerotwin_rendering import RenderedFrame

NEAREST_SHARE, FARTHEST_SHARE = 0.02, 0.98  # quantiles at the ends of the depth colours
CAPTION_PX, CAPTION_SCALE = 14, 0.4


def show(frame: "RenderedFrame") -> np.ndarray:
    """Return a frame as colours (h, w, 3): its image, or its depths, or its ids."""
    if frame.image is not None:
        return frame.image
    if frame.depth is not None:
        return colour_depth(frame.depth)
    assert frame.ids is not None
    return colour_ids(frame.ids)


def colour_depth(depth: np.ndarray) -> np.ndarray:
    """Return depths as colours, near ones yellow, far ones violet, nothing black."""
    seen = np.isfinite(depth)
    if not seen.any():
        return np.zeros((*depth.shape, 3), np.uint8)
    # Inverse depth spreads the colours over what is near.
    inverse = 1.0 / np.where(seen, depth, np.inf)
    low, high = np.quantile(inverse[seen], [1.0 - FARTHEST_SHARE, 1.0 - NEAREST_SHARE])
    share = np.clip((inverse - low) / max(high - low, 1e-12), 0.0, 1.0)
    colours = cv2.applyColorMap((255.0 * share).astype(np.uint8), cv2.COLORMAP_VIRIDIS)
    return np.where(seen[..., None], colours, 0)[..., ::-1].copy()


def colour_ids(ids: np.ndarray) -> np.ndarray:
    """Return a colour for each id, unlike those of its neighbours in number; -1 is black."""
    hue = (ids * 67) % 180  # 67 of 180 degrees: far apart, and no id of the first 180 twice
    hsv = np.dstack([hue, np.full_like(ids, 170), np.where(ids < 0, 0, 230)]).astype(np.uint8)
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)


def draw_caption(picture: np.ndarray, text: str) -> None:
    """Write a line at the lower edge, on a darkened strip."""
    # OpenCV's font knows ASCII only.
    text = text.replace("©", "(c)").encode("ascii", "replace").decode()
    strip = picture[-CAPTION_PX:]
    strip[...] = strip // 3
    cv2.putText(
        picture, text, (4, picture.shape[0] - 4), cv2.FONT_HERSHEY_SIMPLEX, CAPTION_SCALE,
        (255, 255, 255), 1, cv2.LINE_AA,
    )  # fmt: skip
