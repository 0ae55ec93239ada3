# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map of any source on the page: a cloud or a mesh, by height or by distance to a reference."""

import numpy as np
from viser import MeshHandle, PointCloudHandle

from aerotwin_core.charts import frame_of, sampled
from aerotwin_core.frames import FloatArray
from aerotwin_map_evaluation import MapProtocol
from aerotwin_map_evaluation.inputs import points_of
from aerotwin_registration.clouds import CLOUD_SUFFIXES
from aerotwin_view.page import Page
from aerotwin_view.recorded.map_distances import UNALIGNED, map_distances
from aerotwin_view.scene.error_colours import ColourBar
from aerotwin_view.scene.visibility_switch import VisibilitySwitch
from aerotwin_view.scene.world_scene import place_camera
from aerotwin_voxel_cloud import MapInput, TriangleSurface, load_map

SUFFIXES = (*CLOUD_SUFFIXES, ".obj", ".gltf", ".glb", ".binvox")
MOST_POINTS = 1_000_000
"""That a page shows: 15 bytes each, at 10 pictures a second on a computer of ten years ago."""
MOST_TRIANGLES = 500_000
"""A larger mesh is shown by samples of its surface."""
_FAR_M = 10_000.0
"""Farther from the origin single precision, which a page has, shows points beside their places."""
_FEWEST_FOR_EDGE, _SMALLEST_M, _LARGEST_SHARE = 100, 0.005, 0.004
_MESH_RGB, _REFERENCE_RGB = (176, 184, 194), (120, 128, 140)


def is_map_file(spec: str) -> bool:
    """Return whether a text names a cloud or a mesh, by its ending."""
    return spec.lower().endswith(SUFFIXES)


def show_map(page: Page, spec: str, reference: str | None = None, align: str = UNALIGNED) -> None:
    """Show a map of `aerotwin_voxel_cloud.load_map`, coloured by its distance to a reference.

    Raises
    ------
    UserError
        If a file is missing, damaged or larger than memory, or an alignment fails.
    """
    found = load_map(spec)
    shown = _ShownMap(page, found)
    if reference is None:
        shown.show_by_height()
    else:
        shown.show_by_distance(load_map(reference), align)
    for note in found.notes:
        page.add_text(note)


class _ShownMap:
    """A map on a page, about its middle if it lies far from the origin."""

    def __init__(self, page: Page, found: MapInput) -> None:
        self._page, self._found = page, found
        middle = found.bounds_m.mean(axis=0)
        is_far = np.abs(found.bounds_m).max() > _FAR_M
        self._origin = np.floor(middle) if is_far else np.zeros(3)
        self._sampled = points_of(found, MapProtocol().floor_spacing_m)

    def show_by_height(self) -> None:
        """Show a small mesh as it is, all else as points coloured by height."""
        content = self._found.content
        self._page.add_text(self._found.describe())
        if isinstance(content, TriangleSurface) and len(content.triangles) <= MOST_TRIANGLES:
            self._add_mesh("/map", content, _MESH_RGB)
            self._look(content.vertices)
        else:
            points = self._sampled.points
            low, high = np.quantile(points[:, 2], [0.002, 0.998]).tolist()
            limits = (low, max(high, low + 1e-3))
            bar = ColourBar(self._page, points[:, 2], "height z", limits=limits)
            self._add_points(points, bar.colours(points[:, 2]))

    def show_by_distance(self, reference: MapInput, align: str) -> None:
        """Show the points that a map evaluation judges by their distances to a reference."""
        found = map_distances(reference, self._sampled, align)
        kind = "surface" if reference.is_surface else "points"
        self._page.add_text(f"{self._sampled.describe()}\nto the {kind} of {reference.describe()}")
        bar = ColourBar(self._page, found.distances_m, "distance")
        self._page.add_text(f"{found.text()}\nalignment: {found.alignment}")
        self._add_points(found.points_map, bar.colours(found.distances_m))
        self._add_reference(reference)

    def _add_points(self, points: FloatArray, colours: np.ndarray) -> None:
        which = sampled(len(points), MOST_POINTS)
        if len(which) < len(points):
            self._page.add_text(f"{len(which)} of {len(points)} points are shown")
        _PointSize(self._page, self._cloud("/map", points[which], colours[which]))
        self._look(points)

    def _add_reference(self, reference: MapInput) -> None:
        """Add the reference, which is hidden at first."""
        content = reference.content
        if isinstance(content, TriangleSurface) and len(content.triangles) <= MOST_TRIANGLES:
            shown: MeshHandle | PointCloudHandle = self._add_mesh(
                "/reference", content, _REFERENCE_RGB
            )
        else:
            points = points_of(reference, MapProtocol().floor_spacing_m).points
            points = points[sampled(len(points), MOST_POINTS)]
            shown = self._cloud("/reference", points, np.array(_REFERENCE_RGB))
        VisibilitySwitch(self._page, "Show reference", shown, is_shown=False)

    def _cloud(self, name: str, points: FloatArray, colours: np.ndarray) -> PointCloudHandle:
        """Add points (n, 3) in the colours (n, 3), or one (3,), that the legend has."""
        return self._page.scene.add_point_cloud(
            name,
            self._local(points),
            colours,
            point_size=self._size_of_a_point(points),
            point_shape="circle",
            point_shading="flat",
            precision="float32",
        )

    def _add_mesh(
        self, name: str, surface: TriangleSurface, rgb: tuple[int, int, int]
    ) -> MeshHandle:
        return self._page.scene.add_mesh_simple(
            name, self._local(surface.vertices), surface.triangles.astype(np.uint32), color=rgb,
            flat_shading=True, side="double",
        )  # fmt: skip

    def _local(self, points: FloatArray) -> np.ndarray:
        return (points - self._origin).astype(np.float32)

    @staticmethod
    def _size_of_a_point(points: FloatArray) -> float:
        """Return the distance at which so many points would cover their extent once [m]."""
        low, high = frame_of(points)
        longest, middle = np.sort(high - low)[::-1][:2]
        size_m = float(np.sqrt(longest * middle / max(len(points), _FEWEST_FOR_EDGE)))
        return max(min(size_m, _LARGEST_SHARE * float(longest)), _SMALLEST_M)

    def _look(self, points: FloatArray) -> None:
        """Let pages begin in the south of the points, above them."""
        low, high = frame_of(points)
        if self._origin.any():
            x, y, z = self._origin
            self._page.add_text(f"shown about ({x:.0f}, {y:.0f}, {z:.0f}) m of its frame")
        middle = (low + high) / 2.0 - self._origin
        place_camera(self._page, middle, np.pi / 2.0, back_m=0.9 * float((high - low).max()))


class _PointSize:
    """A slider for the size of the points of a cloud."""

    def __init__(self, page: Page, cloud: PointCloudHandle) -> None:
        self._cloud, self._usual_m = cloud, float(cloud.point_size)
        self._slider = page.gui.add_slider(
            "Point size", 0.2, 5.0, step=0.1, initial_value=1.0, hint="times the usual one"
        )
        self._slider.on_update(lambda _: self._follow())

    def _follow(self) -> None:
        self._cloud.point_size = self._usual_m * float(self._slider.value)
