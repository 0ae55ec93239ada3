# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One turn of the radar of a repeat, and its section beside figures of real radars."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.frames import invert_transform, transform_points
from aerotwin_core.section import Figure, Section
from aerotwin_ground_simulator import NO_FAULTS
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import Displacement, true_poses
from aerotwin_repeat_evaluation.published import published_table
from aerotwin_scenarios.teach_repeat.closed_loop import RadarSensor
from aerotwin_scenarios.teach_repeat.study import RepeatStudy
from aerotwin_teach_repeat.radar.figures import power_from_above, turn_picture
from aerotwin_teach_repeat.route_graph import RouteGraph

SHOWN_M = 40.0
"""Half of the side of the pictures."""
ON_MAP_M = 1.0
"""A peak so near the map lies on it: the first gate of the matching (VTR3)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RadarTurn:
    """A turn of a radar: its power from above (n, n) [dB], and peaks (m, 2) in base [m].

    `is_on_map` (m,) are those peaks that lie on the map, `flat_map` (k, 2) is the part of the map
    that the beam meets.
    """

    power_db: np.ndarray
    peaks: np.ndarray
    is_on_map: np.ndarray
    flat_map: np.ndarray


def radar_turn(
    graph: RouteGraph,
    route_ids: Sequence[int],
    queries: WorldQueries,
    study: RepeatStudy,
    displacement: Displacement,
) -> RadarTurn:
    """Return one turn at the middle of a route, and the map of that vertex.

    `route_ids` are those of the graph's vertices in driving order, `queries` is the true world,
    from which the graph's map differs by `displacement`; the study has a radar.
    """
    sensor, middle = RadarSensor(study), route_ids[len(route_ids) // 2]
    T_map_vertex = graph.vertex(middle).T_map_vertex
    (T_true,) = true_poses(displacement, T_map_vertex[None])
    robot = sensor.simulate(study.robot_of(0), queries, T_true, NO_FAULTS)
    turn = robot.advance_to(2 * sensor.period_ns)[0]
    points, _ = sensor.measured(turn)
    submap, T_submap_vertex = graph.intact_submap(middle)
    T_vertex_submap = invert_transform(T_submap_vertex)
    flat, _, _ = sensor.protocol.view.flat_map(
        transform_points(T_vertex_submap, submap.points), submap.normals @ T_submap_vertex[:3, :3]
    )
    points = points[np.hypot(*points[:, :2].T) < sensor.protocol.localization.max_range_m, :2]
    radar = sensor.radar
    return RadarTurn(
        power_db=power_from_above(turn.levels, radar.azimuths, radar.bin_m, SHOWN_M),
        peaks=points,
        is_on_map=cKDTree(flat[:, :2]).query(points)[0] < ON_MAP_M,
        flat_map=flat[:, :2],
    )


def radar_section(turn: RadarTurn) -> Section:
    """Return the section: power, and peaks on the map."""
    n = len(turn.peaks)
    share = float(turn.is_on_map.mean()) if n else 0.0
    picture = turn_picture(
        turn.power_db, turn.peaks, turn.is_on_map, turn.flat_map, SHOWN_M, "radar-turn"
    )
    return Section(
        title="Radar",
        name="radar",
        verdict=f"{share:.0%} of the {n} peaks of one turn lie on the map.",
        text="The robot stood at the middle of the route. Peaks behind walls are ghosts: echoes of "
        "what a wall mirrors. Walls that face away from the radar, and what is hidden, have none.",
        figures=(
            Figure(
                title="A turn of the radar",
                caption=f"Power on the left. On the right its peaks; those within {ON_MAP_M:g} m "
                "of what a level beam meets of the map lie on it.",
                svg=picture,
                is_wide=True,
            ),
        ),
        tables=(published_table(sensor="radar"),),
        metrics={"n_peaks": n, "share_on_map": share},
    )
