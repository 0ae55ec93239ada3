# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Declarations of every metric of a teach-and-repeat evaluation, and the schema of the rest.

A new metric is computed in `evaluation.metrics_of` and declared here.
"""

from functools import partial
from typing import Any

from aerotwin_core import metric
from aerotwin_core.metric import MetricSet, mapping_schema, optional_schema

_NUMBER = {"type": ["number", "null"]}
_COUNT, _TEXT, _LIST = {"type": "integer", "minimum": 0}, {"type": "string"}, {"type": "array"}
_PAIR = mapping_schema(rmse=_NUMBER, max=_NUMBER)
Metric = partial(metric.Metric, kind=_NUMBER)
_cm = partial(Metric, unit="m", shown_in="cm", digits=1)

TEACH_REPEAT_METRICS = MetricSet(
    title="Teach and repeat",
    structure=mapping_schema(
        method=_TEXT,
        route=mapping_schema(name=_TEXT, length_m=_NUMBER, is_closed={"type": "boolean"}),
        floor_m=optional_schema(_PAIR),
        floor_route_m=optional_schema(_PAIR),
        marks=mapping_schema(
            n=_COUNT, n_passings=_COUNT, n_missed=_COUNT, s_m=_LIST, bias_m=_LIST, offsets_m=_LIST
        ),
        true_path_m=_PAIR,
        belief_m=mapping_schema(
            at_marks=_PAIR, sample_rmse=_NUMBER, length_rmse=_NUMBER, time_rmse=_NUMBER, max=_NUMBER
        ),
        repeats_m=optional_schema(mapping_schema(rmse=_NUMBER, max=_NUMBER, pair_rmse=_LIST)),
        nominal_m=optional_schema(mapping_schema(mean_rmse=_NUMBER, max=_NUMBER)),
        gnss_m=mapping_schema(first_point_rmse=_NUMBER, path_icp_rmse=_NUMBER, marks_rmse=_NUMBER),
        localisation=mapping_schema(
            n=_COUNT, n_failed=_COUNT, lateral_max_m=_NUMBER, longitudinal_rmse_m=_NUMBER,
            yaw_rmse_deg=_NUMBER,
        ),
        interventions=mapping_schema(n=_COUNT, driven_km=_NUMBER, km_per_intervention=_NUMBER),
        runs=mapping_schema(n=_COUNT, n_completed=_COUNT, names=_LIST),
    ),
    metrics=(
        _cm("pte_m.rmse", "marks, RMSE", "truth at the marks, bias and spread together",
            better="lower", title="path-tracking error at the marks, RMSE"),
        _cm("pte_m.max", "marks, largest", "of all passings", better="lower",
            title="path-tracking error at the marks, largest"),
        _cm("marks.bias_rms_m", "marks, bias RMS", "what the map does", better="lower",
            title="bias at the marks, RMS"),
        _cm("repeatability_m", "marks, repeatability", "spread about the bias", better="lower",
            title="repeatability at the marks"),
        _cm("floor_m.rmse", "floor at the marks, RMSE", "of any rigid fit within 40 m"),
        _cm("floor_m.max", "floor at the marks, largest", ""),
        _cm("floor_route_m.rmse", "floor along the route, RMSE", "at every vertex"),
        _cm("true_path_m.rmse", "true path, RMSE", "at every sample, not only the marks"),
        _cm("belief_m.at_marks.rmse", "belief at the marks, RMSE", "what the robot would report"),
        _cm("belief_m.sample_rmse", "belief, mean over samples",
            "counts most where the robot dwells"),
        _cm("belief_m.length_rmse", "belief, over the way", "integral over the path"),
        _cm("belief_m.time_rmse", "belief, over time", "integral over time without five samples"),
        _cm("repeats_m.rmse", "repeats, RMSE", "each true run against the first"),
        _cm("repeats_m.max", "repeats, largest", ""),
        _cm("nominal_m.mean_rmse", "nominal average, mean RMSE", "against the mean of the runs"),
        _cm("gnss_m.first_point_rmse", "GNSS, first point", "path moved onto the first position"),
        _cm("gnss_m.path_icp_rmse", "GNSS, path ICP", "hides what all of the run is off by"),
        _cm("gnss_m.marks_rmse", "GNSS, marks", "path fitted by the marks"),
        _cm("localisation.lateral_rmse_m", "localisation, lateral RMSE",
            "belief against truth in the map", better="lower",
            title="localisation, lateral RMSE"),
        _cm("localisation.longitudinal_rmse_m", "localisation, along RMSE", ""),
        Metric("localisation.yaw_rmse_deg", "localisation, yaw RMSE", "", unit="deg", digits=2),
        Metric("localisation.n_failed", "not localised", "scans",
               shown_in="of {localisation[n]}", digits=0),
        Metric("interventions.n", "interventions", "over {interventions[driven_km]:.2f} km",
               "times that a person would have had to step in", digits=0, better="lower",
               table=""),
    ),
)  # fmt: skip
"""Of the section `teach_repeat`."""

TEACH_REPEAT_SCHEMA: dict[str, Any] = TEACH_REPEAT_METRICS.schema()
