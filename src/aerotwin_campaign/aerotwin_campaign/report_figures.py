# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a campaign's report."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aerotwin_campaign.campaign_results import Grouping, ResultColumns
from aerotwin_campaign.sensitivity import Sensitivity
from aerotwin_core.charts import Series, chart, draw_histograms
from aerotwin_core.plots import ALIGNED, BAD, HALF_IN, WIDE_IN
from aerotwin_core.section import Figure
from aerotwin_statistics import proportion_interval

MOST_FIGURES = 40
_MOST_BINS = 40
_MOST_SHARES = 24
"""Metrics in the figure of shares: more are unreadable."""
_LONGEST_LABEL = 24
_MOST_NARROW = 12
"""Labels below a figure of half the width of a page."""


def success_figure(path: str, grouping: Grouping, is_success: np.ndarray, name: str) -> Figure:
    """Return the success rate over the values of an axis, with exact intervals."""
    n = np.bincount(grouping.codes, minlength=len(grouping.labels))
    hits = np.bincount(grouping.codes, is_success, minlength=len(grouping.labels)).astype(int)
    which = np.flatnonzero(n)
    share = 100.0 * hits[which] / n[which]
    ends = 100.0 * np.array([proportion_interval(int(hits[k]), int(n[k])) for k in which])
    # The whole interval is one inside rounding.
    reach = np.maximum(np.stack([share - ends[:, 0], ends[:, 1] - share]), 0.0)

    is_wide = grouping.middles is None and len(which) > _MOST_NARROW
    size_in: dict[str, float] = (
        {"width_in": WIDE_IN, "height_in": 4.4} if is_wide else {"height_in": 3.2}
    )

    def draw(axes: Any) -> None:
        x = which if grouping.middles is None else grouping.middles[which]
        line = "none" if grouping.middles is None else "-"
        axes.errorbar(x, share, yerr=reach, fmt="o", ls=line, color=ALIGNED, capsize=3, lw=1.4)
        if grouping.middles is None:
            labels = [_cut(grouping.labels[k]) for k in which]
            if is_wide:
                axes.set_xticks(which, labels, rotation=90)
            elif sum(map(len, labels)) > 48:
                axes.set_xticks(which, labels, rotation=30, ha="right")
            else:
                axes.set_xticks(which, labels)
        axes.set(xlabel=path, ylabel="success [%]", ylim=(-4.0, 104.0))

    return Figure(
        title=f"Success over {path}",
        caption="Bars are exact 95 % intervals.",
        svg=chart(f"{name}-success", draw, **size_in),
        is_wide=is_wide,
    )


def metric_figure(results: ResultColumns, metric: str, name: str) -> Figure | None:
    """Return the histogram of a metric, successes and failures apart; None if it is constant."""
    values, unit = results.metrics[metric], results.unit(metric)
    known = values[np.isfinite(values)]
    if len(known) < 2 or known.min() == known.max():
        return None
    both = (("success", results.is_success, ALIGNED), ("failure", ~results.is_success, BAD))
    series = [
        Series(label=f"{label} ({n})", values=values[which], colour=colour)
        for label, which, colour in both
        if (n := int(np.isfinite(values[which]).sum()))
    ]
    low, high = _limits(known)
    n_beyond = int(((known < low) | (known > high)).sum())
    n_least = min(len(each.finite) for each in series)  # few failures in many bins are spikes
    n_bins = int(np.clip(np.sqrt(n_least) * 2, 8, _MOST_BINS))

    def draw(axes: Any) -> None:
        draw_histograms(axes, series, limits=(low, high), n_bins=n_bins, quantity=metric, unit=unit)

    beyond = f" {n_beyond} far values are beyond the axis." if n_beyond else ""
    apart = "Successes and failures are normed each by itself." if len(series) > 1 else ""
    return Figure(
        title=metric,
        caption=f"{apart}{beyond}".strip(),
        svg=chart(f"{name}-histogram", draw, height_in=3.0),
    )


def share_figure(found: Sequence[Sensitivity], axes_names: Sequence[str]) -> Figure | None:
    """Return the shares of variance as a matrix, metrics x axes; None without any."""
    metrics = list(dict.fromkeys(each.metric for each in found))[:_MOST_SHARES]
    if not metrics or len(axes_names) < 2:
        return None
    shares = np.full((len(metrics), len(axes_names)), np.nan)
    for each in found:
        if each.metric in metrics:
            shares[metrics.index(each.metric), list(axes_names).index(each.axis)] = each.share

    def draw(axes: Any) -> None:
        axes.grid(False)
        drawn = axes.pcolormesh(100.0 * shares, cmap="Blues", vmin=0.0, vmax=100.0, rasterized=True)
        axes.set_yticks(np.arange(len(metrics)) + 0.5, [_cut(each) for each in metrics])
        axes.set_xticks(
            np.arange(len(axes_names)) + 0.5, [_cut(each) for each in axes_names], rotation=20,
            ha="right",
        )  # fmt: skip
        axes.invert_yaxis()
        for (row, column), share in np.ndenumerate(shares):
            if np.isfinite(share):
                colour = "#ffffff" if share > 0.5 else "#14181f"
                text = f"{100.0 * share:.0f}"
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour)
        axes.figure.colorbar(drawn, ax=axes, label="share of variance [%]", pad=0.01, aspect=30)

    is_wide = len(axes_names) > 4
    return Figure(
        title="What each axis explains",
        caption="First-order share of the variance of each metric [%]; an empty field does not "
        "vary. What is missing to 100 % is interaction of axes, seeds and chance.",
        svg=chart(
            "campaign-shares",
            draw,
            width_in=WIDE_IN if is_wide else HALF_IN,
            height_in=1.4 + 0.3 * len(metrics),
        ),
        is_wide=is_wide,
    )


def _limits(known: np.ndarray) -> tuple[float, float]:
    """Return the ends of an axis on which far values do not squeeze the others."""
    low, high = float(known.min()), float(known.max())
    near_low, near_high = np.quantile(known, [0.005, 0.995])
    reach = max(float(near_high - near_low), 1e-9 * max(abs(low), abs(high), 1e-300))
    return max(low, float(near_low) - reach), min(high, float(near_high) + reach)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"
