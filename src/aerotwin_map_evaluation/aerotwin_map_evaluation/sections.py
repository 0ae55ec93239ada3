# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map evaluation as a chapter of a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.charts import default_limits
from aerotwin_core.metric import score_table
from aerotwin_core.plots import TRUTH, colour_table
from aerotwin_core.ply import write_ply
from aerotwin_core.section import Figure, Headline, PointLayer, ReportScene, Section
from aerotwin_map_evaluation import figures, tables
from aerotwin_map_evaluation.declared_metrics import (
    MAP_METRICS,
    MAP_SCHEMA,
    STATISTICS_METRICS,
    STATISTICS_SCHEMA,
)
from aerotwin_map_evaluation.no_reference import MapStatistics
from aerotwin_map_evaluation.result import MapEvaluation
from aerotwin_map_evaluation.tables import VOXEL_MEAN, VOXEL_STD, verdict, warnings
from aerotwin_report import write_report

_MAX_REFERENCE_POINTS = 300_000
# With fewer neighbourhoods judged, sharpness is that of a few clumps and not of the map.
_FEW_JUDGED = 0.1
CLOUD_NAME = "map_error.ply"
_GREY = 128


def section(
    evaluation: MapEvaluation,
    *,
    title: str = "Map",
    name: str = "map",
    has_pictures: bool = True,
) -> Section:
    """Return the chapter of a map evaluation; without pictures where another one shows them."""
    return Section(
        title=title,
        name=name,
        verdict=verdict(evaluation),
        text=_text(evaluation),
        headline=_headline(evaluation),
        scenes=(scene(evaluation),) if has_pictures else (),
        figures=_figures(evaluation, name) if has_pictures else (),
        tables=(
            score_table("Scores", tables.main_scores(evaluation)),
            tables.threshold_table(evaluation),
            tables.both_ways_table(evaluation),
            *tables.sensitivity_table(evaluation),
            *tables.control_table(evaluation),
            tables.alignment_table(evaluation),
        ),
        metrics=evaluation.metrics(),
        schema=MAP_SCHEMA,
        warnings=tuple(warnings(evaluation)),
    )


def _text(evaluation: MapEvaluation) -> str:
    p, choices = evaluation.protocol, evaluation.choices
    edge = evaluation.reference.edge_m
    of = "" if edge is None else f" of {edge:.3g} m"
    how = {
        "none": "The map is judged where it stands; nothing is aligned.",
        "icp": f"The map is aligned to {len(evaluation.voxels_map)} {evaluation.reference.what}"
        f"{of} by ICP ({p.method.replace('_', ' ')}, radius {p.radius_m:g} m, "
        f"{p.relative_tolerance:g}, {p.max_iterations} iterations).",
    }
    how["coarse"] = f"From any yaw and up to 20 m off. {how['icp']}"
    boxes = f" {len(p.boxes)} regions take part in it." if p.boxes else ""
    text = (
        f"All {len(evaluation.points_map)} map points, nothing trimmed. Protocol "
        f"{choices.name} ({choices.hash}). {how[p.align]}{boxes} Points within {p.cut_m:g} m are "
        "correspondences, as in Beam et al. 2024."
    )
    if evaluation.reference.surface is None:
        return f"{text}\n\nThe true surface was not given. {_without_surface(evaluation)}"
    return (
        f"{text}\n\nRead it with the floor: a perfect map does not score zero against voxel "
        "centres, but about half a voxel, and noise hardly shows. Judge by the distance to the "
        "true surface."
    )


def _without_surface(evaluation: MapEvaluation) -> str:
    """Say which part of a distance to voxels or points is not the map's."""
    if evaluation.planes is None:
        return (
            f"A perfect map scores {VOXEL_MEAN:.3f} of an edge against voxel centres, with a "
            f"standard deviation of {VOXEL_STD:.3f}."
        )
    return (
        "A perfect map does not score zero against points, but about half of their spacing: the "
        "floor of the table. The distance to planes through them leaves the spacing out."
    )


def _headline(evaluation: MapEvaluation) -> tuple[Headline, ...]:
    context = tables.context_of(evaluation)
    pairs, floor, planes = context["correspondences"], context["floor"], context["planes"]
    tiles = []
    if context["surface"] is not None or evaluation.is_pose_known:
        tiles.append(_error_tile(evaluation, context))
    if planes is not None:
        tile = MAP_METRICS["planes.distance.rmse_m"].tile(
            context,
            label="Map to planes",
            show="{:.3g}".format,
            meaning="RMS distance of all map points to planes through the reference points"
            + ("" if evaluation.is_pose_known else ", aligned to them"),
            computed="plane through the nearest reference point and the eight around it: the "
            "spacing of the reference is left out",
        )
        tiles.append(tile)
        floor = planes["floor"]
    beside = f"; a perfect map scores {floor['mean_m']:.2f} m" if floor and floor["mean_m"] else ""
    middle, cut_m = context["middle"], evaluation.protocol.cut_m
    return (
        *tiles,
        MAP_METRICS["correspondences.mean_m"].tile(
            context,
            label=f"Map to {context['what']}",
            is_dash_bare=True,
            show="{:.2f}".format,
            meaning=f"mean over {pairs['share']:.0%} of the points{beside}",
            status="neutral" if context["alignment"]["converged"] else "warn",
            computed=f"mean distance after alignment of the points within {cut_m:g} m",
        ),
        MAP_METRICS["middle.recall"].tile(
            context,
            label="Map completeness",
            meaning=f"of the reference ({evaluation.samples.region}) has a map point within "
            f"{middle['threshold_m']:g} m; F = {middle['f']:.2f}",
            computed="share of the reference's samples, each of the same area",
        ),
    )


def _error_tile(evaluation: MapEvaluation, context: dict[str, Any]) -> Headline:
    path, fitted, nearest = "both_ways.accuracy.rmse_m", "nothing fitted", "one"
    what = context["measured_to"]
    if context["surface"] is not None:
        what, nearest = tables.TO["surface"], "triangle"
        path = f"surface.{'unaligned' if evaluation.is_pose_known else 'aligned'}.rmse_m"
        fitted = fitted if evaluation.is_pose_known else "aligned to it"
    the = "" if what.startswith("the ") else "the "
    return MAP_METRICS[path].tile(
        context,
        label="Map error",
        show="{:.2f}".format,
        meaning=f"RMS distance of all map points to {the}{what}, {fitted}",
        computed=f"root mean square over all points of the distance to the nearest {nearest}",
    )


def scene(evaluation: MapEvaluation) -> ReportScene:
    """Return the map coloured by its error over the reference, as an interactive 3D view."""
    surface = evaluation.reference.surface
    reference = evaluation.voxels_map if surface is None else evaluation.samples.points_map
    step = max(1, len(reference) // _MAX_REFERENCE_POINTS)
    what = evaluation.reference.what if surface is None else "surface asked for"
    return ReportScene(
        title="Map coloured by error",
        caption=f"Colour: {_meaning(evaluation)}.",
        layers=(
            PointLayer(
                name="map",
                points_map=evaluation.judged_points_map,
                values=evaluation.judged_distances,
                unit="m",
            ),
            PointLayer(name=what, points_map=reference[::step], colour=TRUTH),
        ),
    )


def _meaning(evaluation: MapEvaluation) -> str:
    if evaluation.surface_distances is None:
        state = "the map where it stands" if evaluation.is_pose_known else "after alignment"
        return f"distance to the nearest of the {tables.measured_to(evaluation)}, {state}"
    if evaluation.is_pose_known:
        return "distance to the true surface, the map where it stands"
    return "distance to the true surface after alignment to it"


def _figures(evaluation: MapEvaluation, name: str) -> tuple[Figure, ...]:
    what = _meaning(evaluation)
    views = (("top", "from above", "East is right, north is up."), ("front", "from the south", ""))
    pictures = [
        Figure(
            title=f"Map coloured by error, {tokens}",
            caption=f"Colour: {what}. {more}".strip(),
            svg=figures.coloured_map(evaluation, f"{name}-{view}", view=view),
        )
        for view, tokens, more in views
    ]
    pictures += [
        Figure(
            title="Distances of the correspondences",
            caption="Where map and floor agree, the voxels and not the map make the figure."
            if evaluation.floor is not None
            else "Density over the distance, up to the cut.",
            svg=figures.histogram(evaluation, f"{name}-histogram"),
        ),
        Figure(
            title="What the cut hides",
            caption="Points beyond the cut are dropped by the protocol: a low share flatters. "
            "Dotted: the protocol's cut.",
            svg=figures.rejection(evaluation, f"{name}-rejection"),
        ),
        Figure(
            title="How far from each other",
            caption="Share of the map near the reference, and of the reference near the map.",
            svg=figures.cumulative(evaluation, f"{name}-cumulative"),
        ),
        Figure(
            title="Precision, recall and F over the threshold",
            caption="Precision looks from the map, recall from the reference.",
            svg=figures.precision_recall(evaluation, f"{name}-f"),
        ),
    ]
    if evaluation.sensitivity:
        pictures.append(
            Figure(
                title="What noise each metric can see",
                caption="A perfect map made noisier: how much each metric rises. A flat line is a "
                "metric that does not see the noise.",
                svg=figures.sensitivity(evaluation, f"{name}-sensitivity"),
            )
        )
    pictures.append(
        Figure(
            title=f"Map over the {evaluation.reference.what}, from above",
            caption="The aligned map and what its correspondences are measured against.",
            svg=figures.map_and_voxels(evaluation, f"{name}-voxels"),
        )
    )
    return tuple(pictures)


def statistics_section(
    statistics: MapStatistics, *, title: str = "Map without reference", name: str = "map"
) -> Section:
    """Return the chapter of a map that has no reference."""
    numbers = statistics.metrics()
    scores = [
        row for part in ("scores", "sharpness") for row in STATISTICS_METRICS.scores(numbers, part)
    ]
    entropy = STATISTICS_METRICS["entropy.mme"]
    return Section(
        title=title,
        name=name,
        verdict=statistics_verdict(statistics),
        text="Nothing here knows whether the map is right: sharpness sees noise and double walls, "
        "not drift, scale or what is missing. Compare only maps of the same place, scale and "
        f"density.\n\nProtocol {statistics.choices.name} ({statistics.choices.hash}).",
        headline=(entropy.tile(numbers, label="Mean map entropy", show="{:.2f}".format),),
        scenes=(_statistics_scene(statistics),),
        figures=(
            Figure(
                title="Thickness of surfaces",
                caption="Share of neighbourhoods thinner than x: left is sharper.",
                svg=figures.entropy(statistics, f"{name}-thickness"),
            ),
        ),
        tables=(score_table("Scores without reference", scores),),
        metrics=numbers,
        schema=STATISTICS_SCHEMA,
    )


def statistics_verdict(statistics: MapStatistics) -> str:
    """Return the result of a map without reference in one sentence."""
    entropy = statistics.entropy.plain()
    if entropy["share_judged"] < _FEW_JUDGED:
        return (
            f"The map is too sparse to judge its sharpness: {entropy['share_judged']:.1%} of the "
            f"neighbourhoods of {entropy['radius_m']:g} m hold "
            f"{statistics.protocol.entropy_min_points} points; widen entropy_radius_m."
        )
    return (
        f"Surfaces of the map are {entropy['thickness_median_m']:.3f} m thick (median, MME "
        f"{entropy['mme']:.2f} nat); whether they stand in the right place is not known without a "
        "reference."
    )


def _statistics_scene(statistics: MapStatistics) -> ReportScene:
    entropy = statistics.entropy
    return ReportScene(
        title="Map coloured by thickness",
        caption="Grey: too few points near.",
        layers=(
            PointLayer(
                name="map",
                points_map=entropy.positions,
                values=entropy.thickness_m,
                unit="m",
                quantity="thickness",
            ),
        ),
    )


def write_evaluation(
    folder: Path,
    evaluation: MapEvaluation,
    configuration: Mapping[str, Any],
    warnings: Sequence[str] = (),
) -> None:
    """Write report.html, metrics.json and map_error.ply into a folder, created if missing."""
    write_chapter(folder, section(evaluation), configuration, warnings)
    write_error_cloud(
        folder / CLOUD_NAME, evaluation.judged_points_map, evaluation.judged_distances
    )


def write_chapter(
    folder: Path, chapter: Section, configuration: Mapping[str, Any], warnings: Sequence[str] = ()
) -> None:
    """Write a report of one chapter."""
    write_report(
        folder,
        title="Map evaluation",
        sections=[chapter],
        configuration=configuration,
        warnings=warnings,
    )


def write_error_cloud(path: Path, points_map: np.ndarray, distances: np.ndarray) -> None:
    """Write points (n, 3) with their error (n,) [m] as a scalar and as a colour.

    Properties: x, y, z (double, m), `error_m` (float; NaN where nothing is near), red, green, blue
    (0 to the 95th percentile; grey where nothing is near).
    """
    low, high = default_limits(distances)
    is_near = np.isfinite(distances)
    share = (np.where(is_near, distances, low) - low) / (high - low)
    colours = colour_table()[np.clip(np.rint(share * 255.0), 0, 255).astype(np.int64)]
    colours[~is_near] = _GREY
    columns = {name: points_map[:, k] for k, name in enumerate("xyz")}
    columns["error_m"] = np.where(is_near, distances, np.nan).astype(np.float32)
    columns |= {name: colours[:, k] for k, name in enumerate(("red", "green", "blue"))}
    with atomic_file(path) as file:
        write_ply(columns, file)
