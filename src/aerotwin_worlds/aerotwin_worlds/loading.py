# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find, read and build worlds by name or path."""

import dataclasses
import os
import re
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters, read_yaml
from aerotwin_worlds.generated import GENERATORS
from aerotwin_worlds.mesh import TexturedMesh
from aerotwin_worlds.world import World, WorldDescription, world_from_description

WORLD_FILE = "world.yaml"


def load_world(spec: str | Path, *, seed: int | None = None) -> World:
    """Load a world.

    Parameters
    ----------
    spec : str or Path
        A name (``cliff``: looked up in the folders of `world_folders`), a YAML file, or a folder
        that holds ``world.yaml``. ``NAME@1003`` asks a generated world for seed 1003.
    seed : int, optional
        Seed of a generated world in place of its file's.

    Raises
    ------
    aerotwin_core.errors.UserError
        If there is no such world, or its file is wrong; says where it looked and what exists.
    """
    text, wanted = _split_seed(str(spec))
    path = find_world(text)
    description = load_parameters(WorldDescription, read_yaml(path), where=str(path))
    meshes = _meshes(description, path, seed if seed is not None else wanted)
    try:
        return world_from_description(description, meshes)
    except ValueError as error:
        raise UserError(f"{path}: {error}; choose another start") from None


def find_world(spec: str) -> Path:
    """Return the YAML file that a name or path means; raises `UserError` as `load_world`."""
    path = Path(spec).expanduser()
    candidates = [path, path / WORLD_FILE, Path(f"{path}.yaml")] if spec else []
    if spec and len(path.parts) == 1:
        for folder in world_folders():
            candidates += [folder / f"{spec}.yaml", folder / spec / WORLD_FILE, folder / spec]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise UserError(
        f"world '{spec}': no such file, no folder with {WORLD_FILE}, and no known name; "
        f"looked in {', '.join(map(str, _looked_in(path)))}; known are: "
        f"{', '.join(known_worlds()) or 'none'}; give one of these, or a path to a YAML file"
    )


def _looked_in(path: Path) -> list[Path]:
    if len(path.parts) > 1:
        return [path.absolute()]
    return [Path.cwd(), *world_folders()]


def world_folders() -> list[Path]:
    """Return the folders where names are looked up.

    ``$AEROTWIN_WORLDS``, ``worlds`` of the working folder, of the checkout, and of the installed
    package aerotwin_bringup.
    """
    folders = [Path(p) for p in os.environ.get("AEROTWIN_WORLDS", "").split(os.pathsep) if p]
    folders.append(Path("worlds").absolute())
    shares = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    for parent in Path(__file__).resolve().parents:
        folders.append(parent / "worlds")
        shares += [parent, parent / "aerotwin_bringup"]
    folders += [share / "share" / "aerotwin_bringup" / "worlds" for share in shares]
    return list(dict.fromkeys(folder for folder in folders if any(folder.glob("*.yaml"))))


def known_worlds() -> list[str]:
    """Return the names that `load_world` knows."""
    return sorted({file.stem for folder in world_folders() for file in folder.glob("*.yaml")})


def _split_seed(spec: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+)@(\d{1,9})", spec)
    return (match[1], int(match[2])) if match else (spec, None)


def _meshes(
    description: WorldDescription, path: Path, seed: int | None
) -> tuple[TexturedMesh, ...]:
    if bool(description.generator) == bool(description.mesh):
        raise UserError(f"{path}: must have either 'generator' or 'mesh'; delete or add one")
    if description.generator:
        return _generate(description, path, seed)
    if seed is not None or description.parameters is not None:
        raise UserError(f"{path}: a world from a mesh file has no seed or parameters; remove them")
    return _read_mesh(description.mesh, path)


def _generate(
    description: WorldDescription, path: Path, seed: int | None
) -> tuple[TexturedMesh, ...]:
    if description.generator not in GENERATORS:
        raise UserError(
            f"{path}: generator must be one of {', '.join(GENERATORS)}, "
            f"got '{description.generator}'; correct it"
        )
    parameters_class, build = GENERATORS[description.generator]
    parameters = load_parameters(
        parameters_class, description.parameters, where=f"{path}: parameters"
    )
    if seed is not None:
        parameters = dataclasses.replace(parameters, seed=seed)
    return build(parameters)


def _read_mesh(name: str, path: Path) -> tuple[TexturedMesh, ...]:
    from aerotwin_worlds.gltf import read_gltf

    file = (path.parent / name).resolve()
    if not file.is_relative_to(path.parent.resolve()):
        raise UserError(f"{path}: mesh '{name}' must lie in the world's folder; move it there")
    if not file.is_file():
        present = ", ".join(sorted(p.name for p in path.parent.glob("*.glb"))) or "no GLB file"
        raise UserError(f"{path}: mesh '{name}' does not exist; its folder holds {present}")
    return read_gltf(file)
