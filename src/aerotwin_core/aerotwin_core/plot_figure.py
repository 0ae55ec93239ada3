# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A figure that shows foreign text literally: names of methods, files, topics.

matplotlib parses text between two dollar signs as mathematics and fails if it is not; a control
character makes its SVG invalid XML; a letter that its font lacks is a warning at each drawing.
"""

import warnings
from typing import Any

from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, Formatter, FuncFormatter, LogFormatter

from aerotwin_core.foreign_text import printable

_MISSING = r"Glyph \d+ .*missing from (current font|font\(s\))"


class ReportFigure(Figure):
    """Shows every text letter by letter, control characters escaped.

    Before it writes a file matplotlib draws the figure once for its layout, clouds of points
    included; here only the layout is computed then, which halves the time.
    """

    _is_being_saved = False

    def savefig(self, *args: Any, **options: Any) -> None:
        """Write the figure; see matplotlib."""
        self._show_letters()
        with warnings.catch_warnings():  # in an SVG the browser has the letter
            warnings.filterwarnings("ignore", message=_MISSING)
            self._is_being_saved = True
            try:
                super().savefig(*args, **options)
            finally:
                self._is_being_saved = False

    def draw(self, renderer: RendererBase) -> None:
        """Draw the figure; while it is saved, matplotlib's first call computes the layout alone."""
        engine = self.get_layout_engine()
        if self._is_being_saved and isinstance(engine, ConstrainedLayoutEngine):
            if self.axes:
                engine.execute(self)
        else:
            super().draw(renderer)

    def _show_letters(self) -> None:
        found = self.findobj(lambda artist: isinstance(artist, Axis | Text))
        axes = [artist for artist in found if isinstance(artist, Axis)]
        for axis in axes:
            for formatter in (axis.get_major_formatter(), axis.get_minor_formatter()):
                _escape_labels(formatter)
        for text in (artist for artist in found if isinstance(artist, Text)):
            text.set_text(printable(text.get_text(), keep="\n"))
            text.set_parse_math(False)
        for axis in axes:
            if isinstance(axis.get_major_formatter(), LogFormatter):  # powers are mathematics
                for text in axis.findobj(Text):
                    text.set_parse_math(text is not axis.label)


def _escape_labels(formatter: Formatter) -> None:
    """Have labels set by `set_yticks` and the like escaped: drawing sets them again."""
    if isinstance(formatter, FixedFormatter):
        formatter.seq = [printable(str(text), keep="\n") for text in formatter.seq]
    elif isinstance(formatter, FuncFormatter):
        label = formatter.func
        formatter.func = lambda value, position: printable(label(value, position), keep="\n")
