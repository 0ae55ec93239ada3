# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A still picture of a scene: for print, and for browsers without scripts.

The background is transparent, to suit light and dark pages, and a palette keeps the file small.
"""

import struct
import zlib
from collections.abc import Sequence

import numpy as np

from aerotwin_core.plots import colour_table
from aerotwin_report.scene_data import ShownLayer

WIDTH_PX, HEIGHT_PX = 1000, 560
YAW_DEG, PITCH_DEG = -120.0, 35.0  # as the browser begins: from the south-west
_MARGIN = 0.96
_NOT_JUDGED_COLOUR = "#9aa3b0"
_N_SHADES = 128  # of the colour scale: the rest of the palette is for layers of one colour
_CLEAR = 0
_PATH_PX = 3


def still_picture(shown: Sequence[ShownLayer]) -> bytes:
    """Return a PNG of the visible layers, a parallel projection from the south-west and above."""
    on = [part for part in shown if len(part.which) and part.layer.is_shown]
    plain = {colour: _N_SHADES + 1 + k for k, colour in enumerate(_plain_colours(on))}
    picture = np.full((HEIGHT_PX, WIDTH_PX), _CLEAR, dtype=np.uint8)
    if on:
        clouds = [_projected(part.points) for part in on]
        both = np.concatenate(clouds)[:, :2]
        middle = (both.min(axis=0) + both.max(axis=0)) / 2.0
        span = np.maximum(np.ptp(both, axis=0), 1e-6)
        scale = _MARGIN * float(np.min(np.array([WIDTH_PX, HEIGHT_PX]) / span))
        centre = np.array([WIDTH_PX, HEIGHT_PX]) / 2.0
        _draw(
            picture,
            [
                (np.column_stack([(c[:, :2] - middle) * scale + centre, c[:, 2]]), part)
                for c, part in zip(clouds, on)
            ],
            plain,
        )
    return _png(picture, _palette(list(plain)))


def _plain_colours(shown: Sequence[ShownLayer]) -> list[str]:
    own = [part.colour for part in shown if part.values is None]
    return list(dict.fromkeys([_NOT_JUDGED_COLOUR, *own]))


def _projected(points: np.ndarray) -> np.ndarray:
    """Return right, down and towards the eye of points [m]."""
    yaw, pitch = np.deg2rad([YAW_DEG, PITCH_DEG])
    towards = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    return points @ np.column_stack([right, np.cross(right, towards), towards])


def _draw(
    picture: np.ndarray,
    layers: Sequence[tuple[np.ndarray, ShownLayer]],
    plain: dict[str, int],
) -> None:
    """Draw near points over far ones, and paths over all."""
    n_points = sum(len(xyd) for xyd, part in layers if not part.is_path)
    size = int(np.clip(np.sqrt(0.25 * picture.size / max(n_points, 1)), 2, 4))
    spots = [(xyd, _shades(part, plain), size) for xyd, part in layers if not part.is_path]
    if spots:
        xyd, shades = (np.concatenate([spot[k] for spot in spots]) for k in (0, 1))
        order = np.argsort(xyd[:, 2], kind="stable")
        _stamp(picture, xyd[order], shades[order], size)
    for xyd, part in layers:
        if part.is_path:
            along, which = _along(xyd)
            _stamp(picture, along, _shades(part, plain)[which], _PATH_PX)


def _along(xyd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points at every pixel along a path, and the index of the corner before each."""
    steps = np.diff(xyd, axis=0)
    counts = np.maximum(np.ceil(np.abs(steps[:, :2]).max(axis=1, initial=0.0)), 1).astype(int)
    which = np.repeat(np.arange(len(steps)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    share = (np.arange(len(which)) - first) / counts[which]
    inner = xyd[which] + steps[which] * share[:, None]
    return np.vstack([inner, xyd[-1:]]), np.append(which, len(xyd) - 1)


def _shades(shown: ShownLayer, plain: dict[str, int]) -> np.ndarray:
    """Return the palette index of each point."""
    values = shown.values
    if values is None:
        return np.full(len(shown.which), plain[shown.colour], dtype=np.uint8)
    low, high = shown.limits
    share = np.clip((np.nan_to_num(values) - low) / (high - low), 0.0, 1.0)
    shades = 1 + np.rint(share * (_N_SHADES - 1)).astype(np.uint8)
    return np.where(np.isfinite(values), shades, np.uint8(plain[_NOT_JUDGED_COLOUR]))


def _stamp(picture: np.ndarray, xyd: np.ndarray, shades: np.ndarray, size: int) -> None:
    """Draw squares; later ones are on top."""
    height, width = picture.shape
    x, y = np.floor(xyd[:, :2]).astype(int).T
    above = np.full(picture.size, -1)
    for dx in range(-(size // 2), size - size // 2):
        for dy in range(-(size // 2), size - size // 2):
            inside = (x + dx >= 0) & (x + dx < width) & (y + dy >= 0) & (y + dy < height)
            here = np.full(picture.size, -1)
            # If an index occurs twice, the later one wins.
            here[((y + dy) * width + x + dx)[inside]] = np.flatnonzero(inside)
            np.maximum(above, here, out=above)
    drawn = above >= 0
    picture.reshape(-1)[drawn] = shades[above[drawn]]


def _palette(plain: Sequence[str]) -> bytes:
    scale = colour_table()[np.linspace(0, 255, _N_SHADES).round().astype(int)].tobytes()
    return bytes(3) + scale + b"".join(bytes.fromhex(colour[1:]) for colour in plain)


def _png(picture: np.ndarray, palette: bytes) -> bytes:
    """Return a PNG with a palette whose index 0 is transparent (PNG 1.2, 11.2 and 11.3)."""
    height, width = picture.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    lines = np.hstack([np.zeros((height, 1), dtype=np.uint8), picture])
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (
            (b"IHDR", head),
            (b"PLTE", palette),
            (b"tRNS", b"\0"),
            (b"IDAT", zlib.compress(lines.tobytes(), 9)),
            (b"IEND", b""),
        )
    )
