# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Report section on the resources used by the program under test."""

from typing import Any

import numpy as np

from aerotwin_core.charts import say, thinned
from aerotwin_core.metric import MISSING, score_table
from aerotwin_core.plots import (
    ACCENT,
    ALIGNED,
    ESTIMATE,
    TRUTH,
    WIDE_IN,
    new_figure,
    render_svg,
    style,
)
from aerotwin_core.section import Figure, Headline, Section
from aerotwin_trajectory_evaluation.declared_metrics import RESOURCE_METRICS
from aerotwin_trajectory_evaluation.resources import ResourceUsage

_MAX_POINTS = 1500
MAX_OVERHEAD = 0.01
"""Share of a core that the recording itself may take before the report says so."""
MIN_DURATION_S = 5.0
"""Of a shorter program the first, dense samples are most of that share."""


def resource_section(
    usage: ResourceUsage,
    *,
    n_frames: int | None = None,
    simulated_s: float | None = None,
    error: tuple[np.ndarray, np.ndarray] | None = None,
    title: str = "Cost of the SLAM",
    name: str = "resources",
) -> Section:
    """Return the section on CPU, memory, latency and real-time factor of the program under test.

    `n_frames` and `simulated_s` are those of `ResourceUsage.metrics`; `title` and `name` are the
    heading and the key in `metrics.json`. `error`, the stamps (n,) [ns] and position errors (n,)
    [m] of the program's poses, is drawn over the same time axis (XTDrone, table IV, gives means
    only).
    """
    numbers = usage.metrics(n_frames=n_frames, simulated_s=simulated_s)
    return Section(
        title=title,
        name=name,
        text=(
            "The process tree of the program under test, sampled from outside. Times are wall and "
            "CPU times of this machine and depend on it."
        ),
        headline=_headline(numbers),
        figures=_figures(usage, error, name),
        tables=(score_table("Cost", RESOURCE_METRICS.scores(numbers)),),
        metrics=numbers,
        schema=RESOURCE_METRICS.schema(),
        warnings=tuple(_warnings(usage)),
    )


def _warnings(usage: ResourceUsage) -> list[str]:
    if not usage.n_processes.any():
        return ["The process of the SLAM was never seen; its cost is unknown."]
    if usage.overhead > MAX_OVERHEAD and usage.duration_s > MIN_DURATION_S:
        return [
            f"Recording took {usage.overhead:.1%} of a core, more than {MAX_OVERHEAD:.0%}: the "
            "program under test may have been slowed by it."
        ]
    return []


def _headline(numbers: dict[str, Any]) -> tuple[Headline, ...]:
    tiles = []
    if numbers["cpu_s_per_frame"] is not None:
        tiles.append(
            Headline(
                label="CPU per frame",
                value=f"{numbers['cpu_s_per_frame'] * 1e3:.0f}",
                unit="ms",
                meaning=f"all cores together, over {numbers['n_frames']} frames",
                computed=RESOURCE_METRICS["cpu_s_per_frame"].computed,
            )
        )
    tiles.append(_memory_tile(numbers))
    return tuple(tiles)


def _memory_tile(numbers: dict[str, Any]) -> Headline:
    shared, resident = numbers["pss_bytes_max"], numbers["rss_bytes_max"]
    # Shared memory is read too seldom for the peak of a short program.
    is_shared = shared is not None and numbers["wall_s"] >= MIN_DURATION_S
    name = "pss_bytes_max" if is_shared else "rss_bytes_max"
    memory = numbers[name]
    return Headline(
        label="Memory",
        value=MISSING if memory is None else f"{memory * 1e-6:.0f}",
        unit="" if memory is None else "MB",
        meaning="the program was too short to measure"
        if resident is None
        else "at most, of the program's whole process tree" + ("" if is_shared else ", resident"),
        computed=RESOURCE_METRICS[name].computed,
    )


def _figures(
    usage: ResourceUsage, error: tuple[np.ndarray, np.ndarray] | None, name: str
) -> tuple[Figure, ...]:
    if len(usage.time_s) < 2:
        return ()
    over = "time of the data" if usage.stamps_ns() is not None else "wall time"
    first = "Error, " if error is not None and usage.stamps_ns() is not None else ""
    return (
        Figure(
            title=f"{first}{'cores' if first else 'Cores'}, memory and latency over time",
            caption=f"All over the same {over}: what is hard shows in every row.",
            svg=_over_time(usage, error, name),
            is_wide=True,
        ),
    )


def _over_time(usage: ResourceUsage, error: tuple[np.ndarray, np.ndarray] | None, name: str) -> str:
    stamps = usage.stamps_ns()
    if stamps is None:
        seconds, frame_seconds, label = usage.time_s, usage.frame_time_s, "wall time [s]"
        error = None
    else:
        start = usage.frame_stamps_ns[0]
        seconds, label = (stamps - start) * 1e-9, "time of the data [s]"
        frame_seconds = (usage.frame_stamps_ns - start) * 1e-9
    n_rows = 4 if error is not None else 3
    figure = new_figure(WIDE_IN, 1.2 + 1.3 * n_rows)
    with style():
        rows = figure.subplots(n_rows, 1, sharex=True)
        if error is not None:
            which = thinned(len(error[0]), _MAX_POINTS)
            since = (error[0][which] - usage.frame_stamps_ns[0]) * 1e-9
            rows[0].plot(since, error[1][which], color=TRUTH, lw=1.2)
            rows[0].set(ylabel="error [m]")
        cores, memory, latency = rows[-3:]
        _draw_cores(cores, seconds, usage)
        _draw_memory(memory, seconds, usage)
        _draw_latency(latency, frame_seconds, usage)
        for axes in rows:
            axes.set_ylim(bottom=0.0)
        latency.set(xlabel=label)
        figure.align_ylabels()
    return render_svg(figure, f"{name}-time")


def _draw_cores(axes, seconds: np.ndarray, usage: ResourceUsage) -> None:
    which = thinned(len(seconds), _MAX_POINTS)
    busy = np.diff(usage.cpu_s[which]) / np.maximum(np.diff(usage.time_s[which]), 1e-6)
    axes.fill_between(seconds[which][1:], busy, step="pre", color=ALIGNED, alpha=0.3, lw=0)
    axes.step(seconds[which][1:], busy, where="pre", color=ALIGNED, lw=1.2)
    axes.set(ylabel="busy cores")


def _draw_memory(axes, seconds: np.ndarray, usage: ResourceUsage) -> None:
    which = thinned(len(seconds), _MAX_POINTS)
    is_known = bool(np.isfinite(usage.pss_bytes).any())
    memory = usage.pss_bytes if is_known else usage.rss_bytes
    axes.plot(seconds[which], memory[which] * 1e-6, color=ACCENT)
    axes.set(ylabel="memory [MB]")


def _draw_latency(axes, frame_seconds: np.ndarray, usage: ResourceUsage) -> None:
    axes.set(ylabel="latency [ms]")
    if len(usage.latency_s) == 0:
        say(axes, "no latency was measured")
        return
    which = thinned(len(frame_seconds), _MAX_POINTS)
    axes.plot(
        frame_seconds[which],
        usage.latency_s[which] * 1e3,
        ".",
        ms=3.0,
        color=ESTIMATE,
        rasterized=len(which) > 500,
    )
