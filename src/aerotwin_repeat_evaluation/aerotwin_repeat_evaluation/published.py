# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures of field trials, for comparison with simulated ones.

Marker-based RMSE and largest deviation. Fisker et al., IROS 2025 (arXiv 2505.16912, abstract) for
the two environments; the routes are pooled over markers and repeats from the raw measurements in
the author's public plotting scripts (largest marker distance as length, a lower bound).
"""

from aerotwin_core.section import Table

_METHODS = {
    "lidar": "lidar, taught by driving",
    "pix4d": "lidar, virtual (photogrammetry)",
    "nerf": "lidar, virtual (radiance field)",
    "radar": "radar, taught by driving",
    "radar_pix4d": "radar, virtual (photogrammetry)",
    "radar_nerf": "radar, virtual (radiance field)",
}

_RMSE_AND_MAX_CM: tuple[tuple[str, int | None, dict[str, tuple[float, float]]], ...] = (
    ("IROS 2025, environment 1", None, {"nerf": (19.5, 39.4)}),
    ("IROS 2025, environment 2", None, {"nerf": (18.4, 47.6)}),
    ("Structured-C", 312, {
        "lidar": (4.2, 7.8), "pix4d": (5.4, 12.2), "nerf": (5.7, 14.1),
        "radar": (6.3, 13.3), "radar_pix4d": (10.9, 23.8), "radar_nerf": (18.9, 46.4),
    }),
    ("Urban-C", 385, {
        "lidar": (4.7, 11.4), "pix4d": (5.4, 12.1), "nerf": (6.8, 13.6),
        "radar": (6.7, 20.0), "radar_pix4d": (9.2, 22.7), "radar_nerf": (13.0, 38.0),
    }),
    ("Semi-Structured-C", 312, {"lidar": (4.7, 15.2), "pix4d": (5.4, 14.9)}),
    ("Urban-R", 976, {"lidar": (3.7, 8.9), "pix4d": (10.7, 21.6)}),
    ("Structured-R", 1028, {"lidar": (2.8, 6.7), "pix4d": (11.3, 24.1)}),
    ("Sparse-R", 748, {"lidar": (12.7, 26.4), "pix4d": (22.3, 49.5)}),
)  # fmt: skip
"""Route, its length [m], and by method RMSE and largest deviation."""

NOT_COMPARABLE = (
    "Not comparable: measured with a tape in the field, on other routes, in maps whose distortion "
    "is not known. A simulated figure is not better for being smaller."
)
MATCHED = "Distortion of the map and route match those of the field trial."


def published_table(*, sensor: str = "lidar", is_matched: bool = False) -> Table:
    """Return the published figures of lidar or radar; the caption says whether to compare."""
    rows = tuple(
        (
            route,
            "–" if length_m is None else str(length_m),
            _METHODS[method],
            f"{rmse_cm:.1f}",
            f"{max_cm:.1f}",
            "yes" if is_matched else "no",
        )
        for route, length_m, methods in _RMSE_AND_MAX_CM
        for method, (rmse_cm, max_cm) in methods.items()
        if _METHODS[method].startswith(sensor)
    )
    return Table(
        title="Published in the field",
        columns=("route", "length m", "method", "RMSE cm", "largest cm", "comparable"),
        rows=rows,
        caption=MATCHED if is_matched else NOT_COMPARABLE,
    )
