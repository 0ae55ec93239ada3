# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map of a world's wall: flown, photographed, mapped and measured against the truth."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.cli import StageBars, progress
from aerotwin_core.parameters import to_mapping
from aerotwin_core.run_folder import software_versions
from aerotwin_dense_localization.mapping.recorder import RecordedMap
from aerotwin_rendering import Rasteriser
from aerotwin_scenarios.dense_localization.commands.map_folder import (
    FLIGHT,
    numbers_of_map,
    replaced_folder,
    write_map,
)
from aerotwin_scenarios.dense_localization.commands.world_flights import against_the_truth, fly
from aerotwin_scenarios.dense_localization.mapping import make_map, record_frames
from aerotwin_scenarios.dense_localization.recordings.sources import world_of
from aerotwin_scenarios.dense_localization.wall_flight import WallFlight


@dataclass(frozen=True, kw_only=True)
class FlownMapRequest:
    """Which world's wall is mapped into which folder, and how it is flown past.

    `seed` is of flight and cameras; with `has_truth` the map is made with true poses.
    """

    world: str
    folder: Path
    flight: WallFlight
    seed: int
    has_truth: bool


def map_world(request: FlownMapRequest) -> dict[str, Any]:
    """Fly past a world's wall, write the map of what was seen, and return its numbers."""
    world, flight, seed = world_of(request.world), request.flight, request.seed
    has_truth = request.has_truth
    with replaced_folder(request.folder) as fresh:
        with StageBars() as log:
            track = fly(
                world, flight.path(), flight, fresh / FLIGHT, seed=seed,
                on_progress=lambda share: log("flight", share),
            )  # fmt: skip
        with progress(len(track.stamps_ns), "depth", unit="frame") as bar:
            frames = record_frames(
                Rasteriser(world.meshes), track, seed=seed, on_frame=lambda: bar.update(1)
            )
        start = time.perf_counter()
        with progress(1, "map"):
            made = make_map(frames, track, has_truth=has_truth)
        seconds = time.perf_counter() - start
        mapped = RecordedMap(
            dense_map=made.dense_map, keyframes=made.keyframes, n_links=made.n_links
        )
        with progress(1, "against the truth"):
            found = against_the_truth(world, made, flight)
        reported = "truth" if has_truth else "the autopilot's estimator"
        numbers = numbers_of_map(mapped) | {
            "n_frames": len(frames), "seconds": seconds, "map": found, "notes": [],
            "poses": {"source": reported, "is_truth": has_truth},
        }  # fmt: skip
        write_map(
            fresh,
            mapped,
            {
                "source": request.world, "kind": "world", "seed": seed,
                "flight": to_mapping(flight), "T_true_map": made.T_true_map.tolist(),
                "world": dict(world.credits), "versions": software_versions(), **numbers,
            },
        )  # fmt: skip
    return numbers
