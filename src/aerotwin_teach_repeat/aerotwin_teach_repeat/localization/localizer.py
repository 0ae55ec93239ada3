# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localisation on a taught route: scans matched to the submaps along it.

Odometry predicts, the submap of the nearest vertex corrects. A correction that contradicts the
prediction is refused, so that a wrong match does not carry the vehicle away; while nothing matches,
the prediction continues with growing covariance until a match fits again or `relocalize` is called.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_teach_repeat.localization.matcher import (
    UNKNOWN_VARIANCE,
    ScanMatch,
    ScanMatcher,
)
from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol
from aerotwin_teach_repeat.localization.relocalization import (
    PoseSearch,
    RelocalizationProtocol,
    best_match,
    rank,
    verdict,
)
from aerotwin_teach_repeat.route_graph import DamagedSubmapError, RouteGraph, Submap

_N_MATCHERS = 6
"""Submaps whose matchers are cached."""
_LEAST_M, _LEAST_DEG = 0.05, 0.5
"""Smallest deviation of a prior: errors of one submap persist from scan to scan."""
_DRIFT, _DRIFT_DEG_M = 0.02, 0.5
"""Standard deviation added per metre of odometry, in metres and degrees."""
_SURE_M, _SURE_DEG = 0.3, 4.0
"""A prior with a larger deviation may lead a match astray: its surroundings are searched."""
_SEARCHED_DEVIATIONS = 2.5
_FAR = 0.3  # margin added to the search of a vertex [m]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScanLocalization:
    """Pose of the vehicle from one scan; check `accepted` first.

    Attributes
    ----------
    T_map_base : (4, 4) array
        Pose in the frame of the route; where not accepted, the prediction of odometry.
    vertex_id, T_vertex_base : int, (4, 4) array
        The nearest vertex of the route, and the pose in its frame.
    covariance : (6, 6) array
        Of position, then rotation vector, in map axes [m, rad].
    matched_ratio, rmse_m : float
        Fraction of the scan that lies on the submap, and RMSE of the pairs along the normals [m];
        NaN without a match.
    accepted, reason : bool, str
        Whether the scan was localised, and why or why not.
    correction_m : float
        Distance of the match from the prediction [m]; NaN without a match.
    """

    stamp_ns: int
    T_map_base: FloatArray
    vertex_id: int
    T_vertex_base: FloatArray
    covariance: FloatArray
    matched_ratio: float
    rmse_m: float
    accepted: bool
    reason: str
    correction_m: float = float("nan")


class SubmapLocalizer:
    """Localises scans against the submaps of a route.

    It starts at the route's first vertex, with the deviations `start_m` and `start_deg`.
    `route_ids` are in driving order and may repeat; `make_matcher` makes the matcher of a submap,
    by default from its 3-D points and normals. `DamagedSubmapError` if no submap can be read.
    """

    def __init__(
        self,
        graph: RouteGraph,
        route_ids: Sequence[int],
        protocol: LocalizationProtocol | None = None,
        relocalization: RelocalizationProtocol | None = None,
        make_matcher: Callable[[Submap], ScanMatcher] | None = None,
    ) -> None:
        if len(route_ids) == 0:
            raise ValueError("route_ids must name a vertex at least, got none")
        self.graph, self.route_ids = graph, list(route_ids)
        self.protocol = protocol or LocalizationProtocol()
        self.relocalization = relocalization or RelocalizationProtocol()
        self._poses = graph.poses_map(self.route_ids)
        self._check_submaps()
        steps = np.linalg.norm(np.diff(self._poses[:, :3, 3], axis=0), axis=1)
        self._along_m = np.append(0.0, np.cumsum(steps))
        self._make_matcher = make_matcher or (
            lambda submap: ScanMatcher(submap.points, submap.normals, self.protocol)
        )
        self._matchers: OrderedDict[int, ScanMatcher] = OrderedDict()
        self._T_odom_base: FloatArray | None = None
        self._odom_covariance = np.zeros((6, 6))
        self._T_map_base: FloatArray = np.eye(4)
        self._place(0, np.eye(4), self._start_covariance())

    # -- state --------------------------------------------------------------------------------

    @property
    def T_map_base(self) -> FloatArray:
        """The last pose (4, 4), localised or predicted."""
        return self._T_map_base.copy()

    @property
    def covariance(self) -> FloatArray:
        """Covariance (6, 6) of the last pose, in map axes."""
        return self._covariance.copy()

    def reset(
        self,
        vertex_id: int,
        T_vertex_base: FloatArray | None = None,
        covariance: FloatArray | None = None,
    ) -> None:
        """Restart at a vertex of the route.

        `T_vertex_base` (4, 4) is the pose in the vertex's frame, identity by default; `covariance`
        (6, 6) is as `ScanLocalization.covariance`, by default from `start_m` and `start_deg`.
        `ValueError` if the vertex is not on the route.
        """
        if vertex_id not in self.route_ids:
            raise ValueError(f"vertex {vertex_id} is not on the route; name one that is")
        T = np.eye(4) if T_vertex_base is None else np.array(T_vertex_base, dtype=np.float64)
        known = self._start_covariance() if covariance is None else covariance
        self._place(self.route_ids.index(vertex_id), T, known)

    # -- localisation ---------------------------------------------------------------------------

    def localize(
        self,
        points_base: np.ndarray,
        stamp_ns: int,
        T_odom_base: FloatArray,
        odom_covariance: FloatArray | None = None,
    ) -> ScanLocalization:
        """Localise a scan near the pose predicted by odometry.

        `points_base` (n, 3) is the deskewed scan, in the base's frame at the stamp [m],
        `T_odom_base` (4, 4) odometry at the stamp, and `odom_covariance` (6, 6) is accumulated
        since its start, as `ScanOdometryFrame.covariance`.
        """
        self._predict(np.asarray(T_odom_base, dtype=np.float64), odom_covariance)
        self._follow()
        try:
            matcher, T_map_submap = self._submap(self._at)
        except DamagedSubmapError as error:
            return self._localization(stamp_ns, None, str(error))
        match = self._matched(matcher, T_map_submap, points_base)
        T_map_base = T_map_submap @ match.T_target_source
        correction = _difference(T_map_base, self._T_map_base)
        problem = self._problem(match, correction)
        if not problem:
            self._T_map_base = T_map_base
            self._covariance = _turned(match.covariance, T_map_submap[:3, :3])
            self._follow()
        return self._localization(stamp_ns, match, problem, float(np.linalg.norm(correction[:3])))

    def relocalize(self, points_base: np.ndarray, stamp_ns: int = 0) -> ScanLocalization:
        """Search the whole route for the pose of a scan (n, 3) as for `localize`.

        If it is found, the state of the localiser moves there.
        """
        search = PoseSearch(points_base, self.relocalization, self.protocol.max_range_m)
        found, damage = [], ""
        for at in self._tried():
            try:
                matcher, T_map_submap = self._submap(at)
            except DamagedSubmapError as error:
                damage = damage or str(error)
                continue
            T = invert_transform(T_map_submap) @ self._poses[at]
            reach_m = self.relocalization.shift_m + _FAR
            found += [
                (c.share, at, c) for c in search.candidates(matcher.points, T, shift_m=reach_m)
            ]
        if not found:
            problem = f"no submap of the route can be read: {damage}"
            return self._localization(stamp_ns, None, problem)
        found.sort(key=lambda item: -item[0])
        places = []
        for _, at, candidate in found[: self.relocalization.n_candidates]:
            matcher, T_map_submap = self._submap(at)
            match = matcher.match(points_base, candidate.T_target_source)
            places.append((T_map_submap @ match.T_target_source, match, at, T_map_submap))
        places.sort(key=lambda item: (not item[1].accepted, -item[1].close_ratio))
        best = verdict([(T, match) for T, match, _, _ in places], self.relocalization)
        if best.accepted:
            self._T_map_base, _, self._at, T_map_submap = places[0]
            self._covariance = _turned(best.covariance, T_map_submap[:3, :3])
            self._T_odom_base = None
            self._follow()
        return self._localization(stamp_ns, best, "" if best.accepted else best.reason)

    # -- parts ----------------------------------------------------------------------------------

    def _check_submaps(self) -> None:
        """Refuse a route without a readable submap; single damaged submaps are tolerated."""
        of_submap = {self.graph.vertex(k).submap_id: k for k in self.route_ids}
        damage: DamagedSubmapError | None = None
        for vertex_id in of_submap.values():
            try:
                self.graph.submap(vertex_id)
                return
            except DamagedSubmapError as error:
                damage = damage or error
        raise DamagedSubmapError(
            f"none of the {len(of_submap)} submaps of the route can be read; the first: {damage}; "
            "restore the folder of the route graph, or teach the route again"
        ) from damage

    def _matched(self, matcher, T_map_submap, points_base) -> ScanMatch:
        T_submap_map = invert_transform(T_map_submap)
        T_start = T_submap_map @ self._T_map_base
        prior = _turned(_no_surer(self._covariance), T_submap_map[:3, :3])
        L = np.linalg.inv(prior)
        shift = float(np.sqrt(np.linalg.eigvalsh(prior[:2, :2])[-1]))
        turn = float(np.degrees(np.sqrt(prior[5, 5])))
        match = matcher.match(points_base, T_start, L)
        if shift <= _SURE_M and turn <= _SURE_DEG:
            return match
        search = PoseSearch(points_base, self.relocalization, self.protocol.max_range_m)
        starts = search.candidates(
            matcher.points,
            T_start,
            shift_m=min(_SEARCHED_DEVIATIONS * shift, self.relocalization.shift_m),
            turn_deg=min(_SEARCHED_DEVIATIONS * turn, 180.0),
        )
        return max(match, best_match(matcher, points_base, starts) or match, key=rank)

    def _problem(self, match: ScanMatch, correction: FloatArray) -> str:
        """Return why a match is refused, or ""."""
        if not match.accepted:
            return match.reason
        p = self.protocol
        shift = float(np.linalg.norm(correction[:3]))
        turn = float(np.degrees(np.linalg.norm(correction[3:])))
        if shift <= p.consistency_m and turn <= p.consistency_deg:
            return ""
        spread = _no_surer(self._covariance) + match.covariance
        deviations = float(np.sqrt(correction @ np.linalg.solve(spread, correction)))
        if deviations <= p.max_inconsistency:
            return ""
        return (
            f"it contradicts odometry by {shift:.2f} m and {turn:.1f} deg, {deviations:.1f} "
            f"standard deviations; {p.max_inconsistency:g} are believed"
        )

    def _predict(self, T_odom_base: FloatArray, odom_covariance: FloatArray | None) -> None:
        if self._T_odom_base is not None:
            step = invert_transform(self._T_odom_base) @ T_odom_base
            self._T_map_base = self._T_map_base @ step
            moved = float(np.linalg.norm(step[:3, 3]))
            angle = float(Rotation.from_matrix(step[:3, :3]).magnitude())
            drift = _DRIFT * (moved + angle), np.radians(_DRIFT_DEG_M) * (moved + angle)
            self._covariance = self._covariance + np.diag(np.repeat(np.square(drift), 3))
            if odom_covariance is not None:
                R = self._T_map_base[:3, :3] @ T_odom_base[:3, :3].T
                grown = _turned(odom_covariance - self._odom_covariance, R)
                self._covariance = self._covariance + _positive_part(grown)
        self._T_odom_base = T_odom_base
        if odom_covariance is not None:
            self._odom_covariance = np.array(odom_covariance, dtype=np.float64)

    def _follow(self) -> None:
        """Move to the nearest vertex, within `window_m` of the last one along the route."""
        s = self._along_m
        window = np.flatnonzero(np.abs(s - s[self._at]) <= self.protocol.window_m)
        gaps = self._poses[window, :3, 3] - self._T_map_base[:3, 3]
        self._at = int(window[np.argmin(np.einsum("ij,ij->i", gaps, gaps))])

    def _submap(self, at: int) -> tuple[ScanMatcher, FloatArray]:
        """Return the matcher of a vertex of the route, and T_map_submap."""
        vertex_id = self.route_ids[at]
        submap, T_submap_vertex = self.graph.intact_submap(vertex_id)
        T_map_submap = self._poses[at] @ invert_transform(T_submap_vertex)
        if submap.vertex_id not in self._matchers:
            self._matchers[submap.vertex_id] = self._make_matcher(submap)
            if len(self._matchers) > _N_MATCHERS:
                self._matchers.popitem(last=False)
        self._matchers.move_to_end(submap.vertex_id)
        return self._matchers[submap.vertex_id], T_map_submap

    def _tried(self) -> list[int]:
        """Return indices of vertices every `every_m` along the route, including the last one."""
        every = self.relocalization.every_m
        marks = np.arange(0.0, self._along_m[-1] + every, every)
        return sorted({int(np.argmin(np.abs(self._along_m - mark))) for mark in marks})

    def _place(self, at: int, T_vertex_base: FloatArray, covariance: FloatArray) -> None:
        self._at, self._T_map_base = at, self._poses[at] @ T_vertex_base
        self._covariance = np.array(covariance, dtype=np.float64)
        self._T_odom_base = None

    def _start_covariance(self) -> FloatArray:
        p = self.protocol
        return np.diag(np.repeat([p.start_m**2, np.radians(p.start_deg) ** 2], 3))

    def _localization(
        self,
        stamp_ns: int,
        match: ScanMatch | None,
        problem: str,
        correction_m: float = float("nan"),
    ) -> ScanLocalization:
        covariance = np.minimum(self._covariance, UNKNOWN_VARIANCE)
        return ScanLocalization(
            stamp_ns=stamp_ns,
            T_map_base=self._T_map_base.copy(),
            vertex_id=self.route_ids[self._at],
            T_vertex_base=invert_transform(self._poses[self._at]) @ self._T_map_base,
            covariance=covariance,
            matched_ratio=0.0 if match is None else match.matched_ratio,
            rmse_m=float("nan") if match is None else match.rmse_m,
            accepted=not problem,
            reason=problem or ("" if match is None else match.reason),
            correction_m=correction_m,
        )


def _difference(T_a: FloatArray, T_b: FloatArray) -> FloatArray:
    """Return the shift and rotation vector (6,) from pose b to pose a, in axes of their frame."""
    turn = Rotation.from_matrix(T_a[:3, :3] @ T_b[:3, :3].T).as_rotvec()
    return np.concatenate([T_a[:3, 3] - T_b[:3, 3], turn])


def _no_surer(covariance: FloatArray) -> FloatArray:
    return covariance + np.diag(np.repeat([_LEAST_M**2, np.radians(_LEAST_DEG) ** 2], 3))


def _turned(covariance: FloatArray, R: FloatArray) -> FloatArray:
    """Return the covariance (6, 6) of a pose in other axes; R maps vectors to them."""
    B = np.kron(np.eye(2), R)
    return B @ covariance @ B.T


def _positive_part(covariance: FloatArray) -> FloatArray:
    """Return a symmetric matrix without its negative part."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
