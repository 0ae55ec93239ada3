# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Unsupported formats, recognised by ending or first bytes, and the tools that convert them.

A reader names the format and a way out, instead of the errors its own parser would report.
"""

from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError

DESCRIPTION_ENDINGS = (".yaml", ".yml", ".json", "")
"""Of files that describe worlds and the like: names with values; JSON is YAML."""
HEAD_BYTES = 1024
"""How much of a file is looked at."""


@dataclass(frozen=True, kw_only=True)
class ForeignFormat:
    """An unsupported format; `name` is its name for people.

    `way_out` is what to do with such a file; ``{path}`` and ``{folder}`` are replaced by its own.
    `starts` are first bytes of such files, `holds` text within them where they begin as others do
    (XML).
    """

    name: str
    suffixes: tuple[str, ...]
    way_out: str
    starts: tuple[bytes, ...] = ()
    holds: tuple[bytes, ...] = ()


_TO_MESH = "export it as .glb, .obj or .ply, with Blender for example"
_TILE = (
    "make a world of its tileset: aerotwin world tiles {folder}/tileset.json -o FOLDER; or of a "
    "single one a mesh: npx 3d-tiles-tools {verb} -i {path} -o OUT"
)
FOREIGN_FORMATS = (
    ForeignFormat(
        name="one tile of a 3-D Tiles tileset (b3dm)",
        suffixes=(".b3dm",),
        way_out=_TILE.replace("{verb}", "b3dmToGlb"),
        starts=(b"b3dm",),
    ),
    ForeignFormat(
        name="one tile of a 3-D Tiles tileset (i3dm)",
        suffixes=(".i3dm",),
        way_out=_TILE.replace("{verb}", "i3dmToGlb"),
        starts=(b"i3dm",),
    ),
    ForeignFormat(
        name="one tile of a 3-D Tiles tileset (pnts, cmpt)",
        suffixes=(".pnts", ".cmpt"),
        way_out=_TILE.replace("{verb}", "convert"),
        starts=(b"pnts", b"cmpt"),
    ),
    ForeignFormat(
        name="an archive of a 3-D Tiles tileset (3TZ)",
        suffixes=(".3tz",),
        way_out="unpack it: unzip {path} -d FOLDER; then aerotwin world tiles FOLDER",
    ),
    ForeignFormat(
        name="a 3-D Tiles database",
        suffixes=(".3dtiles",),
        way_out="unpack it: npx 3d-tiles-tools convert -i {path} -o FOLDER; then aerotwin world "
        "tiles FOLDER",
    ),
    ForeignFormat(
        name="VTK data",
        suffixes=(".vtk", ".vtp", ".vtu", ".vti", ".vts", ".vtr"),
        way_out="save its surface or points as .ply, with ParaView (File > Save Data) or pyvista",
        starts=(b"# vtk DataFile",),
        holds=(b"<VTKFile",),
    ),
    ForeignFormat(
        name="a Gazebo world or model (SDF)",
        suffixes=(".sdf", ".world"),
        way_out="give the mesh that its <uri> names, as .glb, .obj or .ply (Blender converts .dae)",
        holds=(b"<sdf",),
    ),
    ForeignFormat(
        name="a robot's description (URDF)",
        suffixes=(".urdf", ".xacro"),
        way_out="give the meshes that it names, as .glb, .obj or .ply",
        holds=(b"<robot",),
    ),
    ForeignFormat(
        name="a COLLADA mesh", suffixes=(".dae",), way_out=_TO_MESH, holds=(b"<COLLADA",)
    ),
    ForeignFormat(name="an STL mesh", suffixes=(".stl",), way_out=_TO_MESH, starts=(b"solid ",)),
    ForeignFormat(
        name="an FBX mesh", suffixes=(".fbx",), way_out=_TO_MESH, starts=(b"Kaydara FBX Binary",)
    ),
    ForeignFormat(
        name="a Blender file", suffixes=(".blend",), way_out=_TO_MESH, starts=(b"BLENDER",)
    ),
    ForeignFormat(
        name="an OpenUSD scene",
        suffixes=(".usd", ".usda", ".usdc", ".usdz"),
        way_out=_TO_MESH,
        starts=(b"PXR-USDC", b"#usda"),
    ),
    ForeignFormat(
        name="an E57 point cloud",
        suffixes=(".e57",),
        way_out="convert it: pdal translate {path} OUT.laz, or CloudCompare",
        starts=(b"ASTM-E57",),
    ),
    ForeignFormat(
        name="an OctoMap tree",
        suffixes=(".bt", ".ot"),
        way_out="convert it: octree2pointcloud {path} OUT.pcd (octomap-tools)",
        starts=(b"# Octomap OcTree",),
    ),
    ForeignFormat(
        name="a PX4 log (ULog)",
        suffixes=(".ulg",),
        way_out="it holds neither a cloud nor a surface; give a map",
        starts=(b"ULog\x01\x12\x35",),
    ),
    ForeignFormat(
        name="a ZIP archive",
        suffixes=(".zip", ".kmz"),
        way_out="unpack it and give what it holds: unzip {path} -d FOLDER",
        starts=(b"PK\x03\x04",),
    ),
    ForeignFormat(
        name="a gzip archive",
        suffixes=(".gz", ".tgz"),
        way_out="unpack it and give what it holds",
        starts=(b"\x1f\x8b\x08",),
    ),
)


def foreign_format(name: str, head: bytes) -> ForeignFormat | None:
    """Return the unsupported format of a file, or None.

    The ending of `name` counts first, then the first bytes `head`; `HEAD_BYTES` suffice.

    >>> foreign_format("pump.vtk", b"# vtk DataFile Version 3.0").name
    'VTK data'
    >>> foreign_format("pump", b"b3dm").name
    'one tile of a 3-D Tiles tileset (b3dm)'
    """
    suffix = Path(name).suffix.lower()
    for known in FOREIGN_FORMATS:
        if suffix in known.suffixes:
            return known
    for known in FOREIGN_FORMATS:
        if head.startswith(known.starts) or any(mark in head for mark in known.holds):
            return known
    return None


def refuse_foreign_format(path: Path, accepted: str, endings: tuple[str, ...] = ()) -> None:
    """Raise `UserError` if a file has an unsupported format: what it is, and the way out.

    A path that is no file is ignored. `accepted` are the formats that are read, for the message;
    endings other than `endings` are refused, unless that is empty.
    """
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return  # the reader reports it
    found = foreign_format(path.name, head)
    if found is not None:
        way_out = found.way_out.format(path=path, folder=path.parent)
        raise UserError(f"{path}: expected {accepted}, found {found.name}; {way_out}")
    if endings and path.suffix.lower() not in endings:
        raise UserError(
            f"{path}: expected {accepted}, found a file that ends in '{path.suffix}'; convert it"
        )
