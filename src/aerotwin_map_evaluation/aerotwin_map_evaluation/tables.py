# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a map's chapter: every number with unit, meaning and how it was computed."""

from typing import Any

from aerotwin_core.section import MEASURE_COLUMNS, Table, measure
from aerotwin_map_evaluation.result import MapEvaluation

Row = tuple[tuple[Any, ...], str]
"""A row of quantity, value, unit, meaning; and how its value was computed."""

_UNMOVED, _MOVED = "where the SLAM put it", "moved onto the surface: its shape alone"
TO = {
    "boxes": "voxels as boxes",
    "planes": "planes through the reference points",
    "surface": "the true surface",
}


def measured_to(evaluation: MapEvaluation) -> str:
    """Return what all distances are to where no surface is known: points, or planes of them."""
    is_to_planes = evaluation.protocol.distance == "planes"
    return TO["planes"] if is_to_planes else evaluation.reference.what


def score_rows(evaluation: MapEvaluation) -> list[Row]:
    """Return the main scores."""
    return [
        *_surface_rows(evaluation),
        *_correspondence_rows(evaluation),
        *_floor_rows(evaluation),
        *_plane_rows(evaluation),
        *_removed_rows(evaluation),
    ]


def score_table(evaluation: MapEvaluation) -> Table:
    """Return the table of the main scores."""
    return _measures("Scores", score_rows(evaluation))


def _measures(title: str, rows: list[Row], caption: str = "") -> Table:
    return Table(
        title=title,
        columns=MEASURE_COLUMNS,
        rows=tuple(row for row, _ in rows),
        hints=tuple(hint for _, hint in rows),
        caption=caption,
    )


def _surface_rows(evaluation: MapEvaluation) -> list[Row]:
    surface = evaluation.metrics()["surface"]
    if surface is None:
        return _unaligned_rows(evaluation) if evaluation.is_pose_given else []
    unaligned, aligned = surface["unaligned"], surface["aligned"]
    hint = "distance of every map point to the nearest triangle (Embree); none is left out"
    moved = f"{hint}; the map is first moved onto the surface, point to plane"
    return [
        (
            measure("to the true surface, unaligned, RMSE", unaligned["rmse_m"], "m", _UNMOVED),
            f"root of the mean square {hint}",
        ),
        (
            measure("to the true surface, unaligned, mean", unaligned["mean_m"], "m", _UNMOVED),
            f"mean {hint}",
        ),
        (
            measure(
                "to the true surface, unaligned, 95 %",
                unaligned["p95_m"],
                "m",
                "one in 20 is worse",
            ),
            f"95th percentile of the {hint}",
        ),
        (
            measure("to the true surface, aligned, RMSE", aligned["rmse_m"], "m", _MOVED),
            f"root of the mean square {moved}",
        ),
    ]


def _unaligned_rows(evaluation: MapEvaluation) -> list[Row]:
    """Return the distances of a placed map to a reference without surface."""
    accuracy = evaluation.metrics()["both_ways"]["accuracy"]
    what = measured_to(evaluation)
    hint = f"distance of every map point to the nearest of the {what}; none is left out"
    return [
        (measure(f"to {what}, unaligned, RMSE", accuracy["rmse_m"], "m", _UNMOVED),
         f"root of the mean square {hint}"),
        (measure(f"to {what}, unaligned, mean", accuracy["mean_m"], "m", _UNMOVED),
         f"mean {hint}"),
    ]  # fmt: skip


def _correspondence_rows(evaluation: MapEvaluation) -> list[Row]:
    numbers = evaluation.metrics()
    pairs, boxes = numbers["correspondences"], numbers["boxes"]
    what = TO.get(evaluation.protocol.distance, evaluation.reference.what)
    cut = f"{evaluation.protocol.cut_m:g} m"
    hint = f"over map points whose nearest of the {what} is at most {cut} away, after alignment"
    rows = [
        (
            ("correspondences", str(pairs["n"]), "points", f"within {cut} of {what}"),
            f"count {hint} (Beam et al. 2024, table II)",
        ),
        (
            measure(
                "correspondences, share", 100.0 * pairs["share"], "%", "what was not cut", digits=1
            ),
            "count of correspondences divided by all map points",
        ),
        (
            measure(f"to {what}, mean", pairs["mean_m"], "m", "as published"),
            f"mean distance {hint}",
        ),
        (
            measure(
                f"to {what}, standard deviation", pairs["std_m"], "m", "their spread, as published"
            ),
            f"standard deviation (divided by n) of the distance {hint}",
        ),
        (
            measure(f"to {what}, RMSE", pairs["rmse_m"], "m", "large ones count more"),
            f"root of the mean square distance {hint}",
        ),
    ]
    if boxes is not None:
        rows.append(
            (
                measure("to voxels as boxes, mean", boxes["mean_m"], "m", "0 inside a voxel"),
                f"mean distance to the nearest voxel as a cube, over points within {cut} of one",
            )
        )
    return rows


def _floor_rows(evaluation: MapEvaluation) -> list[Row]:
    numbers = evaluation.metrics()
    floor = numbers["floor"]
    if floor is None:
        return []
    how = (
        f"samples of the {floor['region']}, one per {evaluation.protocol.floor_spacing_m:g} m, "
        "aligned and cut by the same protocol"
    )
    return [
        (measure("floor, mean", floor["mean_m"], "m", "what a perfect map scores"), how),
        (measure("floor, standard deviation", floor["std_m"], "m", "of a perfect map"), how),
        (
            measure("floor, offset by its alignment", floor["removed"]["offset_m"], "m",
                    "an error of the voxels"),
            "how far the alignment moves the centre of those samples, which should not move",
        ),
    ]  # fmt: skip


def _plane_rows(evaluation: MapEvaluation) -> list[Row]:
    planes = evaluation.metrics()["planes"]
    if planes is None:
        return []
    through = (
        "plane through the nearest reference point and the eight around it; where there is none "
        f"({1.0 - planes['share']:.0%} of the map) to the nearest point"
    )
    return [
        (
            measure("spacing of the reference", planes["spacing_m"], "m", "what it cannot show"),
            "root of the median area of a reference point, by the reach of its eight neighbours",
        ),
        (
            measure("floor by that spacing, mean", planes["floor"]["mean_m"], "m",
                    "what a perfect map scores"),
            "the map's points within the cut, moved onto the planes, to the nearest point",
        ),
        (
            measure("to planes through the reference, mean", planes["distance"]["mean_m"], "m",
                    "the spacing left out"),
            f"mean distance of all map points to the {through}",
        ),
        (
            measure("to planes through the reference, RMSE", planes["distance"]["rmse_m"], "m",
                    "judge by this one"),
            f"root of the mean square distance of all map points to the {through}",
        ),
    ]  # fmt: skip


def _removed_rows(evaluation: MapEvaluation) -> list[Row]:
    alignment = evaluation.metrics()["alignment"]
    removed = alignment["removed"]
    how = "from the transform of the alignment, at the centre of the map"
    rows = [
        (measure("removed: offset", removed["offset_m"], "m", "how far the map was shifted"), how),
        (measure("removed: yaw", removed["yaw_deg"], "deg", "turned about the vertical"), how),
        (measure("removed: tilt", removed["tilt_deg"], "deg", "and tilted"), how),
    ]
    if evaluation.protocol.with_scale:
        scale = measure(
            "removed: scale", removed["scale_percent"], "%", "how much larger the map was made"
        )
        rows.append((scale, "scale of the similarity (Sim(3)) minus one"))
    return rows


def both_ways_table(evaluation: MapEvaluation) -> Table:
    """Return Chamfer, Hausdorff, Wasserstein and entropy."""
    numbers = evaluation.metrics()
    both, awd = numbers["both_ways"], numbers["wasserstein"]
    chamfer, hausdorff = both["chamfer"], both["hausdorff"]
    way = "from every map point to the reference and from every sample of it to the map"
    rows: list[Row] = [
        (measure("accuracy, mean", both["accuracy"]["mean_m"], "m", "map to reference"),
         "mean distance from all map points to the reference, nothing cut"),
        (measure("completeness, mean", both["completeness"]["mean_m"], "m", "reference to map"),
         f"mean distance from {both['completeness']['n']} reference samples to the map"),
        (measure("Chamfer, sum", chamfer["sum_m"], "m", "of distances, both ways"),
         f"sum of the mean distances {way}"),
        (measure("Chamfer, squares", chamfer["squared_m2"], "m^2", "of squares, both ways"),
         f"sum of the mean squared distances {way}"),
    ]  # fmt: skip
    rows += [
        (
            measure(f"Hausdorff, {name}", value, "m", "both ways"),
            "larger of the two directed percentiles of the distances" + end,
        )
        for name, value, end in (
            ("90 %", hausdorff["symmetric_m"]["p90"], ""),
            ("95 %", hausdorff["symmetric_m"]["p95"], ""),
            ("99 %", hausdorff["symmetric_m"]["p99"], ""),
            ("100 %", hausdorff["symmetric_m"]["p100"], ": the classical one, made by one point"),
        )
    ]
    rows.append(
        (
            measure(
                "Wasserstein (AWD)",
                awd["mean_m"],
                "m",
                f"{awd['n_voxels']} of the map's {awd['n_of_map']} voxels have enough",
            ),
            f"mean over voxels of {awd['voxel_m']:g} m with "
            f"{evaluation.protocol.awd_min_points} points of both or more of the exact "
            "Bures-Wasserstein distance of their Gaussians; 0 for identical clouds",
        )
    )
    rows.append(
        (
            measure("spatial consistency (SCS)", awd["consistency"], "1", "0 = even errors"),
            "mean over voxels of standard deviation / mean of that distance among 11^3 voxels",
        )
    )
    return _measures("Both ways", [*rows, *entropy_rows(evaluation.entropy.plain())])


def entropy_rows(entropy: dict[str, Any]) -> list[Row]:
    """Return mean map entropy and thickness; no reference is needed for them."""
    where = f"over {entropy['n_judged']} neighbourhoods of {entropy['radius_m']:g} m"
    return [
        (
            measure("mean map entropy (MME)", entropy["mme"], "nat", "lower is sharper"),
            f"mean of 1/2 ln det(2 pi e Sigma) {where}, Sigma the covariance of the points in m^2",
        ),
        (
            measure("thickness of surfaces, median", entropy["thickness_median_m"], "m",
                    "of noise and double walls"),
            f"root of the smallest eigenvalue of Sigma, median {where}",
        ),
        (
            measure("points judged by it", 100.0 * entropy["share_judged"], "%",
                    "the others are too lonely", digits=1),
            f"neighbourhoods with enough points, of {entropy['n_sampled']} looked at",
        ),
    ]  # fmt: skip


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
    """Return the smallest noise that each metric sees."""
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
    """Return what the alignment found, and what it leaves open."""
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
