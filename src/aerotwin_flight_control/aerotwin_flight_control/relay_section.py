# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The relay manoeuvre as a chapter of a report: error over time, the passing, the cases."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core import plots
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_flight_control.relay_evaluation import PEGASUS_RMSE_M, WINDOW_S, RelayResult

_COLOURS = (plots.ALIGNED, plots.ESTIMATE, plots.ACCENT, plots.FLOOR)
_LEAST_CM = 1e-3
_SHOWN_S = 3.0
_SIDES = ("first", "second")

_TEXT = (
    "Two vehicles fly towards each other's path, swing up and sideways by 1.67 m within two "
    "seconds, pass at 1.17 m, and part: eq. 17 of Pegasus (Jacinto et al. 2024) with s = 0.6, at "
    "up to 2.6 m/s and 6.6 m/s² with 42° of tilt. Both are flown in one simulation by a geometric "
    "controller that is fed truth, so the errors are those of control alone. Errors are true minus "
    "desired position; their root mean square is over two seconds before and after the passing.\n\n"
    "No number of these flights is random: the seed changes only sensors that are not used here. "
    "Pegasus' 7.2 cm are from the recorded results of its own example, another simulator: they "
    "show the order of size, not a contest on equal terms."
)


def relay_section(results: Sequence[RelayResult]) -> Section:
    """Return the chapter about relays that were flown."""
    missed = [result.title for result in results if result.is_within_thresholds is False]
    return Section(
        title="Relay manoeuvre",
        name="relay",
        text=_TEXT,
        headline=tuple(_headline(result) for result in results if result.bar_rmse_m is not None),
        figures=(
            Figure(
                title="Position error over time",
                caption=(
                    "As Fig. 6 of Pegasus: the size of each vehicle's error, t = 0 at the passing. "
                    "Solid is the first vehicle, dashed the second, shaded the evaluated window; "
                    "the vertical axis is logarithmic."
                ),
                svg=_errors(results),
                is_wide=True,
            ),
            Figure(
                title=f"The passing, seen from above: {results[0].title.lower()}",
                caption=(
                    "Both fly east; grey is what eq. 17 asks for, dots are half seconds apart. "
                    "The height swings as y does."
                ),
                svg=_passing(results[0]),
            ),
            Figure(
                title="Separation",
                caption="Distance of the two vehicles; 1.167 m is what eq. 17 asks for.",
                svg=_separation(results),
            ),
        ),
        tables=(_cases(results), _axes(results), _meanings(results)),
        metrics={result.name: result.metrics() for result in results},
        warnings=tuple(f"{title}: the thresholds are missed." for title in missed),
    )


def _headline(result: RelayResult) -> Headline:
    assert result.bar_rmse_m is not None
    return Headline(
        label=result.title,
        value=f"{result.rmse_m * 100.0:.2f}",
        unit="cm",
        meaning=f"position RMSE of the worse vehicle; at most {result.bar_rmse_m * 100.0:g} cm",
        status="good" if result.is_within_thresholds else "bad",
    )


def _cases(results: Sequence[RelayResult]) -> Table:
    rows = []
    for result in results:
        largest = max(side.metrics()["max_m"] for side in result.sides)
        rows.append(
            (
                result.title,
                f"{1.0 / result.step_s:.0f}",
                f"{result.rmse_m * 100.0:.2f}",
                _bar(result.bar_rmse_m),
                f"{largest * 100.0:.2f}",
                f"{result.separation.min():.3f}",
                {True: "yes", False: "no", None: "–"}[result.is_within_thresholds],
            )
        )
    rows.append(("Pegasus' own files", "500", "7.26", "–", "8.95", "1.150", "–"))
    return Table(
        title="Cases",
        columns=("case", "Hz", "RMSE cm", "at most", "max cm", "apart m", "met"),
        rows=tuple(rows),
        caption=(
            "Of the worse vehicle, within two seconds of the passing. Apart is the least distance "
            f"of the two{_apart(results)}."
        ),
    )


def _bar(threshold: float | None) -> str:
    return "–" if threshold is None else f"{threshold * 100.0:g}"


def _apart(results: Sequence[RelayResult]) -> str:
    thresholds = [r.bar_separation_m for r in results if r.bar_separation_m is not None]
    return f"; at least {max(thresholds):g} m must be left" if thresholds else ""


def _meanings(results: Sequence[RelayResult]) -> Table:
    own = "examples/results/statistics_{1,2}.npz at bef3c57, computed from these files"
    return Table(
        title="What the cases are",
        columns=("case", "what it is"),
        rows=(*((r.title, r.text) for r in results), ("Pegasus' own files", own)),
    )


def _axes(results: Sequence[RelayResult]) -> Table:
    rows = []
    for result in results:
        for name, side in zip(_SIDES, result.sides):
            metrics = side.metrics()
            parts = [f"{value * 100.0:.2f}" for value in metrics["rmse_xyz_m"]]
            rows.append((result.title, name, *parts, f"{metrics['rmse_m'] * 100.0:.2f}"))
    return Table(
        title="By vehicle and axis",
        columns=("case", "vehicle", "x cm", "y cm", "z cm", "all cm"),
        rows=tuple(rows),
        caption="Root mean squares within two seconds of the passing.",
    )


def _errors(results: Sequence[RelayResult]) -> str:
    figure = plots.new_figure(plots.WIDE_IN, 4.6)
    with plots.style():
        axes = figure.add_subplot()
        axes.axvspan(-WINDOW_S, WINDOW_S, color=plots.TRUTH, alpha=0.12, lw=0)
        threshold = PEGASUS_RMSE_M * 100.0
        axes.axhline(threshold, color=plots.BAD, lw=1.1, ls=":")
        label = f"Pegasus' own files, RMSE {threshold:.1f} cm"
        axes.annotate(label, (0.995, threshold), xycoords=("axes fraction", "data"), ha="right",
                      va="bottom", color=plots.BAD)  # fmt: skip
        for result, colour in zip(results, _COLOURS):
            for side, style in zip(result.sides, ("-", (0, (4, 2)))):
                error = np.maximum(side.distance * 100.0, _LEAST_CM)
                name = result.title if style == "-" else None
                axes.plot(side.t, error, color=colour, ls=style, lw=1.5, label=name)
        axes.set_yscale("log")
        t = results[0].sides[0].t
        axes.set(xlim=(t[0], t[-1]), xlabel="t of eq. 17 [s]", ylabel="position error [cm]")
        figure.legend(loc="outside upper left", ncols=len(results))
    return plots.render_svg(figure, "relay-errors")


def _passing(result: RelayResult) -> str:
    figure = plots.new_figure(plots.HALF_IN, 3.8)
    with plots.style():
        axes = figure.add_subplot()
        nearest = int(result.separation.argmin())
        ends = np.array([side.p_map[nearest, :2] for side in result.sides])
        middle = ends.mean(axis=0)
        for side, colour, name in zip(result.sides, (plots.ALIGNED, plots.ESTIMATE), _SIDES):
            near = np.abs(side.t) <= _SHOWN_S
            p = side.p_map[near, :2] - middle
            desired = p - side.error_map[near, :2]
            axes.plot(*desired.T, color=plots.TRUTH, lw=5.0, alpha=0.45)
            axes.plot(*p.T, color=colour, lw=1.6, label=f"{name} vehicle")
            t = np.arange(-_SHOWN_S, _SHOWN_S + 0.01, 0.5)
            marks = [int(np.abs(side.t[near] - instant).argmin()) for instant in t]
            axes.plot(*p[marks].T, "o", color=colour, ms=4.0)
        axes.plot(*(ends - middle).T, color=plots.BAD, lw=1.2, ls=":")
        axes.annotate(f"{result.separation.min():.3f} m", (0.0, 0.0), color=plots.BAD,
                      textcoords="offset points", xytext=(6, -4))  # fmt: skip
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(xlabel="x, east [m]", ylabel="y, north [m]")
        figure.legend(loc="outside upper left", ncols=2)
    return plots.render_svg(figure, "relay-passing")


def _separation(results: Sequence[RelayResult]) -> str:
    figure = plots.new_figure(plots.HALF_IN, 3.8)
    with plots.style():
        axes = figure.add_subplot()
        for result, colour in zip(results, _COLOURS):
            t = result.sides[0].t
            near = np.abs(t) <= WINDOW_S
            axes.plot(t[near], result.separation[near], color=colour, label=result.title)
        thresholds = [r.bar_separation_m for r in results if r.bar_separation_m is not None]
        if thresholds:
            axes.axhline(max(thresholds), color=plots.BAD, lw=1.1, ls=":")
            axes.annotate(f"at least {max(thresholds):g} m", (-WINDOW_S, max(thresholds)), va="top",
                          textcoords="offset points", xytext=(2, -3), color=plots.BAD)  # fmt: skip
        axes.set(xlabel="t of eq. 17 [s]", ylabel="distance [m]", xlim=(-WINDOW_S, WINDOW_S))
        axes.set_ylim(bottom=0.0)
        axes.legend(loc="lower right")
    return plots.render_svg(figure, "relay-separation")
