# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Declarations of all metrics of a map's result, and the schema of the other fields.

Compute a new metric in `MapEvaluation.metrics` and declare it here: its table row, schema entry,
aliases and reference line are generated. Texts that a template names and the result does not hold
(`what`, `measured_to`, …) come from `tables.context_of`.
"""

from functools import partial
from typing import Any

from aerotwin_core import metric
from aerotwin_core.metric import MetricSet, mapping_schema, optional_schema

_SHARE = {"type": "number", "minimum": 0.0, "maximum": 1.0}
_DISTANCE = {"type": ["number", "null"], "minimum": 0.0}
Metric = partial(metric.Metric, kind={"type": ["number", "null"]})

_ALL_POINTS = mapping_schema(
    mean_m=_DISTANCE, rmse_m=_DISTANCE, median_m=_DISTANCE, max_m=_DISTANCE
)
_REMOVED = mapping_schema(
    offset_m={"type": "number"},
    yaw_deg={"type": "number"},
    tilt_deg={"type": "number"},
    scale_percent={"type": "number"},
)
_ENTROPY = mapping_schema(
    share_judged=_SHARE,
    radius_m={"type": "number"},
)
_PROTOCOL = mapping_schema(
    name={"type": "string"}, hash={"type": "string"}, choices={"type": "object"}
)

_MAP = mapping_schema(
    n_points={"type": "integer", "minimum": 1},
    n_voxels={"type": "integer", "minimum": 1},
    is_pose_known={"type": "boolean"},
    alignment=mapping_schema(
        converged={"type": "boolean"},
        reason={"type": "string"},
        T_reference_estimate={"type": "array", "minItems": 4, "maxItems": 4},
        scale={"type": "number"},
        information=optional_schema(
            {
                "type": "array",
                "title": "inverse covariance: shift [1/m^2], turn about centre_reference [1/rad^2]",
                "minItems": 6,
                "maxItems": 6,
            }
        ),
        centre_reference=optional_schema({"type": "array", "minItems": 3, "maxItems": 3}),
        removed=_REMOVED,
        open_directions={"type": "array", "items": {"type": "string"}},
        open_motions={
            "type": "array",
            "title": "per open direction: shift, turn about centre_reference times the RMS radius",
            "items": {"type": "array", "minItems": 6, "maxItems": 6},
        },
    ),
    correspondences=mapping_schema(
        n={"type": "integer", "minimum": 0},
        std_m=_DISTANCE,
        rmse_m=_DISTANCE,
        histogram=mapping_schema(edges_m={"type": "array"}, counts={"type": "array"}),
    ),
    floor=optional_schema(
        mapping_schema(mean_m=_DISTANCE, std_m=_DISTANCE, region={"type": "string"})
    ),
    planes=optional_schema(
        mapping_schema(
            spacing_m=_DISTANCE,
            share=_SHARE,
            distance=_ALL_POINTS,
            floor=mapping_schema(mean_m=_DISTANCE, std_m=_DISTANCE, rmse_m=_DISTANCE),
        )
    ),
    surface=optional_schema(
        mapping_schema(
            unaligned=_ALL_POINTS,
            aligned=_ALL_POINTS,
            removed=_REMOVED,
        )
    ),
    rejection_curve={
        "type": "array",
        "items": mapping_schema(cut_m={"type": "number"}, share=_SHARE),
    },
    completeness=mapping_schema(
        n_samples={"type": "integer"}, region={"type": "string"}, within={"type": "object"}
    ),
    both_ways=mapping_schema(
        accuracy=_ALL_POINTS,
        completeness=_ALL_POINTS,
        precision_recall={
            "type": "array",
            "items": mapping_schema(
                threshold_m={"type": "number"}, precision=_SHARE, recall=_SHARE, f=_SHARE
            ),
        },
        chamfer=mapping_schema(
            sum_m={"type": "number"},
            squared_m2={"type": "number"},
        ),
        hausdorff={"type": "object"},
    ),
    wasserstein=mapping_schema(
        n_voxels={"type": "integer"},
        n_occupied={"type": "integer"},
        n_of_map={"type": "integer"},
        share_judged=_SHARE,
        voxel_m={"type": "number"},
        refused={"type": ["string", "null"]},
    ),
    entropy=_ENTROPY,
    sensitivity={
        "type": "array",
        "items": mapping_schema(name={"type": "string"}, smallest_seen_m=_DISTANCE),
    },
    controls={"type": "array", "items": mapping_schema(name={"type": "string"})},
    protocol=_PROTOCOL,
)

_STATISTICS = mapping_schema(
    n_points={"type": "integer", "minimum": 1},
    n_voxels={"type": "integer", "minimum": 1},
    bounds_m={"type": "array", "minItems": 2, "maxItems": 2},
    share_alone=_SHARE,
    entropy=_ENTROPY,
    protocol=_PROTOCOL,
)

_UNMOVED, _MOVED = "where the SLAM put it", "moved onto the surface: its shape alone"
_TO_SURFACE = "distance of every map point to the nearest triangle (Embree); none is left out"
_TO_NEAREST = "distance of every map point to the nearest of the {measured_to}; none is left out"
_CUT = "{protocol[choices][cut_m]:g} m"
_PAIRS = f"over map points whose nearest of the {{what}} is at most {_CUT} away, after alignment"
_FLOOR = (
    "samples of the {floor[region]}, one per {protocol[choices][floor_spacing_m]:g} m, aligned and "
    "cut by the same protocol"
)
_PLANE = (
    "plane through the nearest reference point and the eight around it; where there is none "
    "({share_without_plane} of the map) to the nearest point"
)
_REMOVED_BY = "from the transform of the alignment, at the centre of the map"
_BOTH_WAYS = "from every map point to the reference and from every sample of it to the map"
_PERCENTILE = "larger of the two directed percentiles of the distances"
_JUDGED = "over {entropy[n_judged]} neighbourhoods of {entropy[radius_m]:g} m"

_SHARPNESS = (
    Metric("entropy.mme", "mean map entropy (MME)", "lower is sharper",
           f"mean of 1/2 ln det(2 pi e Sigma) {_JUDGED}, Sigma the covariance of the points in m^2",
           unit="nat", better="lower", title="mean map entropy", aliases=("mme",),
           table="sharpness"),
    Metric("entropy.thickness_median_m", "thickness of surfaces, median",
           "of noise and double walls",
           f"root of the smallest eigenvalue of Sigma, median {_JUDGED}", unit="m",
           better="lower", title="thickness of surfaces", table="sharpness"),
    Metric("entropy.share_judged", "points judged by it", "the others are too lonely",
           "neighbourhoods with enough points, of {entropy[n_sampled]} looked at", shown_in="%",
           digits=1, table="sharpness"),
)  # fmt: skip

MAP_METRICS = MetricSet(
    title="Map",
    structure=_MAP,
    usual={
        "what": "reference", "measured_to": "reference", "share_without_plane": "a share",
    },
    metrics=(
        Metric("n_points", "points", "of the map", table=""),
        Metric("n_voxels", "voxels", "of the reference that can be measured to", table=""),
        Metric("is_pose_known", "pose known", "whether the map has its true pose",
               aliases=("is_pose_given",), table=""),
        Metric("surface.unaligned.rmse_m", "to the true surface, unaligned, RMSE", _UNMOVED,
               f"root of the mean square {_TO_SURFACE}", unit="m", better="lower",
               title="map error, unaligned, RMSE", aliases=("map_rmse_m",), needs="surface"),
        Metric("surface.unaligned.mean_m", "to the true surface, unaligned, mean", _UNMOVED,
               f"mean {_TO_SURFACE}", unit="m", needs="surface"),
        Metric("surface.unaligned.p95_m", "to the true surface, unaligned, 95 %",
               "one in 20 is worse", f"95th percentile of the {_TO_SURFACE}", unit="m",
               needs="surface"),
        Metric("surface.aligned.rmse_m", "to the true surface, aligned, RMSE", _MOVED,
               f"root of the mean square {_TO_SURFACE}; the map is first moved onto the surface, "
               "point to plane", unit="m", better="lower", title="map error, aligned, RMSE",
               aliases=("map_aligned_rmse_m",), needs="surface"),
        Metric("both_ways.accuracy.rmse_m", "to {measured_to}, unaligned, RMSE", _UNMOVED,
               f"root of the mean square {_TO_NEAREST}", unit="m", better="lower",
               needs="is_placed_without_surface"),
        Metric("both_ways.accuracy.mean_m", "to {measured_to}, unaligned, mean", _UNMOVED,
               f"mean {_TO_NEAREST}", unit="m", needs="is_placed_without_surface"),
        Metric("correspondences.n", "correspondences", f"within {_CUT} of {{what}}",
               f"count {_PAIRS} (Beam et al. 2024, table II)", unit="points", digits=0),
        Metric("correspondences.share", "correspondences, share", "what was not cut",
               "count of correspondences divided by all map points", unit="1", shown_in="%",
               digits=1, better="higher", title="share within the cut", aliases=("map_share",),
               kind={"type": ["number", "null"], "minimum": 0.0, "maximum": 1.0}),
        Metric("correspondences.mean_m", "to {what}, mean", "as published",
               f"mean distance {_PAIRS}", unit="m", better="lower",
               title="mean of the correspondences", aliases=("map_mean_m",)),
        Metric("correspondences.std_m", "to {what}, standard deviation",
               "their spread, as published",
               f"standard deviation (divided by n) of the distance {_PAIRS}", unit="m"),
        Metric("correspondences.rmse_m", "to {what}, RMSE", "large ones count more",
               f"root of the mean square distance {_PAIRS}", unit="m"),
        Metric("boxes.mean_m", "to voxels as boxes, mean", "0 inside a voxel",
               f"mean distance to the nearest voxel as a cube, over points within {_CUT} of one",
               unit="m", needs="boxes"),
        Metric("floor.mean_m", "floor, mean", "what a perfect map scores", _FLOOR, unit="m",
               needs="floor"),
        Metric("floor.std_m", "floor, standard deviation", "of a perfect map", _FLOOR, unit="m",
               needs="floor"),
        Metric("floor.removed.offset_m", "floor, offset by its alignment",
               "an error of the voxels",
               "how far the alignment moves the centre of those samples, which should not move",
               unit="m", needs="floor"),
        Metric("planes.spacing_m", "spacing of the reference", "what it cannot show",
               "root of the median area of a reference point, by the reach of its eight "
               "neighbours", unit="m", aliases=("spacing_m",), needs="planes"),
        Metric("planes.floor.mean_m", "floor by that spacing, mean", "what a perfect map scores",
               "the map's points within the cut, moved onto the planes, to the nearest point",
               unit="m", needs="planes"),
        Metric("planes.distance.mean_m", "to planes through the reference, mean",
               "the spacing left out", f"mean distance of all map points to the {_PLANE}",
               unit="m", needs="planes"),
        Metric("planes.distance.rmse_m", "to planes through the reference, RMSE",
               "judge by this one",
               f"root of the mean square distance of all map points to the {_PLANE}", unit="m",
               better="lower", title="map error to planes, RMSE", aliases=("map_plane_rmse_m",),
               needs="planes"),
        Metric("alignment.removed.offset_m", "removed: offset", "how far the map was shifted",
               _REMOVED_BY, unit="m"),
        Metric("alignment.removed.yaw_deg", "removed: yaw", "turned about the vertical",
               _REMOVED_BY, unit="deg"),
        Metric("alignment.removed.tilt_deg", "removed: tilt", "and tilted", _REMOVED_BY,
               unit="deg"),
        Metric("alignment.removed.scale_percent", "removed: scale",
               "how much larger the map was made", "scale of the similarity (Sim(3)) minus one",
               unit="%", needs="protocol.choices.with_scale"),
        Metric("both_ways.accuracy.mean_m", "accuracy, mean", "map to reference",
               "mean distance from all map points to the reference, nothing cut", unit="m",
               aliases=("accuracy_m",), table="both ways"),
        Metric("both_ways.completeness.mean_m", "completeness, mean", "reference to map",
               "mean distance from {both_ways[completeness][n]} reference samples to the map",
               unit="m", aliases=("completeness_m",), table="both ways"),
        Metric("both_ways.chamfer.sum_m", "Chamfer, sum", "of distances, both ways",
               f"sum of the mean distances {_BOTH_WAYS}", unit="m", table="both ways"),
        Metric("both_ways.chamfer.mean_m", "Chamfer, mean", "of distances, both ways", unit="m",
               better="lower", title="Chamfer, mean of both ways", aliases=("chamfer_m",),
               table=""),
        Metric("both_ways.chamfer.squared_m2", "Chamfer, squares", "of squares, both ways",
               f"sum of the mean squared distances {_BOTH_WAYS}", unit="m^2", table="both ways"),
        Metric("both_ways.hausdorff.symmetric_m.p90", "Hausdorff, 90 %", "both ways", _PERCENTILE,
               unit="m", table="both ways"),
        Metric("both_ways.hausdorff.symmetric_m.p95", "Hausdorff, 95 %", "both ways", _PERCENTILE,
               unit="m", aliases=("hausdorff95_m",), table="both ways"),
        Metric("both_ways.hausdorff.symmetric_m.p99", "Hausdorff, 99 %", "both ways", _PERCENTILE,
               unit="m", table="both ways"),
        Metric("both_ways.hausdorff.symmetric_m.p100", "Hausdorff, 100 %", "both ways",
               f"{_PERCENTILE}: the classical one, made by one point", unit="m",
               table="both ways"),
        Metric("wasserstein.mean_m", "Wasserstein (AWD)",
               "{wasserstein[n_voxels]} of the map's {wasserstein[n_of_map]} voxels have enough",
               "mean over voxels of {wasserstein[voxel_m]:g} m with "
               "{protocol[choices][awd_min_points]} points of both or more of the exact "
               "Bures-Wasserstein distance of their Gaussians; 0 for identical clouds", unit="m",
               better="lower", title="Wasserstein (AWD)", aliases=("awd_m",), table="both ways"),
        Metric("wasserstein.consistency", "spatial consistency (SCS)", "0 = even errors",
               "mean over voxels of standard deviation / mean of that distance among 11^3 voxels",
               unit="1", table="both ways"),
        *_SHARPNESS,
        Metric("middle.precision", "precision", "at the middle threshold of the protocol",
               aliases=("precision",), table=""),
        Metric("middle.recall", "recall", "at the middle threshold of the protocol",
               shown_in="%", digits=0, better="higher", aliases=("recall",), table=""),
        Metric("middle.f", "F", "at the middle threshold of the protocol", aliases=("f",),
               table=""),
    ),
)  # fmt: skip
"""Of the section `map`; what stands in `middle` is added by the command."""

STATISTICS_METRICS = MetricSet(
    title="Map without reference",
    structure=_STATISTICS,
    metrics=(
        Metric("n_points", "points", "all of the file", unit="points", digits=0),
        Metric("n_voxels", "voxels", "that hold a point", table=""),
        Metric("points_per_voxel", "points per voxel", "density",
               "all points divided by the {n_voxels} voxels of {protocol[choices][voxel_m]:g} m "
               "that hold one", unit="points", digits=1),
        Metric("share_alone", "lonely points", "loose",
               "points with no other within {protocol[choices][entropy_radius_m]:g} m",
               shown_in="%", digits=1),
        *_SHARPNESS,
    ),
)  # fmt: skip

ALIASES = MAP_METRICS.aliases()
"""Short names of --fail-if; precision, recall and F at the middle threshold of the protocol."""
MAP_SCHEMA: dict[str, Any] = MAP_METRICS.schema()
STATISTICS_SCHEMA: dict[str, Any] = STATISTICS_METRICS.schema()
"""Of a map without reference."""
