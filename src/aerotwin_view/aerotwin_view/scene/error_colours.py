# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Values as colours, those of the reports, and the bar in the panel that explains them."""

import html

import numpy as np

from aerotwin_core.charts import default_limits
from aerotwin_core.plots import colour_table
from aerotwin_view.page import Page

_N_STOPS = 16


def coloured(values: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Return the colour (n, 3) uint8 of values (n,); those beyond the limits have that of a limit.

    >>> coloured(np.array([-1.0, 0.0]), (0.0, 1.0)).tolist()
    [[48, 18, 59], [48, 18, 59]]
    """
    table = colour_table()
    low, high = limits
    shares = np.clip((np.asarray(values, np.float64) - low) / (high - low), 0.0, 1.0)
    return table[np.rint(shares * (len(table) - 1)).astype(int)]


class ColourBar:
    """The colours of a quantity in the panel, with the values at both ends.

    The scale is that of the reports: to the value below which 95 % lie, unless limits are set.
    """

    def __init__(
        self,
        page: Page,
        values: np.ndarray,
        quantity: str,
        unit: str = "m",
        *,
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.limits = limits or default_limits(values)
        low, high = self.limits
        largest = float(np.max(values)) if len(values) else high
        beyond = f" and more, up to {largest:.3g}" if largest > high else ""
        self._shown = page.gui.add_html(
            _bar(f"{quantity} [{unit}]", f"{low:.3g}", f"{high:.3g}{beyond}")
        )

    def show(self, is_shown: bool) -> None:
        """Show the bar, or hide it."""
        if self._shown.visible != is_shown:
            self._shown.visible = is_shown

    def colours(self, values: np.ndarray) -> np.ndarray:
        """Return the colours (n, 3) uint8 of values (n,)."""
        return coloured(values, self.limits)


def _bar(title: str, low: str, high: str) -> str:
    table = colour_table()
    stops = table[np.linspace(0, len(table) - 1, _N_STOPS).round().astype(int)]
    gradient = ", ".join(f"rgb({r} {g} {b})" for r, g, b in stops.tolist())
    label = html.escape(f"{title}: colours from {low} to {high}")
    return (
        f'<div role="img" aria-label="{label}" style="padding: 0.3em 0.75em; font-size: 0.85em">'
        f"<div>{html.escape(title)}</div>"
        f'<div style="height: 0.9em; border-radius: 3px; margin: 0.25em 0; '
        f'background: linear-gradient(to right, {gradient})"></div>'
        f'<div style="display: flex; justify-content: space-between">'
        f"<span>{low}</span><span>{high}</span></div></div>"
    )
