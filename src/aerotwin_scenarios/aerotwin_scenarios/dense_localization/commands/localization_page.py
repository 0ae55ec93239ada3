# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The result of `aerotwin localize`: its numbers, its chapter, and its score against poses."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.charts import chart, say
from aerotwin_core.errors import UserError
from aerotwin_core.plots import ESTIMATE, WIDE_IN
from aerotwin_core.scene import PathLayer, PointLayer, ReportScene
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_dense_localization.localization import Status
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_report import write_report
from aerotwin_scenarios.dense_localization.commands.located_images import LocatedImages
from aerotwin_scenarios.dense_localization.recordings.external_poses import ExternalPoses
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation, evaluate_trajectory
from aerotwin_trajectory_evaluation.metrics import summarise
from aerotwin_trajectory_evaluation.sections import section as trajectory_section

MANY_RENEWED = 0.5
"""Share of images beside the virtual key-frames from which these stand in the wrong place."""
_SHOWN_POINTS = 60_000
_WALL_COLOUR = "#b4b4b4"


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """How far the images were placed from where a reference says they were taken.

    Attributes
    ----------
    evaluation : TrajectoryEvaluation
        Of the images that have a pose here and there.
    unaligned_m : (m,) array
        Errors of their positions with the map as it stands [m].
    T_reference_map : (4, 4) array or None
        Where the map lies in the reference's frame, if it was moved there before.
    """

    evaluation: TrajectoryEvaluation
    unaligned_m: np.ndarray
    T_reference_map: np.ndarray | None

    @classmethod
    def of(
        cls,
        located: LocatedImages,
        reference: ExternalPoses,
        *,
        T_reference_map: np.ndarray | None,
        align: str,
    ) -> "Judgement":
        """Score poses of a camera.

        Parameters
        ----------
        located : LocatedImages
        reference : GivenPoses
        T_reference_map : (4, 4) array or None
            Where the map lies in the reference's frame, if it is known otherwise.
        align : str
            What is fitted after it, a mode of the trajectory evaluation; `none` for nothing.

        Raises
        ------
        UserError
            If fewer than two images can be compared.
        """
        truth, estimate = reference.of_camera(located.stamps_ns), located.trajectory()
        evaluation = evaluate_trajectory(
            truth, estimate, align=align, frame_stamps_ns=located.stamps_ns,
            T_reference_estimate=T_reference_map, covariances=located.covariances,
        )  # fmt: skip
        known = dict(zip(estimate.stamps_ns.tolist(), estimate.p_ref_body, strict=True))
        found = np.array([known[stamp] for stamp in evaluation.reference.stamps_ns.tolist()])
        away = np.linalg.norm(found - evaluation.reference.p_ref_body, axis=1)
        return cls(evaluation=evaluation, unaligned_m=away, T_reference_map=T_reference_map)

    def metrics(self) -> dict[str, Any]:
        """Return the figures of the bars."""
        errors, turns = self.evaluation.ape.trans_m, self.evaluation.ape.rot_deg
        return {
            "ate_m": _figures(errors),
            "ate_unaligned_m": _figures(self.unaligned_m),
            "turn_deg": _figures(turns),
            "n_wrong": int((errors > LOST_M).sum()),
        }


def judged(
    located: LocatedImages, reference: ExternalPoses | None, **choices: Any
) -> tuple[Judgement | None, str]:
    """Return the judgement, or None and why there is none."""
    if reference is None:
        return None, ""
    try:
        return Judgement.of(located, reference, **choices), ""
    except UserError as error:
        return None, f"not compared with {reference.source}: {error}"


def numbers_of(
    located: LocatedImages, judgement: Judgement | None, *, n_fused: int | None, seconds: float
) -> dict[str, Any]:
    """Return the result in numbers.

    `n_lost` are images without a pose (`n_without_pose`, the status `lost`), and those that are
    placed more than 0.5 m off (`n_wrong`, None without a reference). `n_fused` were fused with an
    IMU; None without one.
    """
    scores: dict[str, Any] = dict.fromkeys(("ate_m", "ate_unaligned_m", "turn_deg", "n_wrong"))
    scores |= {} if judgement is None else judgement.metrics()
    n_wrong = scores["n_wrong"] or 0
    n = len(located.found)
    placed = located.is_placed
    return scores | {
        "n_frames": n,
        "n_lost": int((~placed).sum()) + n_wrong,
        "n_without_pose": int((~placed).sum()),
        "n_fused": n_fused,
        "n_by_status": {str(status): located.count(status) for status in Status},
        "sigma_median_m": _median(located.sigma_m[placed]),
        "correlation_median": _median(np.array([f.correlation for f in located.found])[placed]),
        "seconds": seconds,
        "frames_per_s": n / seconds if seconds > 0.0 else None,
    }


def write_page(
    folder: Path,
    located: LocatedImages,
    judgement: Judgement | None,
    dense_map: DenseMap,
    *,
    title: str,
    numbers: Mapping[str, Any],
    configuration: Mapping[str, Any],
    warnings: Sequence[str],
) -> Path:
    """Write `report.html` and `metrics.json`, and return the path of the former."""
    sections = [localization_section(located, dense_map, numbers)]
    if judgement is not None:
        sections.append(_against_reference(judgement))
    return write_report(
        folder, title=title, sections=sections, configuration=configuration, warnings=warnings
    )


def _against_reference(judgement: Judgement) -> Section:
    """Return the chapter of the score; it says what was done to the map before."""
    section = trajectory_section(judgement.evaluation, title="Against the reference")
    T = judgement.T_reference_map
    if T is None:
        return section
    turn_deg = np.degrees(Rotation.from_matrix(T[:3, :3]).magnitude())
    return dataclasses.replace(
        section,
        text=f"Before all, the map was moved by {np.linalg.norm(T[:3, 3]):.2f} m and "
        f"{turn_deg:.2f} degrees: the rigid motion that takes its key-frames to their true places. "
        f"What this chapter calls given is after it; with the map as it stands the mean error is "
        f"{100.0 * judgement.unaligned_m.mean():.1f} cm. {section.text}",
    )


def localization_section(
    located: LocatedImages, dense_map: DenseMap, numbers: Mapping[str, Any]
) -> Section:
    """Return the chapter on how the images were localised."""
    n, n_without, n_fused = numbers["n_frames"], numbers["n_without_pose"], numbers["n_fused"]
    led = (
        ""
        if n_fused is None
        else f" An IMU led from one to the next; {n_fused} were fused with it."
    )
    placed = located.is_placed
    return Section(
        title="Localisation",
        name="localization",
        verdict=f"{n - n_without} of {n} images were localised in the map.",
        text="Each image is aligned to a view rendered from the map: to the closest virtual "
        "key-frame, else to one rendered at the last pose, else to those that look most alike. "
        "Nothing accumulates: each pose is found by itself." + led,
        headline=_headline(numbers),
        scenes=(_scene(located, dense_map),) if placed.any() else (),
        figures=(_certainty(located),) if placed.any() else (),
        tables=(_by_status(numbers), *_reasons(located)),
        metrics=dict(numbers),
        warnings=_cautions(numbers),
    )


def _headline(numbers: Mapping[str, Any]) -> tuple[Headline, ...]:
    n, n_lost, n_wrong = numbers["n_frames"], numbers["n_lost"], numbers["n_wrong"]
    sigma_m = numbers["sigma_median_m"]
    tiles = [
        Headline(
            label="Images lost", value=f"{n_lost}", unit=f"of {n}", better="lower",
            status="good" if n_lost == 0 else "bad" if n_lost > 0.05 * n else "warn",
            meaning=f"{numbers['n_without_pose']} without a pose"
            + ("" if n_wrong is None else f", {n_wrong} more than {LOST_M:g} m off the reference"),
        )
    ]  # fmt: skip
    if sigma_m is not None:
        tiles.append(
            Headline(
                label="Predicted error", value=f"{100 * sigma_m:.2f}", unit="cm", better="lower",
                meaning="median over the images of the worst standard deviation of a position",
            )
        )  # fmt: skip
    if (unaligned := numbers["ate_unaligned_m"]) is not None:
        tiles.append(
            Headline(
                label="Error, map as it stands", value=f"{100 * unaligned['mean']:.1f}", unit="cm",
                better="lower", meaning="mean distance to the reference, nothing moved nor fitted",
            )
        )  # fmt: skip
    return tuple(tiles)


def _scene(located: LocatedImages, dense_map: DenseMap) -> ReportScene:
    cloud = dense_map.cloud
    shown = np.random.default_rng(0).permutation(len(cloud))[:_SHOWN_POINTS]
    path = PathLayer(
        name="camera", points_map=located.trajectory().p_ref_body,
        values=100.0 * located.sigma_m[located.is_placed], unit="cm", quantity="predicted error",
    )  # fmt: skip
    wall = PointLayer(
        name="map", points_map=cloud.points[shown].astype(np.float64), colour=_WALL_COLOUR
    )
    return ReportScene(
        title="The camera before the map",
        caption="The path is coloured by the predicted error.",
        layers=(path, wall),
    )


def _certainty(located: LocatedImages) -> Figure:
    seconds = (located.stamps_ns - located.stamps_ns[0]) * 1e-9
    placed = located.is_placed

    def draw(axes) -> None:
        axes.plot(seconds[placed], 100.0 * located.sigma_m[placed], lw=1.0, color=ESTIMATE)
        for at in seconds[~placed]:
            axes.axvline(at, color="#c0392b", lw=0.6, alpha=0.5)
        axes.set(xlabel="time [s]", ylabel="predicted error [cm]", yscale="log")
        if not placed.all():
            say(axes, "red: no pose")

    return Figure(
        title="How certain the positions are",
        caption="Worst standard deviation of each position, by the alignment's own covariance: it "
        "is that of the images' noise, and does not know what the map is off by.",
        svg=chart("localization-certainty", draw, width_in=WIDE_IN, height_in=3.0),
        is_wide=True,
    )


def _by_status(numbers: Mapping[str, Any]) -> Table:
    means = {
        "tracked": "the closest virtual key-frame",
        "renewed": "a view rendered at the last known pose",
        "relocalized": "a view that looked alike, without an expectation",
        "lost": "nothing: no pose",
    }
    n = max(numbers["n_frames"], 1)
    rows = tuple(
        (status, means[status], str(count), f"{count / n:.1%}")
        for status, count in numbers["n_by_status"].items()
    )
    return Table(title="Aligned to", columns=("status", "meaning", "images", "share"), rows=rows)


def _reasons(located: LocatedImages) -> tuple[Table, ...]:
    """Return the table of the first lost images and why, if any is lost."""
    start = located.stamps_ns[0] if len(located.stamps_ns) else 0
    lost = [
        (f"{(stamp - start) * 1e-9:.3f}", one.reason)
        for stamp, one in zip(located.stamps_ns.tolist(), located.found, strict=True)
        if not one.is_localized
    ]
    if not lost:
        return ()
    shown = "" if len(lost) <= 20 else f"The first 20 of {len(lost)}; all stand in the table file."
    return (Table(title="Lost", columns=("time s", "why"), rows=tuple(lost[:20]), caption=shown),)


def _cautions(numbers: Mapping[str, Any]) -> tuple[str, ...]:
    n_renewed, n = numbers["n_by_status"][str(Status.RENEWED)], numbers["n_frames"]
    if n_renewed <= MANY_RENEWED * n:
        return ()
    return (
        f"{n_renewed} of {n} images were too far from the virtual key-frames, so that views were "
        "rendered anew for them: lead these along the camera's way (--path, or --corner and "
        "--extent)",
    )


def _figures(errors: np.ndarray) -> dict[str, float] | None:
    found = summarise(errors)
    return None if found is None else {"mean": found.mean, "rmse": found.rmse, "max": found.max}


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None
