# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Degrade a true cloud, mesh or world into what a reconstruction might show of it.

SOURCE is a cloud (.ply .pcd .xyz .npz .las …), a mesh (.glb .gltf .obj) or a world by name. OUT is
a cloud (.ply .pcd .xyz .npz), for which meshes are sampled, or a mesh (.glb). The same seed bends
cloud and mesh alike.

  aerotwin degrade campus --preset warp_30cm --seed 1000 -o build/campus_bent.npz
  aerotwin degrade campus --preset season --seed 3 -o build/campus_autumn.glb
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.rms import rms_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from aerotwin_meshes.mesh import TexturedMesh
    from aerotwin_reconstruction.degradation import DegradationParameters, DisplacementField

MESH_OUT = ".glb"
MESH_SUFFIXES = (".glb", ".gltf", ".obj")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="SOURCE", help="cloud, mesh or world")
    parser.add_argument(
        "--preset", default="warp_30cm", help="a preset by name, or a YAML file (warp_30cm)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (0)")
    parser.add_argument(
        "--spacing-m", type=float, default=0.1, help="between points sampled of meshes (0.1)"
    )
    parser.add_argument("--json", metavar="FILE", help="what was done ('-': standard output)")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="OUT")


def run(args: argparse.Namespace) -> int:
    """Degrade, write, and report the losses."""
    from aerotwin_core.cli import say, write_json
    from aerotwin_core.errors import UserError
    from aerotwin_core.output_lock import refuse_inputs_as_output
    from aerotwin_core.parameters import to_mapping
    from aerotwin_reconstruction.degradation import load_degradation

    if not 0.005 <= args.spacing_m <= 10.0:
        raise UserError(f"--spacing-m: must be 0.005 to 10, got {args.spacing_m}; choose another")
    if args.seed < 0:
        raise UserError(f"--seed: must be 0 or more, got {args.seed}; choose another")
    refuse_inputs_as_output(args.out, args.source)
    parameters = load_degradation(args.preset)
    to_mesh = args.out.suffix.lower() == MESH_OUT
    if _is_cloud(args.source):
        record = _cloud_to_cloud(args, parameters)
    elif to_mesh:
        record = _mesh_to_mesh(args, parameters)
    else:
        record = _mesh_to_cloud(args, parameters)
    record |= {"preset": args.preset, "seed": args.seed, "parameters": to_mapping(parameters)}
    write_json(args.json, record)
    if args.json != "-":
        lost = ", ".join(f"{n} {reason}" for reason, n in record["counts"].items() if n)
        say(f"{args.out}: {lost}; bent by {record['displacement_rms_m']:.3f} m RMS")
    return 0


def _is_cloud(source: str) -> bool:
    from aerotwin_registration.clouds import CLOUD_SUFFIXES

    return Path(source).suffix.lower() in CLOUD_SUFFIXES


def _cloud_to_cloud(args: argparse.Namespace, parameters: "DegradationParameters") -> dict:
    from aerotwin_core.errors import UserError
    from aerotwin_reconstruction.degradation import degrade
    from aerotwin_registration import read_cloud, write_cloud

    if args.out.suffix.lower() == MESH_OUT:
        raise UserError(f"{args.out}: a cloud makes no mesh; choose .ply, .pcd, .xyz or .npz")
    if parameters.cars_changed_share > 0.0:
        raise UserError(
            f"{args.source}: which points are cars a cloud does not say, and '{args.preset}' "
            "changes cars; give the world or its mesh, or set cars_changed_share to 0"
        )
    cloud = read_cloud(args.source)
    done = degrade(cloud.points, parameters, seed=args.seed)
    intensity = None if cloud.intensity is None else cloud.intensity[done.source]
    write_cloud(args.out, done.points_map, intensity)
    return _record(done.field, cloud.points, done.counts)


def _mesh_to_cloud(args: argparse.Namespace, parameters: "DegradationParameters") -> dict:
    from aerotwin_reconstruction.degradation import degrade, sample_surface
    from aerotwin_registration import write_cloud

    surface = sample_surface(_meshes(args.source), args.spacing_m, seed=args.seed)
    done = degrade(
        surface.points_map,
        parameters,
        seed=args.seed,
        is_ground=surface.is_ground,
        car=surface.car,
    )
    write_cloud(args.out, done.points_map)
    return _record(done.field, surface.points_map, done.counts)


def _mesh_to_mesh(args: argparse.Namespace, parameters: "DegradationParameters") -> dict:
    import numpy as np

    from aerotwin_meshes.gltf.writer import write_glb
    from aerotwin_reconstruction.degradation import degrade_meshes

    meshes = _meshes(args.source)
    done = degrade_meshes(meshes, parameters, seed=args.seed)
    write_glb(args.out, done.meshes)
    return _record(done.field, np.concatenate([m.vertices_map for m in meshes]), done.counts)


def _meshes(source: str) -> "Sequence[TexturedMesh]":
    from aerotwin_meshes.mesh_files import read_mesh_file
    from aerotwin_worlds import load_world

    path = Path(source)
    if path.suffix.lower() in MESH_SUFFIXES:
        return read_mesh_file(path).meshes
    return load_world(source).meshes


def _record(
    field: "DisplacementField", points_true: "np.ndarray", counts: dict[str, int]
) -> dict[str, Any]:
    """Return the effect of this seed: the field's RMS over the place, with and without its mean."""
    import numpy as np

    u = field(points_true)
    return {
        "counts": counts,
        "displacement_rms_m": rms_length(u),
        "displacement_rms_without_mean_m": float(np.sqrt(u.var(axis=0).sum())),
    }
