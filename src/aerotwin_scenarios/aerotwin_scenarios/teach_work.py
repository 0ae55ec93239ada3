# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The steps of `aerotwin teach`: cloud, route, path, checks, graph, files beside it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.parameters import load_parameters, to_mapping
from aerotwin_scenarios.world_routes import route_of_world
from aerotwin_teach_repeat.info_command import describe
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.submaps import CroppedSubmaps
from aerotwin_teach_repeat.teaching import (
    GroundGrid,
    Localisability,
    RouteFile,
    TeachParameters,
    Traversability,
    VehicleOutline,
    VirtualPath,
    graph_of_path,
    load_route,
    localisability,
    poses_on_ground,
    read_driven,
    read_relative_transforms,
    save_route,
    traversability,
    virtual_path,
    way_around,
    write_cloud_with_normals,
    write_relative_transforms,
)


@dataclass(kw_only=True, eq=False)
class Teach:
    """State of a teach run: inputs, then path, passage, graph and prediction."""

    source: str
    points_map: np.ndarray
    route: RouteFile | None
    driven_map: np.ndarray | None
    parameters: TeachParameters
    vehicle: VehicleOutline
    avoid_m: float
    is_laid: bool
    path: VirtualPath = field(init=False)
    passage: Traversability = field(init=False)
    graph: RouteGraph = field(init=False)
    prediction: Localisability = field(init=False)

    def lay_path(self) -> VirtualPath:
        """Make the path of the route."""
        provided, is_closed = self.driven_map, False
        if self.route is not None:
            waypoints = self.route.waypoints
            if self.avoid_m > 0.0:
                waypoints = way_around(
                    waypoints,
                    self.points_map,
                    is_closed=self.route.is_closed,
                    reach_m=self.avoid_m,
                    vehicle=self.vehicle,
                    path=self.parameters.path,
                    ground=self.parameters.ground,
                )
                rounded = tuple((float(x), float(y)) for x, y in waypoints.round(2))
                self.route = load_parameters(
                    RouteFile, to_mapping(self.route) | {"waypoints_m": rounded}, where="the detour"
                )
            provided, is_closed = self.route.waypoints, self.route.is_closed
        assert provided is not None
        self.path = virtual_path(
            self.points_map, provided, is_closed=is_closed, parameters=self.parameters
        )
        if self.route is None and self.is_laid:
            self.path = self._laid(self.path)
        return self.path

    def _laid(self, path: VirtualPath) -> VirtualPath:
        """Return a driven path with heights and attitudes of the cloud's ground."""
        ahead = path.poses_map[:, :2, 0]
        heading = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
        poses = poses_on_ground(
            path.poses_map[:, :2, 3], heading, self._ground(path), self.parameters.ground
        )
        known = np.isfinite(poses).all(axis=(1, 2))
        poses[~known] = path.poses_map[~known]
        return VirtualPath(poses_map=poses, s_m=path.s_m, is_closed=path.is_closed)

    def _ground(self, path: VirtualPath) -> GroundGrid:
        return GroundGrid.of(
            self.points_map, path.poses_map[:, :2, 3], parameters=self.parameters.ground
        )

    def check_passage(self) -> Traversability:
        """Find out what the path asks of the vehicle."""
        self.passage = traversability(
            self.path.poses_map, self.path.s_m, self.points_map, self._ground(self.path),
            self.vehicle,
        )  # fmt: skip
        return self.passage

    def make_graph(self) -> RouteGraph:
        """Make the route graph; its submaps are cut when they are written."""
        about = {
            "source": self.source,
            "route": None if self.route is None else to_mapping(self.route),
            "markers_s_m": self.markers_s_m.tolist(),
            "parameters": to_mapping(self.parameters),
        }
        self.graph = graph_of_path(
            self.path, self.points_map, parameters=self.parameters, about=about
        )
        return self.graph

    def predict(self, on_submap: Callable[[], Any]) -> Localisability:
        """Predict how well a lidar could localise at each submap."""
        self.prediction = localisability(
            self.graph, submaps=self.parameters.submaps, on_submap=on_submap
        )
        return self.prediction

    @property
    def markers_s_m(self) -> np.ndarray:
        """Stations of the route's markers [m]."""
        return np.empty(0) if self.route is None else self.route.markers(self.path.length_m)

    def payload(self) -> dict[str, Any]:
        """Return what the JSON says."""
        places = [np.interp(self.markers_s_m, self.path.s_m, c) for c in self.passage.p_map.T]
        markers = np.column_stack([self.markers_s_m, *places])
        content: dict[str, Any] = {
            "source": self.source,
            "n_points": len(self.points_map),
            "length_m": self.path.length_m,
            "is_closed": self.path.is_closed,
            "markers": [dict(zip(("s_m", "x_m", "y_m", "z_m"), row)) for row in markers.tolist()],
            "traversability": self.passage.metrics(),
        }
        if hasattr(self, "graph"):
            content |= {k: v for k, v in describe(self.graph).items() if k != "about"}
        if hasattr(self, "prediction"):
            content["localisability"] = self.prediction.metrics()
        return content

    def write_beside(self, *, route: Path | None, vtr: Path | None, picture: Path | None) -> None:
        """Write the route, the wrapper's files and the picture, each where it has a path."""
        if route is not None and self.route is not None:
            save_route(route, self.route)
        if vtr is not None:
            self._write_vtr(vtr)
        if picture is not None:
            self._write_picture(picture)

    def _write_picture(self, path: Path) -> None:
        from aerotwin_teach_repeat.teaching.picture import route_picture

        route = "" if self.route is None else self.route.name
        name = f"{route} in {self.source}" if route not in ("", self.source) else self.source
        png = route_picture(
            self.points_map,
            self.passage,
            self.prediction,
            markers_s_m=self.markers_s_m,
            title=f"{name}: {self.path.length_m:.0f} m",
        )
        with atomic_file(path) as file:
            file.write(png)

    def _write_vtr(self, folder: Path) -> None:
        submaps = self.graph.submaps
        assert isinstance(submaps, CroppedSubmaps)
        cloud = submaps.cloud
        stamps = np.array([vertex.stamp_ns for vertex in self.graph.vertices])
        folder.mkdir(parents=True, exist_ok=True)
        write_relative_transforms(
            folder / "relative_transforms.csv", stamps, self.graph.poses_map()
        )
        write_cloud_with_normals(folder / "cloud.ply", cloud.points_map, cloud.normals_map)


def read_points(source: str, spacing_m: float, unit: str, drop_invalid: bool) -> np.ndarray:
    """Return the points (n, 3) of a cloud, or of a surface one for each cell that it meets [m]."""
    from aerotwin_voxel_cloud import load_map
    from aerotwin_voxel_cloud.sources import frame_of, points_of, voxelise_content

    found = load_map(source, unit=unit, drop_invalid=drop_invalid)
    if not found.is_surface:
        return found.points
    grid = voxelise_content(found.content, frame_of(found.content, spacing_m))
    return points_of(found.content, grid, "surface")


def read_route(source: str | None, cloud: str) -> tuple[RouteFile | None, np.ndarray | None]:
    """Return the route of a file or of a world, or the poses T_map_base of a drive."""
    if source is None:
        return route_of_world(cloud), None
    suffix = Path(source).suffix.lower()
    if suffix in (".yaml", ".yml"):
        return load_route(source), None
    if suffix == ".csv":
        return None, read_relative_transforms(source)[1]
    return None, read_driven(source).transforms()
