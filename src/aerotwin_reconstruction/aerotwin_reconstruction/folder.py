# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a reconstruction: cloud, poses, mesh with its texture, and the record."""

from pathlib import Path

import numpy as np
import yaml

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.ply import write_ply
from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.gltf.writer import write_glb
from aerotwin_reconstruction.dense.fusion import DenseCloud

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
        "origin": {
            "latitude_deg": origin.latitude_deg,
            "longitude_deg": origin.longitude_deg,
            "altitude_m": origin.altitude_m,
        },
        "start": {"x_m": start_m[0], "y_m": start_m[1], "yaw_deg": 0.0},
        "attribution": "Reconstructed by aerotwin from survey pictures",
        "licence": "that of the survey",
    }
    write_text_atomically(folder / WORLD, yaml.safe_dump(description, sort_keys=False))
