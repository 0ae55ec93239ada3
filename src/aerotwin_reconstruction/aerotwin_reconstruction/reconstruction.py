# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From a folder of survey pictures to a folder with cloud, poses, mesh and record."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.cli import write_json, write_text_atomically
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import to_mapping
from aerotwin_core.ply import write_ply
from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.gltf.writer import write_glb
from aerotwin_reconstruction.accuracy import alignment_record, cloud_accuracy, pose_errors
from aerotwin_reconstruction.bundle import BundleParameters, align_photos
from aerotwin_reconstruction.bundle.align import Report
from aerotwin_reconstruction.dense import DenseParameters, depth_maps, reconstruct_cloud
from aerotwin_reconstruction.dense.cloud import shared_tracks
from aerotwin_reconstruction.dense.fusion import DenseCloud
from aerotwin_reconstruction.surface import SurfaceParameters, ortho_colours, surface_mesh
from aerotwin_reconstruction.surface.heights import height_raster
from aerotwin_reconstruction.survey.folder import (
    read_origin,
    read_photos,
    read_truth,
    write_poses,
)
from aerotwin_worlds import World

CLOUD, MESH, WORLD, POSES, RECORD = (
    "cloud.ply", "mesh.glb", "world.yaml", "poses.csv", "reconstruction.json",
)  # fmt: skip


def write_dense_cloud(path: Path, cloud: DenseCloud) -> None:
    """Write a cloud with normals and colours as binary PLY."""
    columns = {name: cloud.points[:, i].astype(np.float32) for i, name in enumerate("xyz")}
    columns |= {f"n{name}": cloud.normals[:, i] for i, name in enumerate("xyz")}
    columns |= {name: cloud.colours[:, i] for i, name in enumerate(("red", "green", "blue"))}
    with atomic_file(path) as file:
        write_ply(columns, file)


def write_world(
    folder: Path, mesh: TexturedMesh, origin: GeodeticPoint, start_m: tuple[float, float], name: str
) -> None:
    """Write a mesh as a world that `aerotwin_worlds` loads; the YAML file comes last."""
    write_glb(folder / MESH, [mesh], copyright_text="")
    description = {
        "name": name,
        "mesh": MESH,
        "origin": asdict(origin),
        "start": {"x_m": start_m[0], "y_m": start_m[1], "yaw_deg": 0.0},
        "attribution": "Reconstructed by aerotwin from survey pictures",
        "licence": "that of the survey",
    }
    write_text_atomically(folder / WORLD, yaml.safe_dump(description, sort_keys=False))


def reconstruct(
    survey: Path,
    out: Path,
    *,
    bundle: BundleParameters,
    dense: DenseParameters,
    surface: SurfaceParameters | None,
    world: World | None = None,
    report: Report = lambda stage, share: None,
) -> dict[str, Any]:
    """Reconstruct a survey into the folder `out`; return and write the record.

    The record is the content of `reconstruction.json`, with the wall time of each stage [s]. There
    is no mesh if `surface` is None. If the true `world` is provided, the cloud is compared with it.
    `report` is called with every stage and its progress.
    """
    clock = _Clock()
    photos = read_photos(survey)
    origin = read_origin(survey, photos)
    alignment = align_photos(photos, origin, bundle, report=report)
    clock.stop("alignment")
    maps = depth_maps(alignment, shared_tracks(alignment), dense, report=report)
    clock.stop("stereo")
    cloud = reconstruct_cloud(alignment, maps, dense, report=report)
    clock.stop("fusion")
    write_poses(out / POSES, [photo.name for photo in photos], list(alignment.T_map_optical))
    write_dense_cloud(out / CLOUD, cloud)
    if surface is not None:
        raster, start_m = height_raster(cloud, surface)
        texture = ortho_colours(raster, alignment, maps, surface, report=report)
        write_world(out, surface_mesh(raster, texture, surface), origin, start_m, survey.name)
        clock.stop("surface")
    truth = read_truth(survey)
    found = None
    if world is not None:
        found = cloud_accuracy(cloud, world, survey, truth, dense.voxel_m)
        clock.stop("accuracy")
    record = {
        "survey": str(survey),
        "alignment": alignment_record(alignment),
        "pose_errors": pose_errors(alignment, truth),
        "accuracy": found,
        "cloud": {"n_points": len(cloud), "voxel_m": dense.voxel_m},
        "parameters": {
            "bundle": to_mapping(bundle),
            "dense": to_mapping(dense),
            "surface": None if surface is None else to_mapping(surface),
        },
        "stages_s": clock.stages_s,
        "duration_s": sum(clock.stages_s.values()),
    }
    write_json(str(out / RECORD), record)
    return record


class _Clock:
    def __init__(self) -> None:
        self.stages_s: dict[str, float] = {}
        self._since = time.perf_counter()

    def stop(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages_s[stage], self._since = now - self._since, now
