# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Two maps against one model: register both, measure both, compare.

References
----------
Beam et al.: Cesium Tiles for High-realism Simulation and Comparing SLAM Results in Corresponding
Virtual and Real-world Environments, 2024, sections III-C and IV.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_comparison.twin.differences import (
    DIFFERENT,
    EQUIVALENT,
    FEWEST_BLOCKS,
    UNDECIDED,
    Differences,
    Distances,
    differences,
    noticed_noise,
)
from aerotwin_comparison.twin.protocol import PART, TwinProtocol
from aerotwin_comparison.twin.sides import TwinSide
from aerotwin_core.frames import transform_points
from aerotwin_core.protocol import DEFAULT, Protocol
from aerotwin_map_evaluation import MapEvaluation, MapProtocol, SurfaceReference, evaluate_map
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_map_evaluation.tables import spacing_warnings
from aerotwin_statistics import Equivalence

SIMULATED_BOTH = "both flights are simulated, so that this checks the method only"
ONE_FLIGHT_EACH = (
    "One flight each: the intervals say how well these two maps are known, not how the next "
    "flights would differ. Several flights of each are a study (aerotwin evaluate study)."
)
_PARTS = {"mean": "means", "std": "standard deviations", "share": "shares within the cut"}
STEPS = ("differences", "overlap")
"""What comes after both maps were measured."""
_OVERLAP_EDGE_M = 2.0
_LEAST_OVERLAP = 0.7


@dataclass(frozen=True, kw_only=True)
class TwinComparison:
    """Comparison of side b ("real") with side a ("simulated").

    Attributes
    ----------
    map_a, map_b : MapEvaluation
        Each map against the model.
    judged : Differences or None
        By the main distance: to the true surface where it is known, else the protocol's
        correspondences. None when a map could not be aligned.
    published : Differences or None
        By the paper's measure: correspondences to the model's points within the cut. The same
        object as `judged` where there is no surface.
    overlap : tuple of float
        Share of the points of a, and of b, with a point of the other map within 2 m.
    model_notes : tuple of str
        Problems of the model's file.
    """

    a: TwinSide
    b: TwinSide
    map_a: MapEvaluation
    map_b: MapEvaluation
    judged: Differences | None
    published: Differences | None
    overlap: tuple[float, float]
    choices: Protocol[TwinProtocol]
    model_notes: tuple[str, ...] = ()

    @property
    def is_aligned(self) -> bool:
        """Whether both maps could be registered to the model."""
        return all(m.registration.converged for m in (self.map_a, self.map_b))

    @property
    def verdict(self) -> str:
        """`equivalent`, `different` or `not decided`."""
        return UNDECIDED if self.judged is None else self.judged.verdict

    @property
    def are_both_simulated(self) -> bool:
        """Whether both are simulated, so that only the method is checked."""
        return self.a.kind == self.b.kind == "simulated"

    @property
    def sentence(self) -> str:
        """The verdict in one sentence: by which distance, how certain, and its limits."""
        text = self._unaligned() if self.judged is None else as_text(self.judged)
        return f"{text}; {SIMULATED_BOTH}." if self.are_both_simulated else f"{text}."

    def _unaligned(self) -> str:
        failed = [
            f"{side.label} could not be aligned to the model ({m.registration.reason})"
            for side, m in ((self.a, self.map_a), (self.b, self.map_b))
            if not m.registration.converged
        ]
        return f"Not decided: {' and '.join(failed)}"

    def path_map(self, which: str) -> np.ndarray | None:
        """Return the path (n, 3) of side "a" or "b" after registration; None without a path."""
        side, m = (self.a, self.map_a) if which == "a" else (self.b, self.map_b)
        if side.trajectory is None:
            return None
        S = m.registration.S_target_source @ m.T_initial
        return transform_points(S, side.trajectory.p_ref_body)

    def warnings(self) -> list[str]:
        """Return what must be known before trusting the numbers."""
        found = []
        kinds = {self.a.kind, self.b.kind}
        if None in kinds:
            found.append("Whether a map is simulated or real was not said (--kind-a, --kind-b).")
        elif kinds == {"real"}:
            found.append("Both are real recordings: two maps are compared, not a simulation.")
        found += [*self.a.notes, *self.b.notes, *self.model_notes]
        found += _not_settled(self.judged)
        for side, m in ((self.a, self.map_a), (self.b, self.map_b)):
            found += [f"{side.label}: {text}" for text in spacing_warnings(m)]
        for side, share in ((self.a, self.overlap[0]), (self.b, self.overlap[1])):
            if share < _LEAST_OVERLAP:
                found.append(
                    f"Only {share:.0%} of the points of {side.label} lie where the other map has "
                    "any: the maps differ in what was seen, too."
                )
        return found

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "is_aligned": self.is_aligned,
            "are_both_simulated": self.are_both_simulated,
            "judged_by": None if self.judged is None else self.judged.kind,
            "difference": {
                d.kind: d.plain() for d in (self.published, self.judged) if d is not None
            },
            "overlap": {"a": self.overlap[0], "b": self.overlap[1]},
            "a": _side(self.a, self.map_a),
            "b": _side(self.b, self.map_b),
            "protocol": {"twin": self.choices.plain(), "map": self.map_a.choices.plain()},
        }


def compare_twins(
    a: TwinSide,
    b: TwinSide,
    reference: SurfaceReference | MapReference,
    *,
    map_protocol: MapProtocol | Protocol[MapProtocol] | None = None,
    protocol: TwinProtocol | Protocol[TwinProtocol] | None = None,
    model_notes: tuple[str, ...] = (),
    on_step: Callable[[str], None] | None = None,
) -> TwinComparison:
    """Compare two maps of one place, the simulated and the real one or any two.

    The model is a surface or points (`MapReference.of`, `load_model`). `map_protocol` is how each
    map is aligned and measured (default: `beam2024`), `protocol` how the two are compared. Notes of
    the model's file (`Model.notes`) are shown among the warnings; `on_step` is called with the name
    of each step, for progress.

    Raises
    ------
    UserError
        If a map is empty or not finite, or too small for the blocks.
    """
    choices = _named(protocol)
    against = _model(reference, map_protocol)
    maps = []
    for side in (a, b):
        say = None if on_step is None else _prefixed(on_step, side.label)
        maps.append(
            evaluate_map(
                against,
                side.points_odom,
                T_map_odom_initial=side.T_reference_odom,
                is_placed=False,
                protocol=map_protocol,
                on_step=say,
            )
        )
    judged, published = None, None
    if all(m.registration.converged for m in maps):
        if on_step is not None:
            on_step(STEPS[0])
        published = _published(maps[0], maps[1], choices.choices)
        judged = (
            published if against.surface is None else _to_surface(maps[0], maps[1], choices.choices)
        )
    if on_step is not None:
        on_step(STEPS[1])
    return TwinComparison(
        a=a,
        b=b,
        map_a=maps[0],
        map_b=maps[1],
        judged=judged,
        published=published,
        overlap=_overlap(maps[0].aligned_points_map, maps[1].aligned_points_map),
        choices=choices,
        model_notes=model_notes,
    )


def _named(protocol: TwinProtocol | Protocol[TwinProtocol] | None) -> Protocol[TwinProtocol]:
    if isinstance(protocol, Protocol):
        return protocol
    name = DEFAULT if protocol is None else "given"
    return Protocol(name=name, part=PART, choices=protocol or TwinProtocol())


def _model(
    reference: SurfaceReference | MapReference,
    protocol: MapProtocol | Protocol[MapProtocol] | None,
) -> MapReference:
    """Return the model with its voxels, built once for both maps."""
    if isinstance(reference, MapReference):
        return reference
    choices = protocol.choices if isinstance(protocol, Protocol) else protocol or MapProtocol()
    return MapReference.of(reference, None, choices)


def _prefixed(say: Callable[[str], None], label: str) -> Callable[[str], None]:
    return lambda text: say(f"{label}: {text}")


def _published(a: MapEvaluation, b: MapEvaluation, protocol: TwinProtocol) -> Differences:
    """Compare by table II of the paper: distances within the cut."""
    cut_m, kind = a.protocol.cut_m, a.protocol.distance
    sides = []
    for m in (a, b):
        within = m.voxel_distances <= cut_m
        sides.append(
            Distances(
                points_map=m.aligned_points_map,
                values=m.voxel_distances,
                is_retained=within,
                is_within=within,
            )
        )
    sight = noticed_noise(
        a.aligned_points_map, lambda p: a.reference.distances(p, kind), cut_m, protocol
    )
    target = "the true surface" if kind == "surface" else a.reference.what
    what = f"distances to {target} within {cut_m:g} m"
    return differences("correspondences", what, sides[0], sides[1], protocol, sight)


def _to_surface(a: MapEvaluation, b: MapEvaluation, protocol: TwinProtocol) -> Differences:
    """Compare by the distance of all points to the true surface."""
    sides = []
    for m in (a, b):
        values = m.judged_distances
        sides.append(
            Distances(
                points_map=m.judged_points_map,
                values=values,
                is_retained=np.ones(len(values), dtype=bool),
                is_within=values <= m.protocol.cut_m,
            )
        )
    surface = a.reference.surface
    assert surface is not None
    sight = noticed_noise(a.judged_points_map, surface.distances, np.inf, protocol)
    what = "distances of all points to the true surface"
    return differences("surface", what, sides[0], sides[1], protocol, sight)


def _overlap(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Return the share of each cloud's points (n, 3) with one of the other within 2 m."""
    from scipy.spatial import cKDTree

    trees = cKDTree(a, balanced_tree=False), cKDTree(b, balanced_tree=False)
    shares = []
    for points, tree in ((a, trees[1]), (b, trees[0])):
        found = tree.query(points, distance_upper_bound=_OVERLAP_EDGE_M, workers=-1)[0]
        shares.append(float(np.mean(np.isfinite(found))))
    return shares[0], shares[1]


def _side(side: TwinSide, m: MapEvaluation) -> dict[str, Any]:
    return {
        "label": side.label,
        "kind": side.kind,
        "source": side.source,
        "settings": side.settings,
        "sensing": side.sensing.plain(),
        "path_m": None if side.trajectory is None else side.trajectory.path_length_m,
        "map": m.metrics(),
    }


def _not_settled(judged: Differences | None) -> list[str]:
    if judged is None or judged.block.is_settled:
        return []
    return [
        f"The standard error still grows at cubes of {judged.block.edge:g} m: errors hang together "
        "over longer distances than the map allows to see, and the intervals are too short."
    ]


def as_text(d: Differences) -> str:
    """Return a verdict without a full stop: by which distances, and which part decides."""
    by = f"by the {d.what}"
    if d.block.n_blocks < FEWEST_BLOCKS:
        return (
            f"Not decided: {by}, {d.block.n_blocks} cubes of space are too few for intervals "
            f"({FEWEST_BLOCKS} are needed)"
        )
    if d.verdict == EQUIVALENT:
        return (
            f"Equivalent: {by}, {_interval('mean', d.mean)}, and every interval lies within its "
            "margin"
        )
    deciding = [name for name, part in d.parts.items() if part.verdict == d.verdict]
    beyond = "beyond" if d.verdict == DIFFERENT else "across"
    listed = " and ".join(_interval(name, d.parts[name]) for name in deciding)
    return f"{d.verdict.capitalize()}: {by}, {listed}, which lies {beyond} it"


def _interval(name: str, part: Equivalence) -> str:
    """Return a difference and its interval as text."""
    factor, unit = 100.0, "%" if name == "share" else "cm"
    i = part.interval
    return (
        f"the {_PARTS[name]} are {factor * i.estimate:+.2f} {unit} apart ("
        f"{1.0 - 2.0 * part.alpha:.0%} interval {factor * i.low:+.2f} to {factor * i.high:+.2f} "
        f"{unit}, margin {factor * part.margin:g} {unit})"
    )
