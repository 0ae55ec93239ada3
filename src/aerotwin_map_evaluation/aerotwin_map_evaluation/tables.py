# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a map's chapter: every number with unit, meaning and how it was computed."""

from typing import Any

from aerotwin_core.metric import Score, score_table
from aerotwin_core.section import Table
from aerotwin_map_evaluation.declared_metrics import MAP_METRICS
from aerotwin_map_evaluation.result import MapEvaluation

_BOTH_WAYS = ("both ways", "sharpness")
TO = {
    "boxes": "voxels as boxes",
    "planes": "planes through the reference points",
    "surface": "the true surface",
}


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
        "is_placed_without_surface": evaluation.is_pose_given and numbers["surface"] is None,
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
