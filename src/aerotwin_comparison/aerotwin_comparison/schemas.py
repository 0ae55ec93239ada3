# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""JSON schemas (2020-12) of the sections of twins and studies in `metrics.json`."""

from typing import Any

_NUMBER: dict[str, Any] = {"type": "number"}
_MAYBE: dict[str, Any] = {"type": ["number", "null"]}
_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_SHARE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
_VERDICT: dict[str, Any] = {"enum": ["equivalent", "different", "not decided"]}


def _object(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with all of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_EQUIVALENCE = _object(
    estimate=_NUMBER,
    low=_NUMBER,
    high=_NUMBER,
    confidence=_SHARE,
    standard_error=_NUMBER,
    n_blocks=_COUNT,
    margin=_NUMBER,
    alpha=_SHARE,
    p_value=_SHARE,
    verdict=_VERDICT,
)
_DIFFERENCES = _object(
    kind=_TEXT,
    verdict=_VERDICT,
    mean={**_EQUIVALENCE, "unit": "m"},
    std={**_EQUIVALENCE, "unit": "m"},
    share=_EQUIVALENCE,
    block=_object(
        edge_m=_NUMBER,
        n_blocks=_COUNT,
        is_settled=_FLAG,
        edges_m=_list(_NUMBER),
        standard_errors_m=_list(_NUMBER),
    ),
    noise=_list(_object(sigma_m=_NUMBER, is_noticed=_FLAG)),
)
_SIDE = _object(
    label=_TEXT,
    kind={"enum": ["simulated", "real", None]},
    source=_TEXT,
    settings={"type": "object"},
    sensing=_object(
        **dict.fromkeys(("field_of_view_deg", "width", "height", "rate_hz", "n_frames"), _MAYBE)
    ),
    path_m=_MAYBE,
    map={"type": "object"},
)
TWIN_SCHEMA = _object(
    verdict=_VERDICT,
    sentence=_TEXT,
    is_aligned=_FLAG,
    are_both_simulated=_FLAG,
    judged_by={"enum": ["surface", "correspondences", None]},
    difference={"type": "object", "additionalProperties": _DIFFERENCES},
    overlap=_object(a=_SHARE, b=_SHARE),
    a=_SIDE,
    b=_SIDE,
    protocol=_object(twin={"type": "object"}, map={"type": "object"}),
)
"""`map` of a side is what `aerotwin_map_evaluation` writes."""

CELL = _object(
    **dict.fromkeys(("method", "sequence", "quantity", "unit"), _TEXT),
    **dict.fromkeys(("n_runs", "n_failed", "n_values"), _COUNT),
    **dict.fromkeys(("median", "mean", "std", "q25", "q75", "low", "high"), _MAYBE),
)
"""As `Cell.plain`; low and high end the interval of the centre."""
METHOD_COMPARISON = _object(
    quantity=_TEXT,
    a=_TEXT,
    b=_TEXT,
    test=_TEXT,
    is_paired=_FLAG,
    n_a=_COUNT,
    n_b=_COUNT,
    median_difference=_MAYBE,
    effect={"type": "number", "minimum": -1, "maximum": 1},
    p_value=_SHARE,
    p_adjusted=_SHARE,
    smallest_p_value=_SHARE,
    winner={"type": ["string", "null"]},
)
"""As `MethodComparison.plain`."""
_RUN = {
    "type": "object",
    "required": ["method", "sequence", "seed", "failure"],
    "properties": {"method": _TEXT, "sequence": _TEXT, "seed": _TEXT, "failure": _TEXT},
    "additionalProperties": _MAYBE,
}
STUDY_SCHEMA = _object(
    n_runs=_COUNT,
    n_failed={**_COUNT, "title": "failed runs", "better": "lower"},
    methods=_list(_TEXT),
    sequences=_list(_TEXT),
    runs=_list(_RUN),
    cells=_list(CELL),
    comparisons=_list(METHOD_COMPARISON),
    overall={
        "type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": _MAYBE},
    },
    protocol={"type": "object"},
)
"""Null where there is no number: not measured, or lost to failed runs."""
