# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Summary sentence of a map evaluation, and its warnings."""

from aerotwin_map_evaluation.result import MapEvaluation
from aerotwin_map_evaluation.statistics import describe
from aerotwin_map_evaluation.tables import measured_to

# Of random points within the cut of a reference that fills space: errata_and_protocols, 1 m cut.
UNIFORM_MEAN, UNIFORM_STD = 0.500, 0.289
# Of points on surfaces of all orientations against voxel centres one apart: errata_and_protocols.
VOXEL_MEAN, VOXEL_STD = 0.480, 0.139
# A floor above this share of the distance is mentioned, above that a warning.
_FLOOR_SHOWS, _FLOOR_RULES = 0.2, 0.5
# A score this close to the floor, or to that of random points, is that and not the map's.
_CLOSE = 0.05
_FEW_RETAINED = 0.5
# With fewer of the map's voxels judged, the Wasserstein distance is that of its densest spots.
_FEW_VOXELS = 0.3


def verdict(evaluation: MapEvaluation) -> str:
    """Return the result in one sentence."""
    numbers = evaluation.metrics()
    if not evaluation.is_judged:
        return (
            f"The map could not be aligned to the reference, so that nothing is judged: "
            f"{evaluation.registration.reason}."
        )
    middle = numbers["both_ways"]["precision_recall"][(len(evaluation.protocol.within_m) - 1) // 2]
    covers = (
        f"{middle['recall']:.0%} of the reference ({evaluation.samples.region}) has a map point "
        f"within {middle['threshold_m']:g} m"
    )
    if numbers["surface"] is None:
        return f"{_against_points(evaluation)}; {covers}."
    part = numbers["surface"]["unaligned" if evaluation.is_pose_given else "aligned"]
    state = "where it stands" if evaluation.is_pose_given else "after alignment"
    return (
        f"The map lies {part['rmse_m']:.2f} m (RMS; median {part['median_m']:.2f} m) from the true "
        f"surface {state}, and {covers}"
        f"{_floor_text(evaluation)}."
    )


def _against_points(evaluation: MapEvaluation) -> str:
    judged = describe(evaluation.kept(evaluation.judged_distances), len(evaluation.points_map))
    what = measured_to(evaluation)
    cut = f"{evaluation.protocol.cut_m:g} m"
    state = "where it stands" if evaluation.is_pose_given else "after alignment"
    if judged["mean_m"] is None:
        return f"No map point lies within {cut} of the {what} {state}"
    return (
        f"{judged['share']:.0%} of the map lies within {cut} of the {what} {state}, "
        f"{judged['mean_m']:.3f} m away on average" + _spacing_text(evaluation, judged["mean_m"])
    )


def _spacing_text(evaluation: MapEvaluation, mean_m: float) -> str:
    """Say how much of a mean distance is the spacing of the reference, where it shows."""
    edge, planes = evaluation.reference.edge_m, evaluation.metrics()["planes"]
    if evaluation.protocol.distance == "planes":
        return ""
    if edge is not None:
        of_voxels_m = VOXEL_MEAN * edge
        return (
            f" (a perfect map would be about {of_voxels_m:.3f} m away: they lie {edge:.3g} m apart)"
            if of_voxels_m > _FLOOR_SHOWS * mean_m
            else ""
        )
    floor_m = None if planes is None else planes["floor"]["mean_m"]
    if floor_m is None or floor_m < _FLOOR_SHOWS * mean_m:
        return ""
    return (
        f" (a perfect map would be {floor_m:.3f} m away: they lie {planes['spacing_m']:.2g} m "
        f"apart), {planes['distance']['rmse_m']:.3f} m (RMS) from planes through them"
    )


def spacing_warnings(evaluation: MapEvaluation) -> list[str]:
    """Return a warning where the scores are those of the reference's spacing, not the map's."""
    numbers = evaluation.metrics()
    mean_m, edge, planes = (
        numbers["both_ways"]["accuracy"]["mean_m"],
        evaluation.reference.edge_m,
        numbers["planes"],
    )
    is_to_points = evaluation.protocol.distance == "points"
    if evaluation.surface_distances is not None or not (is_to_points and evaluation.is_judged):
        return []
    if edge is not None and VOXEL_MEAN * edge > _FLOOR_RULES * mean_m:
        return [
            f"Most of the distance is that of the voxels: a perfect map scores about "
            f"{VOXEL_MEAN * edge:.3f} m against centres {edge:.3g} m apart. Judge by --distance "
            "boxes, or give the true surface (--surface)."
        ]
    if planes is None or planes["floor"]["mean_m"] is None:
        return []
    floor_m, spacing_m = planes["floor"]["mean_m"], planes["spacing_m"]
    # Far below the spacing the map holds the reference's own points: no floor of others.
    if floor_m > max(_FLOOR_RULES * mean_m, _FLOOR_SHOWS * spacing_m):
        return [
            f"Most of the distance is the spacing of the reference, about "
            f"{spacing_m:.2g} m: a perfect map scores {floor_m:.3f} m there, "
            "and precision, F, Chamfer and Hausdorff hold it, too. Judge by the distance "
            "to planes (--distance planes), or give a denser reference or the surface (--surface)."
        ]
    return []


def _floor_text(evaluation: MapEvaluation) -> str:
    numbers = evaluation.metrics()
    pairs, floor = numbers["correspondences"], numbers["floor"]
    if floor is None or floor["mean_m"] is None or pairs["mean_m"] is None:
        return ""
    if evaluation.protocol.distance == "surface":
        return ""
    return (
        f"; of its {pairs['mean_m']:.2f} m to {evaluation.reference.what} a perfect map has "
        f"{floor['mean_m']:.2f} m too"
    )


def warnings(evaluation: MapEvaluation) -> list[str]:
    """Return what the reader must know before trusting the numbers."""
    numbers = evaluation.metrics()
    pairs = numbers["correspondences"]
    found = []
    if not evaluation.registration.converged:
        found.append(f"The alignment to the voxels failed: {evaluation.registration.reason}.")
    if any(c.moved_m > 0.0 and not c.is_detected for c in evaluation.controls):
        found.append("A negative control was not seen by the distance to the surface.")
    if evaluation.floor is None and evaluation.surface_distances is not None:
        found.append("No floor: too little of the surface lies near the map.")
    if pairs["share"] < _FEW_RETAINED:
        found.append(
            f"Only {pairs['share']:.0%} of the points lie within {pairs['cut_m']:g} m: the figures "
            "of the correspondences are those of the points that fit."
        )
    awd = numbers["wasserstein"]
    if awd["refused"]:
        found.append(f"No Wasserstein distance is given: {awd['refused']}.")
    elif awd["share_judged"] < _FEW_VOXELS:
        found.append(
            f"The Wasserstein distance is that of {awd['n_voxels']} of the map's "
            f"{awd['n_of_map']} voxels of {awd['voxel_m']:g} m: the others hold fewer than "
            f"{evaluation.protocol.awd_min_points} points of map or reference samples."
        )
    if evaluation.open_on_surface:
        found.append(
            "The true surface does not say where the map lies by "
            f"{'; '.join(d.text for d in evaluation.open_on_surface)}: the aligned figures do not "
            "see an error of that kind."
        )
    found += spacing_warnings(evaluation)
    if _is_like_noise(evaluation):
        found.append(
            f"Random points would score {UNIFORM_MEAN:g} and {UNIFORM_STD:g} of the cut too: the "
            "figures of the correspondences do not tell this map from noise."
        )
    return found


def _is_like_noise(evaluation: MapEvaluation) -> bool:
    pairs = evaluation.metrics()["correspondences"]
    if pairs["mean_m"] is None:
        return False
    mean, std = pairs["mean_m"] / pairs["cut_m"], pairs["std_m"] / pairs["cut_m"]
    return abs(mean - UNIFORM_MEAN) < _CLOSE and abs(std - UNIFORM_STD) < _CLOSE / 2.0
