# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables, summary sentence and warnings of a map's chapter."""

from typing import Any

from aerotwin_core.metric import Score, score_table
from aerotwin_core.section import Table
from aerotwin_map_evaluation.declared_metrics import MAP_METRICS
from aerotwin_map_evaluation.result import MapEvaluation
from aerotwin_map_evaluation.statistics import describe

_BOTH_WAYS = ("both ways", "sharpness")
TO = {
    "boxes": "voxels as boxes",
    "planes": "planes through the reference points",
    "surface": "the true surface",
}
# Of random points within the cut of a reference that fills space: errata_and_protocols, 1 m cut.
UNIFORM_MEAN, UNIFORM_STD = 0.500, 0.289
# Of points on surfaces of all orientations against voxel centres one apart: errata_and_protocols.
VOXEL_MEAN, VOXEL_STD = 0.480, 0.139
# A floor above this share of the distance is mentioned, above that a warning.
_FLOOR_SHOWS, _FLOOR_RULES = 0.2, 0.5
# A score this close to the floor, or to that of random points, is that and not the map's.
_CLOSE = 0.05
_FEW_RETAINED = 0.5
# With fewer of the map's voxels judged, the Wasserstein distance is that of its densest spots.
_FEW_VOXELS = 0.3


def measured_to(evaluation: MapEvaluation) -> str:
    """Return the target of all distances without a surface: points, or planes of them."""
    is_to_planes = evaluation.protocol.distance == "planes"
    return TO["planes"] if is_to_planes else evaluation.reference.what


def context_of(evaluation: MapEvaluation) -> dict[str, Any]:
    """Return the numbers with the texts that the metric declarations name."""
    numbers = evaluation.metrics()
    planes = numbers["planes"]
    return {
        **numbers,
        "middle": middle_threshold(numbers),
        "what": TO.get(evaluation.protocol.distance, evaluation.reference.what),
        "measured_to": measured_to(evaluation),
        "is_placed_without_surface": evaluation.is_pose_known and numbers["surface"] is None,
        "share_without_plane": "" if planes is None else f"{1.0 - planes['share']:.0%}",
    }


def middle_threshold(numbers: dict[str, Any]) -> dict[str, float]:
    """Return precision, recall and F at the middle threshold."""
    rows = numbers["both_ways"]["precision_recall"]
    return rows[(len(rows) - 1) // 2]


def main_scores(evaluation: MapEvaluation) -> list[Score]:
    """Return the main scores."""
    return MAP_METRICS.scores(context_of(evaluation))


def both_ways_table(evaluation: MapEvaluation) -> Table:
    """Return Chamfer, Hausdorff, Wasserstein and entropy."""
    context = context_of(evaluation)
    scores = [row for part in _BOTH_WAYS for row in MAP_METRICS.scores(context, part)]
    return score_table("Both ways", scores)


def threshold_table(evaluation: MapEvaluation) -> Table:
    """Return precision, recall and F at each threshold."""
    rows = tuple(
        (
            f"{row['threshold_m']:g} m",
            f"{100.0 * row['precision']:.1f}",
            f"{100.0 * row['recall']:.1f}",
            f"{100.0 * row['f']:.1f}",
        )
        for row in evaluation.scores.precision_recall()
    )
    samples = evaluation.samples
    area = "" if samples.area_m2 is None else f", {samples.area_m2:.0f} m^2 of surface"
    return Table(
        title="Accuracy and completeness",
        columns=("within", "precision %", "recall %", "F %"),
        rows=rows,
        column_hints=(
            "threshold",
            "share of map points within the threshold of the reference",
            "share of the reference's samples, each of the same area, with a map point within it",
            "harmonic mean of precision and recall",
        ),
        caption=f"Asked for: {samples.region}; {len(samples.points_map)} samples{area}.",
    )


def sensitivity_table(evaluation: MapEvaluation) -> tuple[Table, ...]:
    """Return the smallest noise that each metric detects."""
    if not evaluation.sensitivity:
        return ()
    rows = tuple(
        (
            f"{response.name} [{response.unit}]",
            "none of these" if seen is None else f"{seen:.3f}",
            f"{response.values[0]:.3f}",
            f"{response.values[-1]:.3f}",
        )
        for response in evaluation.sensitivity
        for seen in [response.smallest_seen_m]
    )
    largest = evaluation.protocol.sensitivity_m[-1]
    return (
        Table(
            title="What noise each metric can see",
            columns=("metric", "least seen m", "no noise", f"{largest:g} m noise"),
            rows=rows,
            column_hints=(
                "on a patch of the true surface's samples, not aligned again",
                "least standard deviation on each axis that changes the value by 5 % of it and by "
                "three standard deviations of the repeats",
                "value of a perfect map",
                "the same with Gaussian noise on each axis",
            ),
            caption="A metric that does not change with noise does not measure it.",
        ),
    )


def control_table(evaluation: MapEvaluation) -> tuple[Table, ...]:
    """Return the negative controls."""
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
            columns=("changed by", "moved m", "surface m", "voxels m", "seen"),
            rows=cells,
            column_hints=(
                "what was done to a perfect map",
                "root mean square distance that its points were moved",
                "root mean square distance to the true surface",
                f"mean distance to {evaluation.reference.what} within the cut",
                "whether the distance to the surface is a fifth of the move or more",
            ),
            caption="The distance to the surface must see each; that to voxels hardly does.",
        ),
    )


def alignment_table(evaluation: MapEvaluation) -> Table:
    """Return the result of the alignment, and what it leaves open."""
    r = evaluation.registration
    matrix = "; ".join(
        " ".join(f"{value:.6f}" for value in row) for row in evaluation.T_reference_estimate[:3]
    )
    rows = (
        ("converged", "yes" if r.converged else "no"),
        ("why", r.reason),
        ("T_reference_estimate, rows", matrix),
        ("scale", f"{evaluation.scale:.6f}"),
        ("iterations", str(r.n_iterations)),
        ("pairs", str(r.n_correspondences)),
        ("explained by the surface", f"{r.explained:.0%}"),
        ("directions left open", "; ".join(d.text for d in r.open_directions) or "none"),
    )
    return Table(
        title="Alignment",
        columns=("quantity", "value"),
        rows=rows,
        hints=(
            "settled, enough pairs, no drift, no open direction",
            "",
            "x_reference = scale R x_estimate + t; [R | t] row by row",
            "1 unless the protocol looks for it; that of --initial among it",
            "until fitness and RMSE changed by less than the tolerance",
            "points with a neighbour within the radius",
            "share of points that lie on the reference's surface with the same normal",
            "motions that the reference's surface does not oppose",
        ),
    )


def verdict(evaluation: MapEvaluation) -> str:
    """Return the result in one sentence."""
    numbers = evaluation.metrics()
    if not evaluation.is_judged:
        return (
            f"The map could not be aligned to the reference, so that nothing is judged: "
            f"{evaluation.registration.reason}."
        )
    middle = numbers["both_ways"]["precision_recall"][(len(evaluation.protocol.within_m) - 1) // 2]
    covers = (
        f"{middle['recall']:.0%} of the reference ({evaluation.samples.region}) has a map point "
        f"within {middle['threshold_m']:g} m"
    )
    if numbers["surface"] is None:
        return f"{_against_points(evaluation)}; {covers}."
    part = numbers["surface"]["unaligned" if evaluation.is_pose_known else "aligned"]
    state = "where it stands" if evaluation.is_pose_known else "after alignment"
    return (
        f"The map lies {part['rmse_m']:.2f} m (RMS; median {part['median_m']:.2f} m) from the true "
        f"surface {state}, and {covers}"
        f"{_floor_text(evaluation)}."
    )


def _against_points(evaluation: MapEvaluation) -> str:
    judged = describe(evaluation.kept(evaluation.judged_distances), len(evaluation.points_map))
    what = measured_to(evaluation)
    cut = f"{evaluation.protocol.cut_m:g} m"
    state = "where it stands" if evaluation.is_pose_known else "after alignment"
    if judged["mean_m"] is None:
        return f"No map point lies within {cut} of the {what} {state}"
    return (
        f"{judged['share']:.0%} of the map lies within {cut} of the {what} {state}, "
        f"{judged['mean_m']:.3f} m away on average" + _spacing_text(evaluation, judged["mean_m"])
    )


def _spacing_text(evaluation: MapEvaluation, mean_m: float) -> str:
    """Say how much of a mean distance is the spacing of the reference, where it shows."""
    edge, planes = evaluation.reference.edge_m, evaluation.metrics()["planes"]
    if evaluation.protocol.distance == "planes":
        return ""
    if edge is not None:
        of_voxels_m = VOXEL_MEAN * edge
        return (
            f" (a perfect map would be about {of_voxels_m:.3f} m away: they lie {edge:.3g} m apart)"
            if of_voxels_m > _FLOOR_SHOWS * mean_m
            else ""
        )
    floor_m = None if planes is None else planes["floor"]["mean_m"]
    if floor_m is None or floor_m < _FLOOR_SHOWS * mean_m:
        return ""
    return (
        f" (a perfect map would be {floor_m:.3f} m away: they lie {planes['spacing_m']:.2g} m "
        f"apart), {planes['distance']['rmse_m']:.3f} m (RMS) from planes through them"
    )


def spacing_warnings(evaluation: MapEvaluation) -> list[str]:
    """Return a warning where the scores are those of the reference's spacing, not the map's."""
    numbers = evaluation.metrics()
    mean_m, edge, planes = (
        numbers["both_ways"]["accuracy"]["mean_m"],
        evaluation.reference.edge_m,
        numbers["planes"],
    )
    is_to_points = evaluation.protocol.distance == "points"
    if evaluation.surface_distances is not None or not (is_to_points and evaluation.is_judged):
        return []
    if edge is not None and VOXEL_MEAN * edge > _FLOOR_RULES * mean_m:
        return [
            f"Most of the distance is that of the voxels: a perfect map scores about "
            f"{VOXEL_MEAN * edge:.3f} m against centres {edge:.3g} m apart. Judge by --distance "
            "boxes, or give the true surface (--surface)."
        ]
    if planes is None or planes["floor"]["mean_m"] is None:
        return []
    floor_m, spacing_m = planes["floor"]["mean_m"], planes["spacing_m"]
    # Far below the spacing the map holds the reference's own points: no floor of others.
    if floor_m > max(_FLOOR_RULES * mean_m, _FLOOR_SHOWS * spacing_m):
        return [
            f"Most of the distance is the spacing of the reference, about "
            f"{spacing_m:.2g} m: a perfect map scores {floor_m:.3f} m there, "
            "and precision, F, Chamfer and Hausdorff hold it, too. Judge by the distance "
            "to planes (--distance planes), or give a denser reference or the surface (--surface)."
        ]
    return []


def _floor_text(evaluation: MapEvaluation) -> str:
    numbers = evaluation.metrics()
    pairs, floor = numbers["correspondences"], numbers["floor"]
    if floor is None or floor["mean_m"] is None or pairs["mean_m"] is None:
        return ""
    if evaluation.protocol.distance == "surface":
        return ""
    return (
        f"; of its {pairs['mean_m']:.2f} m to {evaluation.reference.what} a perfect map has "
        f"{floor['mean_m']:.2f} m too"
    )


def warnings(evaluation: MapEvaluation) -> list[str]:
    """Return what the reader must know before trusting the numbers."""
    numbers = evaluation.metrics()
    pairs = numbers["correspondences"]
    found = []
    if not evaluation.registration.converged:
        found.append(f"The alignment to the voxels failed: {evaluation.registration.reason}.")
    if any(c.moved_m > 0.0 and not c.is_detected for c in evaluation.controls):
        found.append("A negative control was not seen by the distance to the surface.")
    if evaluation.floor is None and evaluation.surface_distances is not None:
        found.append("No floor: too little of the surface lies near the map.")
    if pairs["share"] < _FEW_RETAINED:
        found.append(
            f"Only {pairs['share']:.0%} of the points lie within {pairs['cut_m']:g} m: the figures "
            "of the correspondences are those of the points that fit."
        )
    awd = numbers["wasserstein"]
    if awd["refused"]:
        found.append(f"No Wasserstein distance is given: {awd['refused']}.")
    elif awd["share_judged"] < _FEW_VOXELS:
        found.append(
            f"The Wasserstein distance is that of {awd['n_voxels']} of the map's "
            f"{awd['n_of_map']} voxels of {awd['voxel_m']:g} m: the others hold fewer than "
            f"{evaluation.protocol.awd_min_points} points of map or reference samples."
        )
    if evaluation.open_on_surface:
        found.append(
            "The true surface does not say where the map lies by "
            f"{'; '.join(d.text for d in evaluation.open_on_surface)}: the aligned figures do not "
            "see an error of that kind."
        )
    found += spacing_warnings(evaluation)
    if _is_like_noise(evaluation):
        found.append(
            f"Random points would score {UNIFORM_MEAN:g} and {UNIFORM_STD:g} of the cut too: the "
            "figures of the correspondences do not tell this map from noise."
        )
    return found


def _is_like_noise(evaluation: MapEvaluation) -> bool:
    pairs = evaluation.metrics()["correspondences"]
    if pairs["mean_m"] is None:
        return False
    mean, std = pairs["mean_m"] / pairs["cut_m"], pairs["std_m"] / pairs["cut_m"]
    return abs(mean - UNIFORM_MEAN) < _CLOSE and abs(std - UNIFORM_STD) < _CLOSE / 2.0
