# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A twin as a chapter: verdict, tables I and II, figures 9 to 11, the 3D view."""

from typing import Any

from aerotwin_comparison.schemas import TWIN_SCHEMA
from aerotwin_comparison.twin import figures
from aerotwin_comparison.twin.comparison import ONE_FLIGHT_EACH, TwinComparison, as_text
from aerotwin_comparison.twin.differences import DIFFERENT, EQUIVALENT, Differences
from aerotwin_core.metric import value_at
from aerotwin_core.section import Cell, Figure, Headline, Section, Table

_STATUS = {EQUIVALENT: "good", DIFFERENT: "bad"}


def twin_section(twin: TwinComparison) -> Section:
    """Return the chapter; its metrics are `twin.metrics()`."""
    found = [d for d in (twin.published, twin.judged) if d is not None]
    kinds = list({d.kind: d for d in found}.values())
    return Section(
        title="Twin",
        name="twin",
        text=_text(twin),
        verdict=twin.sentence,
        headline=_headline(twin),
        scenes=(figures.scene(twin),) if twin.is_aligned else (),
        figures=_figures(twin, kinds),
        tables=(
            *_tables(twin),
            *_verdicts(twin, kinds),
            *(_differences(twin, d) for d in kinds),
            *_sight(kinds),
        ),
        metrics=twin.metrics(),
        schema=TWIN_SCHEMA,
        warnings=tuple(twin.warnings()),
    )


def _text(twin: TwinComparison) -> str:
    return (
        f"{twin.a.label} and {twin.b.label} are registered to one model by the same protocol, and "
        "what is left between their points and the model is compared. Differences are "
        f"{twin.b.label} minus {twin.a.label}. Intervals come from drawing cubes of space with "
        "replacement (block bootstrap), because neighbouring points err alike; equivalence is "
        "claimed where an interval lies within the margin (two one-sided tests), and nowhere for "
        f"want of a visible difference.\n\n{ONE_FLIGHT_EACH}"
    )


def _headline(twin: TwinComparison) -> tuple[Headline, ...]:
    tiles = [
        Headline(
            label="Twin",
            value=twin.verdict,
            meaning="checks the method only" if twin.are_both_simulated
            else "by the margins of the protocol",
            status=_STATUS.get(twin.verdict, "warn"),
            computed="two one-sided tests on block-bootstrap intervals",
        )
    ]  # fmt: skip
    if twin.judged is not None:
        for name, part in (("means", twin.judged.mean), ("deviations", twin.judged.std)):
            i = part.interval
            tiles.append(
                Headline(
                    label=f"Difference of {name}",
                    value=f"{i.estimate * 100:+.2f}",
                    unit="cm",
                    meaning=f"{i.low * 100:+.2f} to {i.high * 100:+.2f} cm, margin "
                    f"{part.margin * 100:g} cm",
                    status=_STATUS.get(part.verdict, "warn"),
                    computed=f"{twin.judged.what}; {1 - 2 * part.alpha:.0%} interval over "
                    f"{i.n_blocks} cubes of {twin.judged.block.edge:g} m",
                )
            )
    return tuple(tiles)


def _figures(twin: TwinComparison, kinds: list[Differences]) -> tuple[Figure, ...]:
    if not twin.is_aligned:
        return ()
    drawn = [
        Figure(
            title="Registered maps over the model, from above",
            caption="Fig. 9 of the paper.",
            svg=figures.clouds_from_above(twin, "twin-clouds"),
            is_wide=True,
        )
    ]
    for d in kinds:
        drawn.append(
            Figure(
                title=f"{d.what[0].upper()}{d.what[1:]}",
                caption="Fig. 10 of the paper." if d.kind == "correspondences" else
                "What is left when voxels do not hide it.",
                svg=figures.histograms(twin, d, f"twin-histogram-{d.kind}"),
            )
        )  # fmt: skip
    drawn.append(
        Figure(
            title="Differences and margins",
            caption="Dot: the difference; bar: its interval. Equivalent: all bars in the shade.",
            svg=figures.intervals(kinds, "twin-intervals"),
        )
    )
    paths = figures.paths_from_above(twin, "twin-paths")
    if paths is not None:
        drawn.append(
            Figure(
                title="Paths after registration, from above",
                caption="Fig. 11 of the paper: each path moved as its map was.",
                svg=paths,
                is_wide=True,
            )
        )
    return tuple(drawn)


def _tables(twin: TwinComparison) -> tuple[Table, ...]:
    columns = ("quantity", twin.a.label, twin.b.label)
    return (
        Table(
            title="Table I: sensing",
            caption="From the run's own configuration; – where it is not known.",
            columns=columns,
            rows=tuple(_sensing_rows(twin)),
        ),
        Table(
            title="Table II: maps against the model",
            caption="Perfect map: what samples of the true surface score by the same protocol.",
            columns=columns,
            rows=tuple(_map_rows(twin)),
        ),
    )


def _sensing_rows(twin: TwinComparison) -> list[tuple[Cell, ...]]:
    def row(label: str, values: list[Any], pattern: str) -> tuple[Cell, ...]:
        return (label, *("–" if v is None else pattern.format(v) for v in values))

    sides = (twin.a, twin.b)
    sizes = [
        None if s.sensing.width is None else f"{s.sensing.width}x{s.sensing.height}" for s in sides
    ]
    rows = [
        row("field of view [deg]", [s.sensing.field_of_view_deg for s in sides], "{:.1f}"),
        row("resolution [px]", sizes, "{}"),
        row("frame rate [Hz]", [s.sensing.rate_hz for s in sides], "{:.1f}"),
        row("duration [frames]", [s.sensing.n_frames for s in sides], "{}"),
        row(
            "path of the SLAM [m]",
            [None if s.trajectory is None else s.trajectory.path_length_m for s in sides],
            "{:.1f}",
        ),
        row("kind", [s.kind for s in sides], "{}"),
    ]
    names = dict.fromkeys([*twin.a.settings, *twin.b.settings])
    for name in names:
        values = [s.settings.get(name) for s in sides]
        rows.append(row(name, values, "{}"))
    return _known(rows)


def _known(rows: list[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Return the rows of which at least one side has a value."""
    return [row for row in rows if any(cell != "–" for cell in row[1:])]


def _map_rows(twin: TwinComparison) -> list[tuple[Cell, ...]]:
    numbers = [m.metrics() for m in (twin.map_a, twin.map_b)]

    def row(label: str, path: str, pattern: str = "{:.4f}") -> tuple[Cell, ...]:
        values = [value_at(tree, path) for tree in numbers]
        return (label, *("–" if v is None else pattern.format(v) for v in values))

    rows = [
        row("map points", "n_points", "{:,}"),
        row("correspondences", "correspondences.n", "{:,}"),
        row("share within the cut", "correspondences.share"),
        row("mean error [m]", "correspondences.mean_m"),
        row("standard deviation [m]", "correspondences.std_m"),
        row("mean of a perfect map [m]", "floor.mean_m"),
        row("its standard deviation [m]", "floor.std_m"),
        row("mean to the true surface [m]", "surface.aligned.mean_m"),
        row("its standard deviation [m]", "surface.aligned.std_m"),
        row("scale removed [%]", "alignment.removed.scale_percent", "{:.3f}"),
        row("yaw removed [deg]", "alignment.removed.yaw_deg", "{:.3f}"),
        row("tilt removed [deg]", "alignment.removed.tilt_deg", "{:.3f}"),
        row("offset removed [m]", "alignment.removed.offset_m", "{:.3f}"),
    ]
    return _known(rows)


def _verdicts(twin: TwinComparison, kinds: list[Differences]) -> tuple[Table, ...]:
    """Return the verdict by each kind of distance, and which of them decides."""
    if not kinds:
        return ()
    rows = tuple(
        (d.what, d.verdict, *(part.verdict for part in d.parts.values()), "yes" if decides else "")
        for d in kinds
        for decides in [d is twin.judged]
    )
    return (
        Table(
            title="Verdicts",
            caption="The distance to the true surface decides where it is known: voxels hide what "
            "is smaller than they are.",
            columns=("by", "verdict", "means", "deviations", "shares", "decides"),
            rows=rows,
            hints=tuple(f"{as_text(d)}." for d in kinds),
        ),
    )


def _differences(twin: TwinComparison, d: Differences) -> Table:
    rows, hints = [], []
    for name, part in d.parts.items():
        i, unit = part.interval, "" if name == "share" else " [m]"
        rows.append(
            (
                f"{name}{unit}",
                f"{i.estimate:+.4f}",
                f"{i.low:+.4f}",
                f"{i.high:+.4f}",
                f"{part.margin:g}",
                f"{part.p_value:.4f}",
                part.verdict,
            )
        )
        hints.append(
            f"{twin.b.label} minus {twin.a.label}; expanded percentile interval of draws of "
            f"{i.n_blocks} cubes, standard error {i.standard_error:.4f}"
        )
    return Table(
        title=f"Difference: {d.what}",
        caption=f"Cubes of {d.block.edge:g} m, drawn "
        f"{'for both maps together' if twin.choices.choices.shares_blocks else 'apart'}; "
        f"{1 - 2 * d.mean.alpha:.0%} intervals.",
        columns=("of", "difference", "low", "high", "margin", "p (TOST)", "verdict"),
        rows=tuple(rows),
        hints=tuple(hints),
    )


def _sight(kinds: list[Differences]) -> tuple[Table, ...]:
    if not kinds:
        return ()
    noises = [noise for noise, _ in kinds[0].sight]
    return (
        Table(
            title="What the margins can see",
            caption="Noise on each axis, added to the first map: a difference that is not noticed "
            "would count as equivalent. Voxels hide what is smaller than they are.",
            columns=("noise [m]", *(d.what for d in kinds)),
            rows=tuple(
                (f"{noise:g}", *("noticed" if d.sight[k][1] else "not noticed" for d in kinds))
                for k, noise in enumerate(noises)
            ),
        ),
    )
