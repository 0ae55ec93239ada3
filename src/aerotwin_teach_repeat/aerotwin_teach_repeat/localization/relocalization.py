# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Relocalisation without a good prior: headings and shifts scored on cells, the best ones matched.

The vehicle stands on the ground that was driven, so height and tilt are those of the vertex; the
search covers heading and a shift of a few metres (correlative matching: Olson 2009, ICRA). The
candidate with most points on the map's surface wins, unless another explains nearly as many.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, make_transform
from aerotwin_core.parameters import parameter
from aerotwin_teach_repeat.localization import search_kernels as kernels
from aerotwin_teach_repeat.localization.grid_kernels import thin
from aerotwin_teach_repeat.localization.matcher import ScanMatch, ScanMatcher, evenly_chosen
from aerotwin_teach_repeat.route_graph import distance_and_angle

_MARGIN_CELLS = 2
_MAX_CELLS = 1 << 25


@dataclass(frozen=True, kw_only=True)
class RelocalizationProtocol:
    """Parameters of the search."""

    cell_m: float = parameter(0.6, text="edge of the cells", unit="m", minimum=0.05, maximum=10.0)
    shift_m: float = parameter(
        3.0, text="largest shift from a vertex, along x and y", unit="m", minimum=0.0, maximum=50.0
    )
    heading_step_deg: float = parameter(
        5.0, text="step of the headings", unit="deg", minimum=0.1, maximum=90.0
    )
    every_m: float = parameter(
        4.0, text="a vertex is tried every so far along the route", unit="m", minimum=0.1
    )
    point_voxel_m: float = parameter(
        1.5, text="the scan is thinned to this for the search", unit="m", minimum=0.1, maximum=20.0
    )
    n_points: int = parameter(300, text="most points of the search", minimum=30, maximum=100_000)
    n_candidates: int = parameter(
        12, text="places that are matched, best first", minimum=1, maximum=10_000
    )
    n_of_vertex: int = parameter(
        3, text="places of one vertex that may be among them", minimum=1, maximum=1000
    )
    min_close_ratio: float = parameter(
        0.5, text="share of the scan that must lie on the surface", minimum=0.0, maximum=1.0
    )
    min_lead: float = parameter(
        0.08, text="share by which the best place must lead another", minimum=0.0, maximum=1.0
    )
    min_separation_m: float = parameter(
        1.5, text="places farther apart than this are not the same", unit="m", minimum=0.01,
        old_name="apart_m",
    )  # fmt: skip
    min_separation_deg: float = parameter(
        15.0, text="or turned by more", unit="deg", minimum=0.1, maximum=180.0, old_name="apart_deg"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A pose found by the search, in the frame of a map, and its fraction of hits."""

    T_target_source: FloatArray
    share: float


class PoseSearch:
    """The search of one scan (n, 3) in the base's frame [m], over any number of maps.

    Points beyond `max_range_m` are not used [m].
    """

    def __init__(
        self, points: np.ndarray, protocol: RelocalizationProtocol, max_range_m: float
    ) -> None:
        self.protocol = protocol
        points = np.ascontiguousarray(points, dtype=np.float32)
        retained = thin(points, protocol.point_voxel_m, 1.0, max_range_m)
        self._points = points[evenly_chosen(retained, protocol.n_points)]

    def candidates(
        self,
        points_target: np.ndarray,
        T_target_vertex: FloatArray,
        *,
        shift_m: float,
        turn_deg: float = 180.0,
    ) -> list[Candidate]:
        """Return the best poses about a pose, best first, none near a better one.

        `points_target` (m, 3) is the map [m]. The pose also sets height and tilt; the search
        extends `shift_m` and `turn_deg` to each side.
        """
        p = self.protocol
        n = int(np.ceil(shift_m / p.cell_m))
        line = p.cell_m * np.arange(-n, n + 1)
        shifts = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
        m = min(int(np.ceil(turn_deg / p.heading_step_deg)), int(180.0 / p.heading_step_deg))
        headings = np.radians(p.heading_step_deg * np.arange(-m, m + 1))
        hits = self._hits(points_target, T_target_vertex, headings, shifts)
        share = hits / max(len(self._points), 1)
        found: list[Candidate] = []
        for at in np.argsort(-share, axis=None, kind="stable")[: 64 * p.n_of_vertex]:
            h, q = np.unravel_index(at, share.shape)
            R = Rotation.from_euler("z", headings[h]).as_matrix()
            T = T_target_vertex @ make_transform(R, [*shifts[q], 0.0])
            if all(is_apart(T, c.T_target_source, p) for c in found):
                found.append(Candidate(T_target_source=T, share=float(share[h, q])))
            if len(found) == p.n_of_vertex:
                break
        return found

    def _hits(self, points_target, T_target_vertex, headings, shifts) -> np.ndarray:
        """Return how many points fall on the map at each heading and shift (h, s)."""
        p = self.protocol
        target = np.ascontiguousarray(points_target, dtype=np.float32)
        # In the vertex's frame headings are rotations about z, whatever its tilt.
        R, origin = np.ascontiguousarray(T_target_vertex[:3, :3]), T_target_vertex[:3, 3].copy()
        points, (low, high) = kernels.moved_into(target, R, origin)
        margin = _MARGIN_CELLS * p.cell_m
        low -= margin
        shape = np.ceil((high + margin - low) / p.cell_m).astype(np.int64)
        if np.prod(shape.astype(np.float64)) > _MAX_CELLS:
            raise ValueError(
                f"the map spans {shape} cells of {p.cell_m:g} m, at most {_MAX_CELLS} fit; use a "
                "larger cell_m"
            )
        cells = kernels.occupied_cells(points, low, 1.0 / p.cell_m, shape)
        hits = np.zeros((len(headings), len(shifts)), dtype=np.int64)
        kernels.count_hits(self._points, headings, shifts, low, 1.0 / p.cell_m, cells, hits)
        return hits


def best_match(
    matcher: ScanMatcher, points: np.ndarray, starts: list[Candidate]
) -> ScanMatch | None:
    """Return the match with most points on the surface from some initial poses, or None."""
    matches = [matcher.match(points, c.T_target_source) for c in starts]
    return max(matches, key=rank, default=None)


def rank(match: ScanMatch) -> tuple[bool, float]:
    """Return the key by which matches are compared, the best largest."""
    return match.accepted, match.close_ratio


def is_apart(T_a: FloatArray, T_b: FloatArray, protocol: RelocalizationProtocol) -> bool:
    """Return whether two poses are different locations."""
    shift, turn = distance_and_angle(T_a, T_b)
    return shift > protocol.min_separation_m or np.degrees(turn) > protocol.min_separation_deg


def verdict(
    places: list[tuple[FloatArray, ScanMatch]], protocol: RelocalizationProtocol
) -> ScanMatch:
    """Return the best of matches at poses in map, refused if another pose is nearly as good.

    `places`, (T_map_base, ScanMatch), are sorted best first and not empty.
    """
    T_best, best = places[0]
    if not best.accepted:
        return best
    if best.close_ratio < protocol.min_close_ratio:
        reason = (
            f"only {best.close_ratio:.0%} of the scan lie on the surface of the best place, "
            f"{protocol.min_close_ratio:.0%} are needed"
        )
        return replace(best, accepted=False, reason=reason)
    for T_other, other in places[1:]:
        lead = 1.0 - other.close_ratio / best.close_ratio
        if lead < protocol.min_lead and is_apart(T_best, T_other, protocol):
            away = float(np.linalg.norm(T_other[:3, 3] - T_best[:3, 3]))
            reason = f"another place, {away:.1f} m away, fits nearly as well ({lead:.0%} less)"
            return replace(best, accepted=False, reason=reason)
    return best
