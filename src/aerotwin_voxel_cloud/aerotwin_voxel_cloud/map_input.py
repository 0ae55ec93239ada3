# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Input of an evaluator: a reference or an estimate from one text, with its metadata.

| text | meaning |
|---|---|
| `map.ply`, `.pcd .xyz .txt .csv .pts .asc .npz .npy .las .laz` | a cloud |
| `scan.bin` with `bin_columns` | a cloud without header |
| `mesh.obj`, `.ply` with faces, `.gltf`, `.glb` | a surface |
| `grid.binvox` | centres of occupied cells |
| `tileset.json` | the surface of 3-D Tiles in full detail, ENU about its middle |
| `cliff`, `cliff@1003`, `world.yaml`, its folder | the surface of a world |
| `BAG`, `BAG:TOPIC` | the last PointCloud2 of a bag's topic |
| `BAG:TOPIC@POSES` | all clouds of a topic, moved by the poses of another, or of `/tf:map.lidar` |
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.metadata import is_storage_file
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_format import DESCRIPTION_ENDINGS, refuse_foreign_format
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.limits import check_memory
from aerotwin_registration.bag_clouds import read_bag_cloud
from aerotwin_registration.clouds import CLOUD_SUFFIXES, Cloud, read_cloud
from aerotwin_registration.ply import count_faces
from aerotwin_voxel_cloud.binvox import read_binvox
from aerotwin_voxel_cloud.grid import OccupancyGrid
from aerotwin_voxel_cloud.surface import TriangleSurface, load_surface, surface_of_tileset

ACCEPTED = (
    f"a world, a mesh (.obj .ply .gltf .glb), a tileset.json, .binvox, a bag, or a cloud "
    f"({' '.join(CLOUD_SUFFIXES)})"
)
"""Accepted inputs, for messages."""
SURFACE_ENDINGS = (".obj", ".ply", ".gltf", ".glb", *DESCRIPTION_ENDINGS)
METRES_PER_UNIT = {
    "m": 1.0,
    "mm": 0.001,
    "cm": 0.01,
    "km": 1000.0,
    "ft": 0.3048,
    "us-ft": 1200.0 / 3937.0,
    "in": 0.0254,
}
"""Valid names of `unit`; a number is in metres."""
# Maps are smaller than 100 km; larger ones are in millimetres or were not shifted.
_LARGEST_EXTENT_M = 1e5
# Ten times round the Earth in millimetres read as metres; doubles still resolve 0.1 mm.
_FARTHEST_M = 4e11
_BYTES_PER_CENTRE = 84  # three int32 of a cell, and three float64 of its centre in three steps
# Degrees of longitude and latitude: a place of 10 km spans a tenth of a degree.
_LARGEST_DEGREES = 0.2


@dataclass(frozen=True, kw_only=True)
class MapInput:
    """A reference or an estimate, in metres, and its metadata.

    Attributes
    ----------
    spec, kind : str
        The requested source, and its type: "cloud", "surface", "binvox", "bag".
    content : TriangleSurface or (n, 3) array
        Triangles if there are any, else points [m].
    intensity : (n,) array or None
    frame : str
        Its frame or coordinate system as text, "unknown" if the file states none.
    origin : GeodeticPoint or None
        Position on Earth of the origin of an ENU frame.
    unit : str
        How lengths were converted to metres, and the source of the unit.
    edge_m : float or None
        Edge of the cells that the points are the centres of [m]; None if unknown.
    notes : tuple of str
        Dropped points, damage and irregularities; to be shown with every result.
    """

    spec: str
    kind: str
    content: TriangleSurface | np.ndarray
    intensity: np.ndarray | None = None
    frame: str = "unknown"
    origin: GeodeticPoint | None = None
    unit: str = "m (assumed)"
    edge_m: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_surface(self) -> bool:
        """Whether it has triangles."""
        return isinstance(self.content, TriangleSurface)

    @property
    def points(self) -> np.ndarray:
        """The points (n, 3) [m]; for a surface its vertices."""
        return self.content.vertices if isinstance(self.content, TriangleSurface) else self.content

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner (2, 3) [m]."""
        if isinstance(self.content, TriangleSurface):
            return self.content.bounds_m
        return np.array([self.content.min(axis=0), self.content.max(axis=0)])

    @property
    def n_triangles(self) -> int:
        """Number of triangles, 0 of a cloud."""
        return len(self.content.triangles) if isinstance(self.content, TriangleSurface) else 0

    def plain(self) -> dict[str, object]:
        """Return all but the points, for `metrics.json`."""
        low, high = self.bounds_m.round(3).tolist()
        return {
            "source": self.spec,
            "kind": self.kind,
            "n_points": 0 if self.is_surface else len(self.points),
            "n_triangles": self.n_triangles,
            "bounds_low_m": low,
            "bounds_high_m": high,
            "frame": self.frame,
            "origin": None if self.origin is None else asdict(self.origin),
            "unit": self.unit,
            "notes": list(self.notes),
        }

    def describe(self) -> str:
        """Return a one-line description: kind, number, size, frame and unit."""
        n = f"{self.n_triangles} triangles" if self.is_surface else f"{len(self.points)} points"
        size = " x ".join(f"{length:.4g}" for length in np.diff(self.bounds_m, axis=0)[0])
        return f"{self.spec}: {self.kind}, {n}, {size} m, frame {self.frame}, unit {self.unit}"


def load_map(
    spec: str | Path,
    *,
    unit: str = "",
    drop_invalid: bool = False,
    bin_columns: str = "",
    dialect: str = "auto",
    unit_option: str = "--unit",
) -> MapInput:
    """Return a reference or an estimate; the table of this module lists the sources.

    Parameters
    ----------
    spec : str or path
        File, bag with topics, or world.
    unit : str
        Unit of the coordinates, one of `METRES_PER_UNIT` or a number of metres; "": that of the
        file, else metres.
    drop_invalid : bool
        Drop NaN and infinite points, and count them, instead of refusing.
    bin_columns : str
        Columns of a `.bin` file; see `read_cloud`.
    dialect : {"auto", "binvox", "airsim"}
        Of a binvox file.
    unit_option : str
        Option name of `unit` for messages; "" if there is none.

    Raises
    ------
    UserError
        If there is no such source, or it is damaged, empty or holds NaN.
    """
    text = str(spec)
    factor = metres_of(unit, unit_option) if unit else None
    found = _of_bag(text, drop_invalid=drop_invalid)
    if found is None:
        found = _of_file(
            text,
            drop_invalid=drop_invalid,
            bin_columns=bin_columns,
            dialect=dialect,
            is_unit_open=not unit,
        )
    if factor is not None:
        found = _scaled(found, factor, f"{unit} to m (as asked)")
    farthest = np.abs(found.bounds_m).max()
    if not farthest < _FARTHEST_M:
        raise UserError(
            f"{spec}: its coordinates reach {farthest:.3g} m, which no map does: it is damaged, or "
            f"of another byte order, or {unit_option or 'its unit'} is wrong"
        )
    return replace(found, notes=(*found.notes, *doubts(found.bounds_m, unit_option)))


def metres_of(unit: str, option: str = "--unit") -> float:
    """Return the metres of a unit, by name or positive number; UserError names `option`."""
    try:
        factor = METRES_PER_UNIT[unit] if unit in METRES_PER_UNIT else float(unit)
    except ValueError:
        factor = 0.0
    if not 0.0 < factor < np.inf:
        raise UserError(
            f"{option or 'a unit'} must be one of {', '.join(METRES_PER_UNIT)} or a number of "
            f"metres, got '{unit}'"
        )
    return factor


def doubts(bounds_m: np.ndarray, option: str = "--unit") -> tuple[str, ...]:
    """Return why the unit of coordinates may not be the metre; `option` sets the unit."""
    low, high = np.asarray(bounds_m)
    size = high - low
    if size.max() > _LARGEST_EXTENT_M:
        return (
            f"it spans {size.max():.4g} m: its unit may be the millimetre"
            f"{f' ({option} mm)' if option else ''}, or a few points lie far off",
        )
    is_on_globe = np.abs([low[0], high[0]]).max() <= 180 and np.abs([low[1], high[1]]).max() <= 90
    if is_on_globe and 0 < size[:2].max() < _LARGEST_DEGREES and size[2] > 10 * size[:2].max():
        return (
            f"it spans {size[0]:.4g} x {size[1]:.4g} x {size[2]:.4g}: x and y may be degrees; "
            "project it to metres first",
        )
    return ()


def _of_bag(text: str, *, drop_invalid: bool) -> MapInput | None:
    """Return the cloud of a bag, None if the text names none."""
    path, topic = _split_bag(text)
    if path is None:
        return None
    topic, _, poses = topic.partition("@")
    bag = BagReader(path)
    cloud = read_bag_cloud(bag, topic, poses=poses, drop_invalid=drop_invalid)
    return _of_cloud(text, "bag", cloud, unit="m (REP-103)")


def _split_bag(text: str) -> tuple[Path | None, str]:
    """Return the bag and the rest of the text, None if no part of the text is a bag."""
    ends = [len(text), *(k for k, letter in enumerate(text) if letter == ":" and k > 0)]
    for end in ends:
        path = Path(text[:end])
        if path.is_file() and is_storage_file(path):
            return path, text[end + 1 :]
        if path.is_dir() and _is_bag_folder(path):
            return path, text[end + 1 :]
    return None, ""


def _is_bag_folder(path: Path) -> bool:
    if (path / "metadata.yaml").is_file():
        return True
    return any(is_storage_file(file) for file in path.iterdir())


def _of_file(
    text: str, *, drop_invalid: bool, bin_columns: str, dialect: str, is_unit_open: bool
) -> MapInput:
    path = Path(text)
    suffix = path.suffix.lower()
    if suffix == ".binvox":
        grid, header = read_binvox(path, dialect=dialect)
        return _of_grid(text, grid, header.dialect)
    if suffix == ".json" and path.is_file():
        return _of_surface(text, surface_of_tileset(path), unit="m (3-D Tiles)")
    if suffix == ".ply" and path.is_file() and count_faces(path):
        return _of_surface(text, load_surface(path))
    if suffix in CLOUD_SUFFIXES or suffix == ".bin":
        cloud = read_cloud(path, drop_invalid=drop_invalid, bin_columns=bin_columns)
        return _of_cloud(text, f"cloud ({suffix[1:]})", cloud, is_unit_open=is_unit_open)
    refuse_foreign_format(path, ACCEPTED, SURFACE_ENDINGS)
    surface = load_surface(text)
    return _of_surface(text, surface, unit="m (glTF)" if suffix in (".gltf", ".glb") else "")


def _of_cloud(
    text: str, kind: str, cloud: Cloud, unit: str = "", *, is_unit_open: bool = False
) -> MapInput:
    found = MapInput(
        spec=text,
        kind=kind,
        content=cloud.points,
        intensity=cloud.intensity,
        frame=cloud.frame or "unknown",
        unit=unit or "m (assumed)",
        notes=cloud.notes,
    )
    if cloud.metres_per_unit is None or not is_unit_open:
        return found
    if cloud.metres_per_unit == 1.0:
        return replace(found, unit="m (the file says so)")
    return _scaled(
        found, cloud.metres_per_unit, f"{cloud.metres_per_unit:.6g} m (the file says so)"
    )


def _of_surface(text: str, surface: TriangleSurface, unit: str = "") -> MapInput:
    is_enu = surface.origin is not None
    return MapInput(
        spec=text,
        kind="surface",
        content=surface,
        frame="map (ENU)" if is_enu else "unknown",
        origin=surface.origin,
        unit="m (world)" if is_enu and not unit else unit or "m (assumed)",
        notes=(*(f"missing: {line}" for line in surface.missing), *surface.notes),
    )


def _of_grid(text: str, grid: OccupancyGrid, dialect: str) -> MapInput:
    if grid.n_occupied == 0:
        raise UserError(f"{text}: no cell of the grid is occupied")
    check_memory(
        _BYTES_PER_CENTRE * grid.n_occupied,
        file_bytes=Path(text).stat().st_size,
        where=text,
        what=f"the centres of its {grid.n_occupied} occupied cells",
    )
    points = grid.centres()
    note = f"centres of cells of {grid.resolution_m:g} m"
    frame = "ENU" if dialect == "airsim" else "of the file"
    return MapInput(
        spec=text,
        kind=f"binvox ({dialect})",
        content=points,
        frame=frame,
        edge_m=grid.resolution_m,
        notes=(note,),
    )


def _scaled(found: MapInput, factor: float, blocks: str) -> MapInput:
    content = found.content
    if isinstance(content, TriangleSurface):
        content = replace(content, vertices=content.vertices * factor)
    else:
        content = content * factor
    edge_m = None if found.edge_m is None else found.edge_m * factor
    return replace(found, content=content, edge_m=edge_m, unit=blocks)
