# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Villages: a UAV photogrammetry folder (OpenDroneMap) turned into a world folder.

The same surface as a world file's ``photogrammetry``, written once as a mesh file that loads fast.
"""

import dataclasses
from pathlib import Path

import yaml

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf import write_glb
from aerotwin_worlds.photogrammetry import (
    PhotogrammetryDescription,
    SurveySummary,
    read_photogrammetry,
)

SURFACE_FILES = ("dsm.tif", "odm_dem/dsm.tif")
ORTHO_FILE = "ortho_from_cloud_0p2m.jpg"
SUMMARY_FILE = "odm_georeferenced_model.summary.json"


def build_village(
    source: Path, out: Path, *, name: str, attribution: str, licence: str, max_triangles: int
) -> SurveySummary:
    """Write ``world.yaml`` and ``mesh.glb`` into ``out``.

    ``source`` is a folder with ``dsm.tif`` (GeoTIFF, WGS84 / UTM), the orthophoto and the PDAL
    summary whose bounds the orthophoto spans. The surface model is averaged to at most
    ``max_triangles``. Raises `UserError` if a file is missing or unusable.
    """
    if not source.is_dir():
        raise UserError(f"{source}: no such folder; give the photogrammetry folder")
    surface = next((f for f in SURFACE_FILES if (source / f).is_file()), SURFACE_FILES[0])
    description = PhotogrammetryDescription(
        surface=surface,
        orthophoto=ORTHO_FILE,
        orthophoto_bounds=SUMMARY_FILE,
        max_triangles=max_triangles,
    )
    geometry, summary = read_photogrammetry(description, source, None, where=str(source))
    if geometry.origin is None or geometry.start_m is None:
        raise AssertionError("a survey knows where it is")
    out.mkdir(parents=True, exist_ok=True)
    write_glb(out / "mesh.glb", geometry.meshes, copyright_text=f"{attribution} ({licence})")
    world = {
        "name": name,
        "mesh": "mesh.glb",
        "origin": dataclasses.asdict(geometry.origin),
        "start": {"x_m": geometry.start_m[0], "y_m": geometry.start_m[1], "yaw_deg": 0.0},
        "attribution": attribution,
        "licence": licence,
    }
    write_text_atomically(out / "world.yaml", yaml.safe_dump(world, sort_keys=False))
    return summary
