# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Content of a world's YAML file: one source of geometry, light, origin, start, attribution."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_meshes.placement import PlacementDescription
from aerotwin_worlds.height_map import HeightMapDescription
from aerotwin_worlds.light import LightDescription
from aerotwin_worlds.photogrammetry import PhotogrammetryDescription

SOURCES = ("generator", "mesh", "height_map", "photogrammetry", "tiles")
"""Keys of a world file that say where its shapes come from."""


@dataclass(frozen=True, kw_only=True)
class OriginDescription:
    """Geodetic position of the map frame's origin (WGS84)."""

    latitude_deg: float = parameter(text="Latitude.", unit="deg", minimum=-90, maximum=90)
    longitude_deg: float = parameter(text="Longitude.", unit="deg", minimum=-180, maximum=180)
    altitude_m: float = parameter(
        text="Height above the ellipsoid of map z = 0.", unit="m", minimum=-12000, maximum=100000
    )


@dataclass(frozen=True, kw_only=True)
class StartDescription:
    """Start pose of a vehicle; its height is that of the surface there."""

    x_m: float = parameter(text="Map x.", unit="m")
    y_m: float = parameter(text="Map y.", unit="m")
    yaw_deg: float = parameter(
        default=0.0,
        text="Heading, counter-clockwise from east.",
        unit="deg",
        minimum=-360,
        maximum=360,
    )


@dataclass(frozen=True, kw_only=True)
class WorldDescription:
    """Content of a world's YAML file; the geometry comes from exactly one source."""

    name: str = parameter(text="Name shown to people.")
    generator: str = parameter(default="", text="Name of a generator of this package.")
    parameters: dict | None = parameter(default=None, text="Parameters of the generator.")
    mesh: str = parameter(
        default="", text="Mesh file (.obj, .ply, .gltf, .glb) in the folder of this file."
    )
    placement: PlacementDescription | None = parameter(
        default=None, text="How the mesh file lies in the map; left out: as it is."
    )
    height_map: HeightMapDescription | None = parameter(
        default=None, text="Heights in a raster (GeoTIFF, PNG)."
    )
    photogrammetry: PhotogrammetryDescription | None = parameter(
        default=None, text="A survey: surface model and orthophoto or coloured point cloud."
    )
    tiles: dict | None = parameter(default=None, text="A 3-D Tiles tileset: folder or URL.")
    light: LightDescription | None = parameter(
        default=None, text="Sun and ambient light; left out: as the textures are."
    )
    origin: OriginDescription | None = parameter(
        default=None,
        text="Origin of the map frame on Earth; needed where the source does not know its own.",
    )
    start: StartDescription | None = parameter(
        default=None,
        text="Where a vehicle stands at first; left out: a place near the middle.",
    )
    attribution: str = parameter(text="Who made the data; shown by reports and viewers.")
    licence: str = parameter(text="Licence of the data; shown by reports and viewers.")

    def __post_init__(self) -> None:
        provided = [name for name in SOURCES if getattr(self, name) not in ("", None)]
        if len(provided) != 1:
            raise ValueError(
                f"must have exactly one of {', '.join(SOURCES)}, got {provided or 'none'}; "
                "delete or add one"
            )
        for name, needs in (("parameters", "generator"), ("placement", "mesh")):
            if getattr(self, name) is not None and provided != [needs]:
                raise ValueError(
                    f"'{name}' belongs to '{needs}', got it with '{provided[0]}'; remove it"
                )
        for name in ("name", "attribution", "licence"):
            if not getattr(self, name).strip():
                raise ValueError(f"'{name}' must not be empty: people are to read it; write it")

    @property
    def source(self) -> str:
        """Which of `SOURCES` is set."""
        return next(name for name in SOURCES if getattr(self, name) not in ("", None))
