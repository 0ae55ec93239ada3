# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The written schema of a trajectory's numbers in `metrics.json` (JSON Schema 2020-12).

It refers to definitions of `aerotwin_report`; `unit` and `better` say how runs are compared.
"""

from collections.abc import Mapping
from typing import Any

from aerotwin_trajectory_evaluation.time_offset_estimates import CERTAINTIES

Schema = dict[str, Any]

_NUMBER, _SHARE = {"$ref": "#/$defs/number"}, {"$ref": "#/$defs/share"}
_ERRORS = {"$ref": "#/$defs/pose_errors"}
_TEXT, _FLAG = {"type": "string"}, {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_AXES = {
    "anyOf": [
        {"type": "null"},
        {"type": "array", "minItems": 3, "maxItems": 3, "items": _NUMBER},
    ]
}


def _object(**properties: Schema) -> Schema:
    """Return the schema of a mapping of which every name is required."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _measured(title: str, unit: str, better: str, kind: Mapping[str, Any] = _NUMBER) -> Schema:
    return {"title": title, "unit": unit, "better": better, **kind}


_PROTOCOL = _object(name=_TEXT, hash=_TEXT, choices={"type": "object"})
_ALIGNMENT = _object(
    mode=_TEXT,
    T_reference_estimate={"$ref": "#/$defs/transform"},
    scale={"type": "number"},
    is_determined=_FLAG,
    reason=_TEXT,
    n_used=_COUNT,
    inlier_share=_NUMBER,
    removed=_object(offset_m=_NUMBER, yaw_deg=_NUMBER, tilt_deg=_NUMBER, scale_percent=_NUMBER),
)
_WITNESS = _object(time_offset_s=_NUMBER, time_offset_std_s=_NUMBER, share=_SHARE, reason=_TEXT)
_CALIBRATION = _object(
    time_offset_s={
        "description": "to be added to the estimate's stamps: negative where they are too late",
        **_NUMBER,
    },
    time_offset_std_s=_NUMBER,
    time_offset_share=_SHARE,
    time_offset_significant=_FLAG,
    time_offset_applied=_FLAG,
    time_offset_certainty={"enum": list(CERTAINTIES)},
    by_turns=_WITNESS,
    by_displacements=_WITNESS,
    lever_arm_m=_AXES,
    lever_arm_std_m=_AXES,
    lever_arm_share=_SHARE,
    lever_arm_significant=_FLAG,
    lever_arm_applied=_FLAG,
    reason=_TEXT,
)
_INCIDENT = _object(kind=_TEXT, from_s=_NUMBER, to_s=_NUMBER, size=_NUMBER, text=_TEXT)
_COMPLETENESS = _object(
    tracked_path=_measured("path tracked", "", "higher", _SHARE),
    not_lost=_measured("pairs not lost", "", "higher", _SHARE),
    n_without_reference=_COUNT,
    auc=_measured("area under the curve", "", "higher", _SHARE),
    lost_above_m=_NUMBER,
    n_incidents={"type": "object", "additionalProperties": _COUNT},
    incidents={"type": "array", "items": _INCIDENT},
)
_TEST = _object(
    n=_COUNT,
    verdict=_TEXT,
    factor=_NUMBER,
    degrees=_COUNT,
    mean=_NUMBER,
    low=_NUMBER,
    high=_NUMBER,
    n_effective=_NUMBER,
    share_within=_SHARE,
    n_unusable=_COUNT,
)
_SUMMARY = {"$ref": "#/$defs/statistics"}
_SEGMENTS = _object(
    median_percent=_measured("drift, median", "%", "lower"),
    median_deg_m=_measured("turn drift, median", "deg/m", "lower"),
    mean_percent=_measured("drift, mean", "%", "lower"),
    mean_deg_per_100m=_measured("turn drift, mean", "deg/100 m", "lower"),
    lengths={
        "type": "array",
        "items": _object(
            length_m=_NUMBER,
            trans_percent=_SUMMARY,
            rot_deg_m=_SUMMARY,
            yaw_deg=_SUMMARY,
            tilt_deg=_SUMMARY,
        ),
    },
)
_CONTROL = _object(
    name=_TEXT,
    expected_m=_NUMBER,
    measured_m=_NUMBER,
    floor_m=_NUMBER,
    detected=_FLAG,
    seen_by=_TEXT,
)

TRAJECTORY_SCHEMA: Schema = _object(
    protocol=_PROTOCOL,
    reference=_object(hash=_TEXT, duration_s=_NUMBER, path_m=_NUMBER),
    n_pairs=_COUNT,
    n_reference=_COUNT,
    n_estimate=_COUNT,
    coverage=_measured("coverage", "", "higher", _SHARE),
    completeness=_COMPLETENESS,
    max_gap_s=_NUMBER,
    path_m=_NUMBER,
    duration_s=_NUMBER,
    start=_object(
        state=_TEXT, T_reference_estimate={"$ref": "#/$defs/transform"}, as_given_rmse_m=_NUMBER
    ),
    alignment=_ALIGNMENT,
    calibration=_CALIBRATION,
    ape={"title": "APE aligned", "better": "lower", **_ERRORS},
    ape_unaligned={"title": "APE unaligned", "better": "lower", **_ERRORS},
    rpe=_object(
        frame={"title": "RPE per frame", "better": "lower", **_ERRORS},
        metre={"title": "RPE over a length", "better": "lower", **_ERRORS},
    ),
    segments=_SEGMENTS,
    consistency={"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": _TEST}]},
    controls={"type": "array", "items": _CONTROL},
)
"""Of the section `trajectory`, and of each estimate where there are several."""

AS_GIVEN_SCHEMA: Schema = {
    **TRAJECTORY_SCHEMA,
    "properties": {
        **TRAJECTORY_SCHEMA["properties"],
        "ape": {"title": "APE without alignment", "better": "lower", **_ERRORS},
        "ape_unaligned": _ERRORS,
    },
}
"""The same where nothing was aligned: both kinds of APE are one then."""

COMPARISON_SCHEMA: Schema = {
    "type": "object",
    "additionalProperties": _object(
        ape_rmse_m=_measured("APE, RMSE", "m", "lower"),
        ape_unaligned_rmse_m=_measured("APE unaligned, RMSE", "m", "lower"),
        rpe_rmse_m=_measured("RPE, RMSE", "m", "lower"),
        drift_percent=_measured("drift, median", "%", "lower"),
        coverage=_measured("coverage", "", "higher", _SHARE),
        tracked_path=_measured("path tracked", "", "higher", _SHARE),
    ),
}
"""Of the section `comparison`, by name of the estimate."""
