# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a repeated route, as small as it can be."""

from pathlib import Path

import numpy as np
import yaml

from aerotwin_core.frames import make_transform
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import read_tum, write_tum
from aerotwin_teach_repeat.route_graph import Edge, MemorySubmaps, RouteGraph, Submap, Vertex

LEFT_M, RIGHT_M = 0.2, -0.5


def _graph(folder: Path) -> None:
    """Write a route of ten metres to the east, with a submap at its first vertex."""
    points = np.array([[5.0, float(y), 1.0] for y in range(-5, 6)])
    normals = np.tile([-1.0, 0.0, 0.0], (len(points), 1))
    places = [make_transform(np.eye(3), [float(x), 0.0, 0.0]) for x in range(11)]
    step = make_transform(np.eye(3), [1.0, 0.0, 0.0])
    vertices = [
        Vertex(id=k, stamp_ns=k, T_map_vertex=T, submap_id=0, T_submap_vertex=T)
        for k, T in enumerate(places)
    ]
    edges = [Edge(from_id=k, to_id=k + 1, T_from_to=step, kind="temporal") for k in range(10)]
    submap = Submap(vertex_id=0, points=points, normals=normals)
    RouteGraph(vertices, edges, MemorySubmaps([submap])).save(folder)


def at_one_place(folder: Path, *, n_more: int) -> None:
    """Write a graph of one vertex and so many more, all at one place, over what was there."""
    T = np.eye(4)
    vertices = [
        Vertex(id=k, stamp_ns=k, T_map_vertex=T, submap_id=0, T_submap_vertex=T)
        for k in range(1 + n_more)
    ]
    edges = [Edge(from_id=k, to_id=k + 1, T_from_to=T, kind="temporal") for k in range(n_more)]
    points = np.array([[5.0, 0.0, 1.0]])
    submap = Submap(vertex_id=0, points=points, normals=np.array([[-1.0, 0.0, 0.0]]))
    RouteGraph(vertices, edges, MemorySubmaps([submap])).save(folder)


def shift_stamps(file: Path, by_ns: int) -> None:
    """Have the poses of a file later."""
    poses = read_tum(file)
    write_tum(file, Trajectory(poses.stamps_ns + by_ns, poses.p_ref_body, poses.q_ref_body))


def _path(file: Path, y: float) -> None:
    x = np.linspace(1.0, 9.0, 17)
    stamps = (np.arange(17) * 100_000_000).astype(np.int64)
    p = np.column_stack([x, np.full(17, y), np.zeros(17)])
    file.parent.mkdir(exist_ok=True)
    write_tum(file, Trajectory(stamps, p, np.tile([0.0, 0.0, 0.0, 1.0], (17, 1))))


def write_run(folder: Path, **changes: object) -> Path:
    """Write the folder of a run whose truth is left of the route, and its belief right of it."""
    run = folder / "run"
    run.mkdir()
    _graph(folder / "graph")
    for number in (2, 10, 1):
        _path(run / f"repeat_{number}" / "truth.tum", LEFT_M)
        _path(run / f"repeat_{number}" / "belief.tum", RIGHT_M)
    _path(run / "repeat_3" / "truth.tum", 0.0)  # which never drove
    values = {"graph": str(folder / "graph"), "world": "campus", "marks": None}
    (run / "config.yaml").write_text(yaml.safe_dump(values | {"degradation": None} | changes))
    return run
