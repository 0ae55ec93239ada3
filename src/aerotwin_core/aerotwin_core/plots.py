# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plots for reports: matplotlib figures as SVG that follow a light or dark page.

Only the object interface with the Agg/SVG back-ends is used (no `pyplot`, no global state), and
the output is stable: the same numbers give the same text. matplotlib is imported on first use, and
never reads the `matplotlibrc` of the working folder.
"""

from __future__ import annotations

import base64
import importlib
import io
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aerotwin_core.atomic_file import atomic_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure as PlotFigure

# One colour per role on every page: readable on light and dark, apart for colour-blind readers.
TRUTH = "#8a94a6"
ESTIMATE = "#e8743b"
ALIGNED = "#2f7ed8"
FLOOR = "#2aa198"
BAD = "#d64545"
ACCENT = "#7b61c9"
ERROR_COLOURMAP = "turbo"

_BACKEND = "MPLBACKEND"
_SETTINGS, _LOADING = "matplotlibrc", threading.Lock()
_CACHED_IN: ContextVar[Path | None] = ContextVar("_CACHED_IN", default=None)

# Ink and faint lines are drawn in these and become `currentColor` in the SVG.
_INK = "#010203"
_FAINT = "#040506"

_PICTURE = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")

_STYLE: dict[str, Any] = {
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "figure.facecolor": "none",
    "font.size": 9.5,
    "grid.color": _FAINT,
    "grid.alpha": 0.18,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "legend.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "svg.fonttype": "none",
    "savefig.dpi": 120,
}


# Pictures that share a row and those that take all of it are scaled alike by the page.
HALF_IN = 6.4
WIDE_IN = 13.2


def _load_matplotlib() -> None:
    """Import matplotlib so that it finds no `matplotlibrc` in the working folder.

    It looks there first, and no setting disables that. The content of the folder would be printed
    as warnings at best.
    """
    if "matplotlib" in sys.modules:
        return
    with _LOADING:
        exists, backend = os.path.exists, os.environ.pop(_BACKEND, None)  # figures here need none
        os.path.exists = lambda path: path != _SETTINGS and exists(path)
        try:
            importlib.import_module("matplotlib")
        finally:
            os.path.exists = exists
            if backend is not None:
                os.environ[_BACKEND] = backend


def colours(n: int) -> list[str]:
    """Return n distinguishable colours: those of the roles for few, a colour map for many.

    >>> colours(2)
    ['#2f7ed8', '#e8743b']
    """
    few = [ALIGNED, ESTIMATE, FLOOR, ACCENT, TRUTH, BAD]
    if n <= len(few):
        return few[:n]
    _load_matplotlib()
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps[ERROR_COLOURMAP](k / (n - 1))) for k in range(n)]


def colour_table() -> np.ndarray:
    """Return the error colours from least to largest, (256, 3) of 0 to 255."""
    _load_matplotlib()
    from matplotlib import colormaps

    table = colormaps[ERROR_COLOURMAP](np.arange(256))[:, :3]
    return np.rint(table * 255.0).astype(np.uint8)


def new_figure(width_in: float = HALF_IN, height_in: float = 3.8) -> PlotFigure:
    """Return an empty figure in the project's style; draw on it inside `style()`."""
    _load_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from aerotwin_core.plot_figure import ReportFigure

    with style():
        figure = ReportFigure(figsize=(width_in, height_in), layout="constrained")
        FigureCanvasAgg(figure)
    return figure


def style():
    """Return a context in which axes get the project's style, whatever a `matplotlibrc` says."""
    _load_matplotlib()
    from matplotlib.style import context

    return context(["default", _STYLE])


@contextmanager
def keeping_figures(folder: Path | None) -> Iterator[None]:
    """Also write every figure that is rendered inside as NAME.pdf and NAME.svg.

    The folder is made if missing; None writes nothing.
    """
    token = _CACHED_IN.set(folder)
    try:
        yield
    finally:
        _CACHED_IN.reset(token)


def _save(figure: PlotFigure, name: str, folder: Path) -> None:
    import matplotlib

    for suffix, dates in (("pdf", "CreationDate"), ("svg", "Date")):
        # Type 42: publishers refuse matplotlib's Type 3 fonts.
        with (
            style(),
            matplotlib.rc_context({"svg.hashsalt": name, "pdf.fonttype": 42}),
            atomic_file(folder / f"{name}.{suffix}") as file,
        ):
            figure.savefig(file, format=suffix, metadata={dates: None})


def render_svg(figure: PlotFigure, name: str) -> str:
    """Return the figure as one SVG element, its ink in ``currentColor``.

    Layers drawn with ``rasterized=True`` (clouds of points) are embedded as pictures. `name` is
    unique on the page: every id inside the picture starts with it.
    """
    cached_in = _CACHED_IN.get()
    if cached_in is not None:
        _save(figure, name, cached_in)
    buffer = io.StringIO()
    with style():
        import matplotlib

        with matplotlib.rc_context({"svg.hashsalt": name}):
            figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = text.replace(_INK, "currentColor").replace(_FAINT, "currentColor")
    text = _PICTURE.sub(_with_smaller_picture, text)
    text = re.sub(r"font: ([0-9.]+px) [^;\"]*", r"font: \1 system-ui, sans-serif", text)
    return _prefix_ids(text, re.sub(r"[^a-z0-9]+", "-", name.lower()))


def _with_smaller_picture(match: re.Match[str]) -> str:
    png = base64.b64decode(match[1])
    return f"data:image/png;base64,{base64.b64encode(smaller_png(png)).decode('ascii')}"


def smaller_png(png: bytes) -> bytes:
    """Return a picture in 256 colours where that is smaller: a cloud of dots takes a quarter."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGBA")
    few = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    few.save(buffer, "PNG", optimize=True)
    return min(buffer.getvalue(), png, key=len)


def _prefix_ids(text: str, prefix: str) -> str:
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
