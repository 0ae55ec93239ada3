# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map evaluation as a chapter of a report."""

from aerotwin_core.plots import TRUTH
from aerotwin_core.section import Figure, Headline, PointLayer, ReportScene, Section, Table, measure
from aerotwin_map_evaluation import figures, tables
from aerotwin_map_evaluation.no_reference import MapStatistics
from aerotwin_map_evaluation.result import MapEvaluation
from aerotwin_map_evaluation.schema import MAP_SCHEMA, STATISTICS_SCHEMA
from aerotwin_map_evaluation.verdict import VOXEL_MEAN, VOXEL_STD, verdict, warnings

_MAX_REFERENCE_POINTS = 300_000
# With fewer neighbourhoods judged, sharpness is that of a few clumps and not of the map.
_FEW_JUDGED = 0.1


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
            tables.score_table(evaluation),
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
    """Say what of a distance to voxels or points is not the map's."""
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
                computed="root mean square over all points of the distance to the nearest triangle",
                better="lower",
            )
        )
    elif evaluation.is_pose_given:
        accuracy = numbers["both_ways"]["accuracy"]
        tiles.append(
            Headline(
                label="Map error",
                value=f"{accuracy['rmse_m']:.2f}",
                unit="m",
                meaning=f"RMS distance of all map points to the {tables.measured_to(evaluation)}, "
                "nothing fitted",
                computed="root mean square over all points of the distance to the nearest one",
                better="lower",
            )
        )
    planes = numbers["planes"]
    if planes is not None:
        tiles.append(
            Headline(
                label="Map to planes",
                value=f"{planes['distance']['rmse_m']:.3g}",
                unit="m",
                meaning="RMS distance of all map points to planes through the reference points"
                + ("" if evaluation.is_pose_given else ", aligned to them"),
                computed="plane through the nearest reference point and the eight around it: the "
                "spacing of the reference is left out",
                better="lower",
            ),
        )
        floor = planes["floor"]
    mean = pairs["mean_m"]
    beside = f"; a perfect map scores {floor['mean_m']:.2f} m" if floor and floor["mean_m"] else ""
    what = tables.TO.get(evaluation.protocol.distance, evaluation.reference.what)
    tiles.append(
        Headline(
            label=f"Map to {what}",
            value="–" if mean is None else f"{mean:.2f}",
            unit="" if mean is None else "m",
            meaning=f"mean over {pairs['share']:.0%} of the points{beside}",
            status="neutral" if numbers["alignment"]["converged"] else "warn",
            computed=f"mean distance after alignment of the points within "
            f"{evaluation.protocol.cut_m:g} m",
            better="lower",
        )
    )
    middle = evaluation.scores.precision_recall()[(len(evaluation.protocol.within_m) - 1) // 2]
    limit = f"{middle['threshold_m']:g} m"
    tiles.append(
        Headline(
            label="Map completeness",
            value=f"{100.0 * middle['recall']:.0f}",
            unit="%",
            meaning=f"of the reference ({evaluation.samples.region}) has a map point within "
            f"{limit}; F = {middle['f']:.2f}",
            computed="share of the reference's samples, each of the same area",
            better="higher",
        )
    )
    return tuple(tiles)


def scene(evaluation: MapEvaluation) -> ReportScene:
    """Return the map coloured by its error over the reference, to be turned and zoomed."""
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
        state = "the map where it stands" if evaluation.is_pose_given else "after alignment"
        return f"distance to the nearest of the {tables.measured_to(evaluation)}, {state}"
    if evaluation.is_pose_given:
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
            caption="Points beyond the cut are dropped by the protocol: a low share kept flatters. "
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
    entropy = numbers["entropy"]
    p = statistics.protocol
    rows: list[tables.Row] = [
        (("points", str(numbers["n_points"]), "points", "all of the file"), ""),
        (
            measure("points per voxel", numbers["points_per_voxel"], "points", "density", digits=1),
            f"all points divided by the {numbers['n_voxels']} voxels of {p.voxel_m:g} m that hold "
            "one",
        ),
        (
            measure("lonely points", 100.0 * numbers["share_alone"], "%", "loose", digits=1),
            f"points with no other within {p.entropy_radius_m:g} m",
        ),
        *tables.entropy_rows(entropy),
    ]
    mme = "–" if entropy["mme"] is None else f"{entropy['mme']:.2f}"
    return Section(
        title=title,
        name=name,
        verdict=statistics_verdict(statistics),
        text="Nothing here knows whether the map is right: sharpness sees noise and double walls, "
        "not drift, scale or what is missing. Compare only maps of the same place, scale and "
        f"density.\n\nProtocol {statistics.choices.name} ({statistics.choices.hash}).",
        headline=(
            Headline(
                label="Mean map entropy",
                value=mme,
                unit="nat",
                meaning="lower is sharper",
                computed=rows[3][1],
                better="lower",
            ),
        ),
        scenes=(_statistics_scene(statistics),),
        figures=(
            Figure(
                title="Thickness of surfaces",
                caption="Share of neighbourhoods thinner than x: left is sharper.",
                svg=figures.entropy(statistics, f"{name}-thickness"),
            ),
        ),
        tables=(
            Table(
                title="Scores without reference",
                columns=("quantity", "value", "unit", "meaning"),
                rows=tuple(row for row, _ in rows),
                hints=tuple(hint for _, hint in rows),
            ),
        ),
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
