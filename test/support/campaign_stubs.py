# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions of runs for tests, imported by their child processes."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from aerotwin_campaign import OverallFigures
from aerotwin_core.metric import Metric, MetricSet
from aerotwin_core.section import Section


def numeric(document, context):
    rng = np.random.default_rng([context.seed, context.repeat])
    value = document["a"] * 0.1 + rng.normal()
    print("computing", value)
    (context.folder / "trace.txt").write_text(repr(value))
    return {
        "metrics": {"value": value, "count": np.int64(3), "is_large": value > 1.0, "none": None},
        "is_success": value > -1.0,
        "outcome": "computed",
    }


def no_op(document, context):
    return {"metrics": {"a": document["a"]}, "is_success": True, "outcome": "done"}


def sleeping(document, context):
    if "calls" in document:
        with Path(document["calls"]).open("a") as file:
            file.write(f"{document['a']}\n")
    time.sleep(document["sleep_s"])
    return {"metrics": {"a": document["a"]}, "is_success": True, "outcome": "slept"}


def busy(document, context):
    """Use the CPU for a given CPU time."""
    end = time.process_time() + document["sleep_s"]
    n = 0
    while time.process_time() < end:
        n += 1
    return {"metrics": {}, "is_success": True, "outcome": "busy"}


def mixed(document, context):
    """Fail in the way of the document."""
    kind = document["kind"]
    print("begin", kind, flush=True)
    if kind == "raises":
        raise ValueError("a wrong value")
    if kind == "exits":
        os._exit(7)
    if kind == "kills itself":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "hangs":
        time.sleep(1000)
    if kind == "forks and dies":
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(5)
    if kind == "garbage":
        return ["no", "mapping"]
    if kind == "not a number":
        return {"metrics": {"x": float("nan")}, "is_success": True, "outcome": "?"}
    if kind == "names its folder":
        raise ValueError(f"nothing in {context.folder}")
    if kind == "system exit":
        raise SystemExit(3)
    return {"metrics": {"x": 1.5}, "is_success": True, "outcome": "fine"}


def dies_once(document, context):
    """Kill itself at the first attempt, as if from outside."""
    marker = Path(document["marker"])
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"metrics": {}, "is_success": True, "outcome": "survived"}


def full_disk(document, context):
    """Write more than the limit of a file's size, if the flag is there: no space is left."""
    if Path(document["flag"]).exists():
        raise OSError(28, "No space left on device", str(context.folder / "bag"))
    return {"metrics": {}, "is_success": True, "outcome": "written"}


def places(document, context):
    """Return what the place gives."""
    place = context.place
    time.sleep(0.3)
    return {
        "metrics": {
            "number": place.number,
            "domain": os.environ.get("ROS_DOMAIN_ID"),
            "n_cores": len(os.sched_getaffinity(0)),
            "threads": os.environ["OMP_NUM_THREADS"],
        },
        "is_success": True,
        "outcome": "placed",
    }


def writes_a_megabyte(document, context):
    (context.folder / "large").write_bytes(bytes(1 << 20))
    return {"metrics": {}, "is_success": True, "outcome": "written"}


METRICS = MetricSet(
    title="stub",
    structure={},
    metrics=(
        Metric("error_m", "error", "error", unit="m", better="lower"),
        Metric("score", "score", "score", better="higher"),
    ),
)


def flown(document, context):
    """Return errors that grow with the wind; the seed's part is that of every document."""
    rng = np.random.default_rng(context.seed)
    error_m = document["bias_m"] + 0.1 * document["wind_m_s"] + 0.2 * rng.random()
    return {
        "metrics": {
            "error_m": error_m,
            "score": 1.0 / error_m,
            "path_m": 100.0 + 0.0 * error_m,
            "is_repeatable": True,
        },
        "is_success": error_m < 10.0,
        "outcome": "landed",
    }


def beyond_an_edge(document, context):
    """Break beyond a curve around the origin; every second seed is harder by a tenth."""
    x, y = document["x"], document.get("y", 0.0)
    edge = 1.0 if context.seed % 2 == 0 else 0.9
    margin = edge - (x / 2.0) ** 2 - (y / 3.0) ** 2
    (context.folder / "flight.html").write_text("a report")
    return {
        "metrics": {"expect.0.is_met": margin >= 0.0, "expect.0.robustness": margin, "x": x},
        "is_success": margin >= 0.0,
        "outcome": "inside" if margin >= 0.0 else "outside",
    }


def changes_with_the_file(document, context):
    """Return what a file beside the software says, as a version that is not known would."""
    return {
        "metrics": {"value": float(Path(document["file"]).read_text())},
        "is_success": True,
        "outcome": "read",
    }


def spread(runs):
    """Say how the values of each axis value differ, and count what the runs kept."""
    values = {}
    for run in runs:
        values.setdefault(str(run.axes["a"]), []).append(run.metrics["value"])
    deviations = {a: float(np.std(x, ddof=1)) for a, x in values.items()}
    n_traces = sum((run.folder / "trace.txt").is_file() for run in runs)
    section = Section(title="Spread of the values", name="spread", metrics={"n": len(runs)})
    found = {"spread": {"of_a": deviations}, "n_traces": n_traces}
    return OverallFigures(values=found, sections=[section])


def unknown(runs):
    return OverallFigures(values={"gap": None})


def divides(runs):
    return OverallFigures(values={"share": 1 / 0})


def no_figures(runs):
    return {"share": 1.0}


def same_name(runs):
    return OverallFigures(values={"value": 1.0})
