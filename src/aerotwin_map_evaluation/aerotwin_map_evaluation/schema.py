# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The written schema of a map's metrics; numbers with `better` are compared between runs."""

from typing import Any

_SHARE = {"type": "number", "minimum": 0.0, "maximum": 1.0}
_DISTANCE = {"type": ["number", "null"], "minimum": 0.0}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _compared(title: str, unit: str, better: str, **more: Any) -> dict[str, Any]:
    return {"type": ["number", "null"], "title": title, "unit": unit, "better": better, **more}


def _optional(part: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [{"type": "null"}, part]}


_ALL_POINTS = _object(mean_m=_DISTANCE, rmse_m=_DISTANCE, median_m=_DISTANCE, max_m=_DISTANCE)
_REMOVED = _object(
    offset_m={"type": "number"},
    yaw_deg={"type": "number"},
    tilt_deg={"type": "number"},
    scale_percent={"type": "number"},
)
_ENTROPY = _object(
    mme=_compared("mean map entropy", "nat", "lower"),
    thickness_median_m=_compared("thickness of surfaces", "m", "lower"),
    share_judged=_SHARE,
    radius_m={"type": "number"},
)
_PROTOCOL = _object(name={"type": "string"}, hash={"type": "string"}, choices={"type": "object"})

MAP_SCHEMA: dict[str, Any] = _object(
    n_points={"type": "integer", "minimum": 1},
    n_voxels={"type": "integer", "minimum": 1},
    is_pose_given={"type": "boolean"},
    alignment=_object(
        converged={"type": "boolean"},
        reason={"type": "string"},
        T_reference_estimate={"type": "array", "minItems": 4, "maxItems": 4},
        scale={"type": "number"},
        information=_optional(
            {
                "type": "array",
                "title": "inverse covariance: shift [1/m^2], turn about centre_reference [1/rad^2]",
                "minItems": 6,
                "maxItems": 6,
            }
        ),
        centre_reference=_optional({"type": "array", "minItems": 3, "maxItems": 3}),
        removed=_REMOVED,
        open_directions={"type": "array", "items": {"type": "string"}},
        open_motions={
            "type": "array",
            "title": "per open direction: shift, turn about centre_reference times the RMS radius",
            "items": {"type": "array", "minItems": 6, "maxItems": 6},
        },
    ),
    correspondences=_object(
        n={"type": "integer", "minimum": 0},
        share=_compared("share within the cut", "1", "higher", minimum=0.0, maximum=1.0),
        mean_m=_compared("mean of the correspondences", "m", "lower"),
        std_m=_DISTANCE,
        rmse_m=_DISTANCE,
        histogram=_object(edges_m={"type": "array"}, counts={"type": "array"}),
    ),
    floor=_optional(_object(mean_m=_DISTANCE, std_m=_DISTANCE, region={"type": "string"})),
    planes=_optional(
        _object(
            spacing_m=_DISTANCE,
            share=_SHARE,
            distance={
                **_ALL_POINTS,
                "properties": {
                    **_ALL_POINTS["properties"],
                    "rmse_m": _compared("map error to planes, RMSE", "m", "lower"),
                },
            },
            floor=_object(mean_m=_DISTANCE, std_m=_DISTANCE, rmse_m=_DISTANCE),
        )
    ),
    surface=_optional(
        _object(
            unaligned={
                **_ALL_POINTS,
                "properties": {
                    **_ALL_POINTS["properties"],
                    "rmse_m": _compared("map error, unaligned, RMSE", "m", "lower"),
                },
            },
            aligned={
                **_ALL_POINTS,
                "properties": {
                    **_ALL_POINTS["properties"],
                    "rmse_m": _compared("map error, aligned, RMSE", "m", "lower"),
                },
            },
            removed=_REMOVED,
        )
    ),
    rejection_curve={"type": "array", "items": _object(cut_m={"type": "number"}, share=_SHARE)},
    completeness=_object(
        n_samples={"type": "integer"}, region={"type": "string"}, within={"type": "object"}
    ),
    both_ways=_object(
        accuracy=_ALL_POINTS,
        completeness=_ALL_POINTS,
        precision_recall={
            "type": "array",
            "items": _object(
                threshold_m={"type": "number"}, precision=_SHARE, recall=_SHARE, f=_SHARE
            ),
        },
        chamfer=_object(
            sum_m={"type": "number"},
            mean_m=_compared("Chamfer, mean of both ways", "m", "lower"),
            squared_m2={"type": "number"},
        ),
        hausdorff={"type": "object"},
    ),
    wasserstein=_object(
        mean_m=_compared("Wasserstein (AWD)", "m", "lower"),
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
        "items": _object(name={"type": "string"}, smallest_seen_m=_DISTANCE),
    },
    controls={"type": "array", "items": _object(name={"type": "string"})},
    protocol=_PROTOCOL,
)

STATISTICS_SCHEMA: dict[str, Any] = _object(
    n_points={"type": "integer", "minimum": 1},
    n_voxels={"type": "integer", "minimum": 1},
    bounds_m={"type": "array", "minItems": 2, "maxItems": 2},
    share_alone=_SHARE,
    entropy=_ENTROPY,
    protocol=_PROTOCOL,
)
"""Of a map without reference."""
