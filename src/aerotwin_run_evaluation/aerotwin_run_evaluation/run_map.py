# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates maps of runs against a world: voxels as published, and finer ones."""

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np

from aerotwin_core.protocol import Protocol
from aerotwin_core.section import Section
from aerotwin_core.threads import in_background
from aerotwin_map_evaluation import (
    MapEvaluation,
    MapProtocol,
    MapReference,
    SurfaceReference,
    evaluate_map,
    section,
)
from aerotwin_run_evaluation.bag.protocols import map_protocol
from aerotwin_run_evaluation.map_job import BareMesh, JudgedMap, MapJob

COARSE_VOXEL_M = 1.0
"""Edge of the reference voxels of Beam et al. (2024)."""
FINE_VOXEL_M = 0.25
_PRACTICE_M = 10.0


class MapJudge:
    """Evaluates maps against one world; what depends on the world alone is computed once."""

    def __init__(self, meshes: Iterable[BareMesh]) -> None:
        self._surface = SurfaceReference.from_meshes(meshes)
        self._references: dict[float, MapReference] = {}

    def prepare(self) -> None:
        """Compute what the first map needs of the world, and load what evaluates and draws it."""
        for chosen in _protocols(None):
            self._surface.samples(chosen.choices.floor_spacing_m)
            _ = self._reference(chosen.choices).tree
        _practise()

    def judge(self, job: MapJob, on_step: Callable[[str], None]) -> JudgedMap:
        """Return a map's evaluations with their sections, the first drawn beside the others.

        Raises `UserError` if it cannot be evaluated.
        """
        observed = None if job.camera is None else self._surface.seen_from(*job.camera)

        def evaluated(
            chosen: Protocol[MapProtocol], like: MapEvaluation | None = None
        ) -> MapEvaluation:
            return evaluate_map(
                self._reference(chosen.choices),
                job.points_odom,
                T_map_odom_initial=job.T_map_odom,
                protocol=chosen,
                observed=observed,
                like=like,
                on_step=lambda text: on_step(f"map: {text}"),
            )

        first, *others = _protocols(job.protocol)
        coarse = evaluated(first)
        assert coarse.surface_distances is not None  # a world has a surface
        wait_for_chapter = in_background(lambda: section(coarse, name=job.name))
        finer = [evaluated(each, like=coarse) for each in others]
        on_step("map: figures")
        return JudgedMap(
            points_map=coarse.points_map,
            distances=coarse.surface_distances,
            voxels_map={each.protocol.voxel_m: each.voxels_map for each in (coarse, *finer)},
            sections=(wait_for_chapter(), *map(_numbers_of, finer)),
        )

    def _reference(self, protocol: MapProtocol) -> MapReference:
        edge_m = protocol.voxel_m
        if edge_m not in self._references:
            self._references[edge_m] = MapReference.of(self._surface, None, protocol)
        return self._references[edge_m]


def _protocols(spec: str | None) -> tuple[Protocol[MapProtocol], ...]:
    provided = map_protocol(spec)
    if provided is not None:
        return (provided,)
    return tuple(
        Protocol(name=f"voxels of {voxel_m:g} m", part="map", choices=MapProtocol(voxel_m=voxel_m))
        for voxel_m in (COARSE_VOXEL_M, FINE_VOXEL_M)
    )


def _numbers_of(finer: MapEvaluation) -> Section:
    """Return the section on a map against finer voxels: the numbers only."""
    title = f"Map against voxels of {finer.protocol.voxel_m:g} m"
    chapter = section(finer, title=title, name="map_fine", has_pictures=False)
    return dataclasses.replace(chapter, headline=(), verdict="")


def _practise() -> None:
    """Evaluate and draw samples of a small wavy surface: kernels are loaded, imports are done."""
    x, y = np.meshgrid(*[np.linspace(-_PRACTICE_M, _PRACTICE_M, 41)] * 2, indexing="ij")
    i = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (q.ravel() for q in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    mesh = BareMesh(
        vertices_map=np.column_stack([x.ravel(), y.ravel(), np.sin(x * y / 5.0).ravel()]),
        triangles=np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]),
    )
    judge = MapJudge([mesh])
    points = SurfaceReference.from_meshes([mesh]).samples(0.2)
    job = MapJob(
        points_odom=points, T_map_odom=np.eye(4), camera=None, protocol=None, name="practice"
    )
    judge.judge(job, lambda text: None)
