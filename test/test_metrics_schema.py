# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The sections of the evaluators, in one report, obey the schema of metrics.json."""

import json
import re

import jsonschema
import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_map_evaluation import SurfaceReference, evaluate_map
from aerotwin_map_evaluation import section as map_section
from aerotwin_report import schema, write_report
from aerotwin_trajectory_evaluation import ResourceUsage, evaluate_trajectory, resource_section
from aerotwin_trajectory_evaluation import section as trajectory_section


def a_flight():
    t = np.arange(300) / 10.0
    positions = np.column_stack([t, np.sin(t / 3.0), 2.0 + np.cos(t / 5.0)])
    attitudes = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    return Trajectory((t * 1e9).astype(np.int64), positions, attitudes)


def a_hill():
    x, y = np.meshgrid(np.arange(31.0) - 15.0, np.arange(31.0) - 15.0, indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), (2 * np.sin(0.4 * x) + np.cos(y)).ravel()])
    i = np.arange(31 * 31).reshape(31, 31)
    a, b, c, d = (q.ravel() for q in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    return vertices, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


def test_a_report_of_all_evaluators_obeys_the_schema(tmp_path):
    truth = a_flight()
    rng = np.random.default_rng(1000)
    noisy = truth.p_ref_body + rng.normal(0, 0.02, truth.p_ref_body.shape)
    estimate = Trajectory(truth.stamps_ns, noisy, truth.q_ref_body)
    vertices, triangles = a_hill()
    surface = SurfaceReference(vertices, triangles)
    result = evaluate_map(surface, vertices + 0.05, T_map_odom_initial=np.eye(4), observed=vertices)
    usage = ResourceUsage(
        time_s=np.arange(5.0),
        cpu_s=np.arange(5.0) / 2.0,
        rss_bytes=np.full(5, 10**8),
        pss_bytes=np.full(5, 0.9e8),
        peak_bytes=np.full(5, 0.9e8),
        read_bytes=np.full(5, np.nan),
        write_bytes=np.arange(5.0),
        n_threads=np.full(5, 3),
        n_processes=np.ones(5, dtype=np.int64),
        frame_time_s=np.arange(4.0),
        latency_s=np.full(4, 0.05),
        frame_stamps_ns=np.arange(4) * 10**9,
    )
    sections = [
        trajectory_section(evaluate_trajectory(truth, estimate)),
        map_section(result),
        resource_section(usage, simulated_s=4.0),
    ]
    path = write_report(tmp_path, title="Run", sections=sections, configuration={"seed": 1})
    document = json.loads((tmp_path / "metrics.json").read_text())
    jsonschema.validate(document, schema())
    assert set(document["sections"]) == {"trajectory", "map", "resources"}
    ids = re.findall(r'\bid="([^"]+)"', path.read_text())
    assert len(ids) == len(set(ids))
