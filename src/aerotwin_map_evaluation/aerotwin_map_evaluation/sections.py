# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map evaluation as a section of a report."""

from typing import Any

from aerotwin_core.section import MEASURE_COLUMNS, Figure, Headline, Section, Table, measure
from aerotwin_map_evaluation import figures
from aerotwin_map_evaluation.result import MapEvaluation


def section(evaluation: MapEvaluation, *, title: str = "Map", name: str = "map") -> Section:
    """Return the section of a map evaluation."""
    return Section(
        title=title,
        name=name,
        text=_text(evaluation),
        headline=_headline(evaluation),
        figures=_figures(evaluation, name),
        tables=(
            Table(title="Scores", columns=MEASURE_COLUMNS, rows=tuple(rows(evaluation))),
            *_within_table(evaluation),
            *_control_table(evaluation),
        ),
        metrics=evaluation.metrics(),
        warnings=tuple(_warnings(evaluation)),
    )


def _text(evaluation: MapEvaluation) -> str:
    p = evaluation.protocol
    return (
        f"All {len(evaluation.points_map)} map points, nothing trimmed. Protocol of Beam et al. "
        f"2024: the map is aligned to {len(evaluation.voxels_map)} voxel centres of "
        f"{p.voxel_m:g} m by ICP (radius {p.radius_m:g} m, {p.relative_tolerance:g}, "
        f"{p.max_iterations} iterations); points within {p.cut_m:g} m of one are correspondences."
        "\n\n"
        "Read it with the floor: a perfect map does not score zero against voxel centres, but "
        "about half a voxel, and noise hardly shows. Judge by the distance to the true surface."
    )


def rows(evaluation: MapEvaluation) -> list[tuple[Any, ...]]:
    """Return *quantity, value, unit, meaning* of the main scores."""
    numbers = evaluation.metrics()
    pairs, floor, surface = numbers["correspondences"], numbers["floor"], numbers["surface"]
    removed = numbers["alignment"]["removed"]
    what = "reference points" if surface is None else "voxel centres"
    cells = []
    if surface is not None:
        given, aligned = surface["unaligned"], surface["aligned"]
        cells += [
            measure(
                "to the true surface, unaligned, RMSE", given["rmse_m"], "m", "map where it stands"
            ),
            measure("to the true surface, unaligned, mean", given["mean_m"], "m", "the same"),
            measure(
                "to the true surface, unaligned, 95 %", given["p95_m"], "m", "1 in 20 is worse"
            ),
            measure(
                "to the true surface, aligned to it, RMSE",
                aligned["rmse_m"],
                "m",
                "shape of the map, its pose taken out",
            ),
        ]
    cells += [
        (
            "correspondences",
            str(pairs["n"]),
            "points",
            f"within {evaluation.protocol.cut_m:g} m of one",
        ),
        measure("correspondences, share", pairs["share"] * 100, "%", "of all points", digits=1),
        measure(f"to {what}, mean", pairs["mean_m"], "m", "table II of the paper"),
        measure(f"to {what}, standard deviation", pairs["std_m"], "m", "table II"),
        measure(f"to {what}, RMSE", pairs["rmse_m"], "m", "the same"),
    ]
    if floor is not None:
        cells += [
            measure("floor, mean", floor["mean_m"], "m", "a perfect map by the same protocol"),
            measure("floor, standard deviation", floor["std_m"], "m", "the same"),
            measure(
                "floor, offset by its alignment",
                floor["removed"]["offset_m"],
                "m",
                "how far the ICP moves a perfect map: an error of the voxels",
            ),
        ]
    cells += [
        measure("removed: offset", removed["offset_m"], "m", "shift that the ICP took away"),
        measure("removed: yaw", removed["yaw_deg"], "deg", "turn about the vertical taken away"),
        measure("removed: tilt", removed["tilt_deg"], "deg", "tilt of the vertical taken away"),
    ]
    return cells


def _headline(evaluation: MapEvaluation) -> tuple[Headline, ...]:
    numbers = evaluation.metrics()
    pairs, floor, surface = numbers["correspondences"], numbers["floor"], numbers["surface"]
    tiles = []
    if surface is not None:
        part = surface["unaligned" if evaluation.is_pose_given else "aligned"]
        tiles.append(
            Headline(
                label="Map error",
                value=f"{part['rmse_m']:.2f}",
                unit="m",
                meaning="RMS distance of all map points to the true surface, "
                + ("nothing fitted" if evaluation.is_pose_given else "aligned to it"),
            )
        )
    mean = pairs["mean_m"]
    beside = f"; a perfect map scores {floor['mean_m']:.2f} m" if floor and floor["mean_m"] else ""
    tiles.append(
        Headline(
            label="Map to voxels",
            value="–" if mean is None else f"{mean:.2f}",
            unit="" if mean is None else "m",
            meaning=f"mean over {pairs['share']:.0%} of the points{beside}",
            status="neutral" if numbers["alignment"]["converged"] else "warn",
        )
    )
    if evaluation.samples is not None:
        limit, share = list(evaluation.completeness["within"].items())[-2]
        tiles.append(
            Headline(
                label="Map completeness",
                value=f"{share * 100.0:.0f}",
                unit="%",
                meaning=f"of the surface that the camera saw has a map point within {limit} m",
            )
        )
    return tuple(tiles)


def _figures(evaluation: MapEvaluation, name: str) -> tuple[Figure, ...]:
    if evaluation.surface_distances is None:
        what = "distance to the nearest voxel centre after alignment"
    elif evaluation.is_pose_given:
        what = "distance to the true surface, the map where it stands"
    else:
        what = "distance to the true surface after alignment to it"
    return (
        Figure(
            title="Map coloured by error, from above",
            caption=f"Colour: {what}. East is right, north is up.",
            svg=figures.coloured_map(evaluation, f"{name}-above", view="top"),
            is_wide=True,
        ),
        Figure(
            title="Map coloured by error, from the south",
            caption=f"Colour: {what}.",
            svg=figures.coloured_map(evaluation, f"{name}-front", view="front"),
            is_wide=True,
        ),
        Figure(
            title="Distribution of distances",
            caption="Where map and floor agree, the voxels and not the map make the figure.",
            svg=figures.histogram(evaluation, f"{name}-histogram"),
        ),
        Figure(
            title="What the cut hides",
            caption="Points beyond the cut are dropped by the protocol: a low share kept flatters.",
            svg=figures.rejection(evaluation, f"{name}-rejection"),
        ),
        Figure(
            title="Map over the voxels, from above",
            caption="The aligned map and the voxels that it is measured against.",
            svg=figures.map_and_voxels(evaluation, f"{name}-voxels"),
            is_wide=True,
        ),
    )


def _within_table(evaluation: MapEvaluation) -> tuple[Table, ...]:
    surface = evaluation.metrics()["surface"]
    if surface is None:
        return ()
    given, aligned = surface["unaligned"]["within"], surface["aligned"]["within"]
    complete = evaluation.completeness["within"]
    cells = tuple(
        (
            f"{limit} m",
            f"{given[limit] * 100:.1f}",
            f"{aligned[limit] * 100:.1f}",
            f"{complete[limit] * 100:.1f}" if limit in complete else "–",
        )
        for limit in given
    )
    return (
        Table(
            title="Accuracy and completeness",
            columns=("within", "map points %", "map points, aligned %", "observed surface %"),
            rows=cells,
            caption="Share of map points near the surface; share of the surface seen from the true "
            "poses that is near a map point.",
        ),
    )


def _control_table(evaluation: MapEvaluation) -> tuple[Table, ...]:
    if not evaluation.controls:
        return ()
    cells = tuple(
        (
            c.name,
            f"{c.moved_m:.3f}",
            f"{c.surface_rmse_m:.3f}",
            f"{c.voxel_mean_m:.3f}",
            "–" if c.moved_m == 0.0 else "yes" if c.is_detected else "no",
        )
        for c in evaluation.controls
    )
    return (
        Table(
            title="Negative controls",
            columns=(
                "a perfect map spoilt by",
                "moved m",
                "to surface, RMSE m",
                "to voxels, mean m",
                "detected",
            ),
            rows=cells,
            caption="The distance to the surface must see each; that to voxels hardly does.",
        ),
    )


def _warnings(evaluation: MapEvaluation) -> list[str]:
    found = []
    if not evaluation.registration.converged:
        found.append(f"The alignment to the voxels failed: {evaluation.registration.reason}.")
    if any(c.moved_m > 0.0 and not c.is_detected for c in evaluation.controls):
        found.append("A negative control was not seen by the distance to the surface.")
    if evaluation.floor is None and evaluation.surface_distances is not None:
        found.append("No floor: too little of the surface lies near the map.")
    return found
