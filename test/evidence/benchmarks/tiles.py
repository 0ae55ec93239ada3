# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Loading a real textured tileset, all levels of all tiles, beside decoding its pictures alone."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from evidence.benchmarks.result import Benchmark

N_RUNS = 3
N_TILES = 293
GOAL_TIME, GOAL_MEMORY = 0.09, 0.2
"""Measured 0.13 on two quiet cores, 0.23 on busy ones; 0.25 with the interpreter on both."""
_TILESET = "worlds/lunar_pit_landform/tileset-add.json"
"""Under ADD all 293 tiles are shown; under REPLACE the 220 finest."""
_CHILD = """
import json, re, sys, time
from pathlib import Path
import cv2
import numpy as np
from aerotwin_tiles import TilesDescription, load_tiles
start = time.perf_counter()
loaded = load_tiles(TilesDescription(tileset=sys.argv[1], max_error_m=0.0), Path(), None)
seconds = time.perf_counter() - start
status = Path("/proc/self/status").read_text()  # getrusage would count the parent's memory
peak_mb = int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) * 1.024e-3
arrays = [a for m in loaded.meshes for a in (m.vertices_map, m.triangles, m.uv, m.texture)]
arrays_mb = sum(a.nbytes for a in arrays) * 1e-6
start = time.perf_counter()
for tile in Path(sys.argv[1]).parent.glob("*.b3dm"):
    data = tile.read_bytes()
    picture = np.frombuffer(data[data.index(b"\\xff\\xd8\\xff"):], np.uint8)
    assert cv2.imdecode(picture, cv2.IMREAD_COLOR) is not None
decoding = time.perf_counter() - start
print(json.dumps([len(loaded.meshes), seconds, decoding, peak_mb, arrays_mb]))
"""


def tileset_loading() -> list[Benchmark]:
    """Load the tileset in fresh processes: time without imports, peak memory with them."""
    data = os.environ.get("AEROTWIN_SHARED_DATA", "../shared/data")
    tileset = Path(data) / _TILESET
    runs = [_run(tileset) for _ in range(N_RUNS)] if tileset.is_file() else []
    seconds, decoding, peak_mb, arrays_mb = np.median(runs, axis=0) if runs else [None] * 4
    return [
        Benchmark.beside(
            "293 textured tiles, all levels",
            "s",
            seconds,
            peer="OpenCV decoding the same pictures on one core, and nothing else",
            peer_value=decoding,
            goal=GOAL_TIME,
        ),
        Benchmark.beside(
            "293 textured tiles, peak memory",
            "MB",
            peak_mb,
            peer="the loaded arrays",
            peer_value=arrays_mb,
            goal=GOAL_MEMORY,
        ),
    ]


def _run(tileset: Path) -> list[float]:
    """Return seconds of loading and of decoding, MB of the process's peak and of its arrays."""
    child = subprocess.run(
        python_command("-c", _CHILD, str(tileset)), check=True, capture_output=True, text=True
    )
    n_tiles, *figures = json.loads(child.stdout)
    if n_tiles != N_TILES:
        raise UserError(f"{tileset}: expected {N_TILES} tiles, found {n_tiles}; restore it")
    return figures
