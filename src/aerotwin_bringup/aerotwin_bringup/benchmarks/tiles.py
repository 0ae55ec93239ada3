# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Loading a real textured tileset, all levels of all tiles, against a limit of time and memory."""

import json
import os
import subprocess
from pathlib import Path
from statistics import median

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_core.child_python import python_command

N_RUNS = 3
N_TILES = 293
LIMIT_S, LIMIT_MB = 3.0, 1500.0
_TILESET = "worlds/lunar_pit_landform/tileset-add.json"
"""Under ADD all 293 tiles are shown; under REPLACE the 220 finest."""
_CHILD = """
import json, re, sys, time
from pathlib import Path
from aerotwin_worlds.tiles import TilesDescription, load_tiles
start = time.perf_counter()
loaded = load_tiles(TilesDescription(tileset=sys.argv[1], max_error_m=0.0), Path(), None)
seconds = time.perf_counter() - start
status = Path("/proc/self/status").read_text()  # getrusage would count the parent's memory
peak_mb = int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) * 1.024e-3
print(json.dumps([len(loaded.meshes), seconds, peak_mb]))
"""


def tileset_loading() -> list[Benchmark]:
    """Load the tileset in fresh processes: time without imports, peak memory with them."""
    data = os.environ.get("AEROTWIN_SHARED_DATA", "../shared/data")
    tileset = Path(data) / _TILESET
    runs = [_run(tileset) for _ in range(N_RUNS)] if tileset.is_file() else []
    seconds = median(run[0] for run in runs) if runs else None
    peak_mb = max(run[1] for run in runs) if runs else None
    return [
        Benchmark.within("293 textured tiles, all levels", "s", seconds, LIMIT_S),
        Benchmark.within("293 textured tiles, peak memory", "MB", peak_mb, LIMIT_MB),
    ]


def _run(tileset: Path) -> tuple[float, float]:
    """Return seconds and peak memory [MB] of a process that loads the tileset."""
    child = subprocess.run(
        python_command("-c", _CHILD, str(tileset)), check=True, capture_output=True, text=True
    )
    n_tiles, seconds, peak_mb = json.loads(child.stdout)
    if n_tiles != N_TILES:
        raise RuntimeError(f"{tileset}: expected {N_TILES} tiles, found {n_tiles}; restore it")
    return seconds, peak_mb
