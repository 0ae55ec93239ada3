# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The result of `aerotwin localize` for its reader: files, report and lines of the terminal."""

import csv
import dataclasses
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.charts import chart, say
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.frames import FloatArray, invert_transform, pose_from_transform
from aerotwin_core.metric import Metric, MetricSet
from aerotwin_core.plots import ESTIMATE, WIDE_IN
from aerotwin_core.run_folder import software_versions
from aerotwin_core.scene import PathLayer, PointLayer, ReportScene
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_core.tum import write_tum
from aerotwin_dense_localization.localization import Status
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_report import write_report
from aerotwin_scenarios.dense_localization.commands.localize import (
    Judgement,
    LocalizeResult,
    LocatedImages,
)
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from aerotwin_trajectory_evaluation.sections import section as trajectory_section

LOCALIZATION_METRICS = MetricSet(
    title="Localisation",
    structure={},
    metrics=(
        Metric("sigma_median_m", "Predicted error",
               "median over the images of the worst standard deviation of a position",
               unit="m", shown_in="cm", digits=2, better="lower"),
        Metric("ate_unaligned_m.mean", "Error, map as it stands",
               "mean distance to the reference, nothing moved nor fitted",
               unit="m", shown_in="cm", digits=1, better="lower"),
    ),
)  # fmt: skip
"""Key numbers of the section `localization` where they are known."""
MANY_RENEWED = 0.5
"""Share of images beside the virtual key-frames from which these stand in the wrong place."""
_SHOWN_POINTS = 60_000
_WALL_COLOUR = "#b4b4b4"
CAMERA_FILE, BASE_FILE, TABLE = "camera.tum", "base.tum", "localization.csv"
_COLUMNS = (
    "stamp_s", "status", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "sigma_m", "sigma_deg",
    "correlation", "overlap", "reason",
)  # fmt: skip


def write_poses(folder: Path, located: LocatedImages, T_base_cam: FloatArray | None) -> None:
    """Write the poses as TUM files, those of the base if it is known, and the table."""
    write_tum(folder / CAMERA_FILE, located.trajectory())
    if T_base_cam is not None:
        write_tum(folder / BASE_FILE, located.trajectory(invert_transform(T_base_cam)))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    rows = zip(
        located.stamps_ns.tolist(), located.found, located.sigma_m, located.sigma_deg, strict=True
    )
    for stamp_ns, one, sigma_m, sigma_deg in rows:
        pose = [""] * 9
        if one.T_map_cam is not None:
            p, q = pose_from_transform(one.T_map_cam)
            pose = [f"{v:.6f}" for v in (*p, *q)] + [f"{sigma_m:.5f}", f"{sigma_deg:.5f}"]
        match = f"{one.correlation:.4f}", f"{one.overlap:.4f}"
        stamp = f"{stamp_ns // 10**9}.{stamp_ns % 10**9:09d}"
        table.writerow([stamp, str(one.status), *pose, *match, one.reason])
    write_text_atomically(folder / TABLE, text.getvalue())


def write_page(folder: Path, result: LocalizeResult, arguments: Mapping[str, Any]) -> Path:
    """Write `report.html` and `metrics.json`, and return the path of the former.

    `arguments` are the user's input.
    """
    sections = [localization_section(result.located, result.dense_map, result.numbers)]
    if result.judgement is not None:
        sections.append(_against_reference(result.judgement))
    return write_report(
        folder,
        title=f"Localisation of {arguments['source']}",
        sections=sections,
        configuration={**arguments, **result.inputs, "versions": software_versions()},
        warnings=result.notes,
    )


def summary_lines(numbers: Mapping[str, Any]) -> list[str]:
    """Return the summary for the terminal."""
    ways = ", ".join(f"{n} {way}" for way, n in numbers["n_by_status"].items() if n)
    lines = [
        f"{numbers['n_frames']} images: {ways}; {numbers['seconds']:.0f} s, "
        f"{numbers['frames_per_s']:.1f} images a second"
    ]
    if (n_fused := numbers["n_fused"]) is not None:
        lines.append(f"{n_fused} of {numbers['n_frames']} were fused with the IMU")
    if (ate := numbers["ate_m"]) is not None:
        unaligned = numbers["ate_unaligned_m"]
        lines.append(
            f"against the reference: {100 * ate['mean']:.1f} cm in the mean, "
            f"{100 * ate['max']:.1f} cm at most, {numbers['turn_deg']['mean']:.2f} degrees; with "
            f"the map as it stands {100 * unaligned['mean']:.1f} cm; {numbers['n_wrong']} of them "
            f"more than {LOST_M:g} m off"
        )
    return lines


def _against_reference(judgement: Judgement) -> Section:
    """Return the section of the score; it says what was done to the map before."""
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
    """Return the section on how the images were localised."""
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
    tiles = [
        Headline(
            label="Images lost", value=f"{n_lost}", unit=f"of {n}", better="lower",
            status="good" if n_lost == 0 else "bad" if n_lost > 0.05 * n else "warn",
            meaning=f"{numbers['n_without_pose']} without a pose"
            + ("" if n_wrong is None else f", {n_wrong} more than {LOST_M:g} m off the reference"),
        )
    ]  # fmt: skip
    tiles += [
        metric.tile(numbers, label=metric.label)
        for metric in LOCALIZATION_METRICS.metrics
        if metric.value(numbers) is not None
    ]
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
