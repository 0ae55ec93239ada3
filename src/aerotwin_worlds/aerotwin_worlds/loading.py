# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find, read and build worlds by name or path."""

import dataclasses
import logging
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.file_inside import file_inside
from aerotwin_core.foreign_format import DESCRIPTION_ENDINGS, refuse_foreign_format
from aerotwin_core.home_path import expanded
from aerotwin_core.limits import check_is_file
from aerotwin_core.parameters import load_parameters, read_yaml
from aerotwin_meshes.geometry import Geometry
from aerotwin_worlds.built_meshes import built_meshes
from aerotwin_worlds.description import WorldDescription
from aerotwin_worlds.height_map import read_height_map
from aerotwin_worlds.light import lit
from aerotwin_worlds.photogrammetry import read_photogrammetry
from aerotwin_worlds.world import World, stated_origin, world_from_description

WORLD_FILE = "world.yaml"
_TILESET_FILE = "tileset.json"


def load_world(
    spec: str | Path,
    *,
    seed: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    show_progress: bool = False,
) -> World:
    """Load a world.

    Parameters
    ----------
    spec : str or Path
        A name (``cliff``: looked up in the folders of `world_folders`), a YAML file, or a folder
        that holds ``world.yaml``. ``NAME@1003`` selects seed 1003 of a generated world.
    seed : int, optional
        Seed of a generated world in place of its file's.
    parameters : mapping, optional
        Other parameters of a generated world in place of its file's, by name:
        ``{"spacing_m": 1.0}`` makes a coarse one in a moment.
    show_progress : bool
        Show a progress bar where tiles are loaded.

    Raises
    ------
    aerotwin_core.errors.UserError
        If there is no such world, or its file is wrong; lists the searched folders and known
        worlds.
    """
    path = find_world(str(spec))
    description = read_description(path)
    changes = dict(parameters or {})
    seed = split_seed(str(spec))[1] if seed is None else seed
    if seed is not None:
        changes["seed"] = seed
    geometry = _geometry(description, path, changes, show_progress)
    if description.light is not None:
        if geometry.stream is not None:
            raise UserError(f"{path}: light cannot be given for streamed tiles; remove one of both")
        meshes = tuple(lit(mesh, description.light) for mesh in geometry.meshes)
        geometry = dataclasses.replace(geometry, meshes=meshes)
    try:
        return world_from_description(description, geometry)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def read_description(path: Path) -> WorldDescription:
    """Return the content of a world's YAML file, checked down to the last key.

    Raises `UserError` naming file and key, what was expected, what was found and what to do.
    """
    _refuse_what_is_no_description(path)
    description = load_parameters(WorldDescription, read_yaml(path), where=str(path))
    if description.tiles is not None:
        _tiles_to_load(description, path)
    elif description.generator:
        _generator(description, path, {})
    return description


def split_seed(spec: str) -> tuple[str, int | None]:
    """Return a name or path without ``@SEED``, and the seed, None without one.

    >>> split_seed("cliff@1003"), split_seed("/data/me@lab/world.yaml")
    (('cliff', 1003), ('/data/me@lab/world.yaml', None))
    """
    numbered = re.fullmatch(r"(.+)@([0-9]{1,9})", spec)
    return (spec, None) if numbered is None else (numbered[1], int(numbered[2]))


def find_world(spec: str) -> Path:
    """Return the YAML file of a name or path; raises `UserError` as `load_world`.

    A bare name is looked up in `world_folders` first, so that no file of the working folder shadows
    a world of this package; such a file is logged, and can be loaded by its path. A seed in it is
    left out, see `split_seed`.
    """
    spec, _ = split_seed(spec)
    path = expanded(spec)
    check_is_file(path)
    beside = [path, path / WORLD_FILE, Path(f"{path}.yaml")] if spec else []
    folders = world_folders() if spec and len(path.parts) == 1 else []
    named = [candidate for folder in folders for candidate in _of_name(spec, folder)]
    is_name = "/" not in spec and not spec.endswith((".yaml", ".yml"))
    candidates = [*named, *beside] if is_name else [*beside, *named]
    found = [candidate for candidate in candidates if candidate.is_file()]
    if found:
        _refuse_what_is_no_description(found[0])
        if is_name:
            _log_the_others(spec, found[0], [*beside, *_of_name(spec, Path("worlds"))])
        return found[0]
    if spec and (path / _TILESET_FILE).is_file():
        _refuse_what_is_no_description(path / _TILESET_FILE)
    searched = [path.absolute()] if len(path.parts) > 1 else [Path.cwd(), *world_folders()]
    raise ParameterError(
        f"world '{spec}': no such file, no folder with {WORLD_FILE}, and no known name; "
        f"looked in {', '.join(map(str, searched))}; known are: "
        f"{', '.join(known_worlds()) or 'none'}; give one of these, or a path to a YAML file"
    )


def _of_name(name: str, folder: Path) -> list[Path]:
    return [folder / f"{name}.yaml", folder / name / WORLD_FILE, folder / name]


def _log_the_others(name: str, meant: Path, here: list[Path]) -> None:
    """Log the files of the working folder that are shadowed by a world of the same name."""
    others = [f"./{file}" for file in here if file.is_file() and not file.samefile(meant)]
    if others:
        _log_once(f"world '{name}' is {meant}; name {', '.join(others)} by its path")


@cache
def _log_once(text: str) -> None:
    logging.getLogger(__name__).warning(text)


def _refuse_what_is_no_description(path: Path) -> None:
    """Raise `UserError` for a geometry file, which a world's YAML file must name."""
    from aerotwin_meshes.mesh_files import KINDS

    if path.name == _TILESET_FILE:
        found = f"a 3-D Tiles tileset; make a world of it: aerotwin world tiles {path} -o FOLDER"
        raise UserError(f"{path}: expected a world's YAML file, found {found}")
    if path.suffix.lower() in KINDS:
        found = f"a mesh; write a {WORLD_FILE} beside it with 'mesh: {path.name}'"
        raise UserError(f"{path}: expected a world's YAML file, found {found}")
    refuse_foreign_format(path, "a world's YAML file", DESCRIPTION_ENDINGS)


def world_folders() -> list[Path]:
    """Return the folders where names are looked up.

    ``$AEROTWIN_WORLDS``, ``worlds`` of the checkout, of this package as it is installed, and
    of the working folder.
    """
    folders = [Path(p) for p in os.environ.get("AEROTWIN_WORLDS", "").split(os.pathsep) if p]
    shares = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    for parent in Path(__file__).resolve().parents:
        folders.append(parent / "worlds")
        shares.append(parent)
    folders += [share / "share" / "aerotwin_worlds" / "worlds" for share in shares]
    folders.append(Path("worlds").absolute())
    return list(dict.fromkeys(folder for folder in folders if any(folder.glob("*.yaml"))))


def known_worlds() -> list[str]:
    """Return the names that `load_world` knows."""
    return sorted({file.stem for folder in world_folders() for file in folder.glob("*.yaml")})


def _geometry(
    description: WorldDescription, path: Path, changes: Mapping[str, Any], show_progress: bool
) -> Geometry:
    source, where, origin = description.source, str(path), stated_origin(description)
    if source == "generator":
        parameters, build = _generator(description, path, changes)
        return Geometry(meshes=built_meshes(description.generator, parameters, build))
    if changes:
        raise UserError(
            f"{path}: a world from '{source}' has no {', '.join(changes)}; ask for it without"
        )
    if description.height_map is not None:
        return read_height_map(description.height_map, path.parent, origin, where=where)
    if description.photogrammetry is not None:
        return read_photogrammetry(description.photogrammetry, path.parent, origin, where=where)[0]
    if description.tiles is not None:
        from aerotwin_tiles import load_tiles

        tiles = _tiles_to_load(description, path)
        return load_tiles(tiles, path.parent, origin, show_progress=show_progress)
    return _read_mesh(description, path)


def _generator(
    description: WorldDescription, path: Path, changes: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return the parameters and the function that builds the meshes of a generated world."""
    from aerotwin_generated_worlds import GENERATORS

    generators: dict[str, tuple[type, Any]] = GENERATORS
    if description.generator not in generators:
        raise UserError(
            f"{path}: generator must be one of {', '.join(generators)}, "
            f"got '{description.generator}'; correct it"
        )
    parameters_class, build = generators[description.generator]
    where, values = f"{path}: parameters", {**(description.parameters or {}), **changes}
    return load_parameters(parameters_class, values, where=where), build


def _read_mesh(description: WorldDescription, path: Path) -> Geometry:
    from aerotwin_meshes.mesh_files import KINDS, read_mesh_file

    file = file_inside(path.parent, description.mesh, where=f"{path}: mesh")
    if file.suffix.lower() not in KINDS:
        raise UserError(
            f"{path}: mesh must end in one of {', '.join(KINDS)}, got '{file.name}'; convert it"
        )
    return read_mesh_file(file, description.placement)


def _tiles_to_load(description: WorldDescription, path: Path) -> Any:
    from aerotwin_tiles import TilesDescription

    return load_parameters(TilesDescription, description.tiles, where=f"{path}: tiles")
