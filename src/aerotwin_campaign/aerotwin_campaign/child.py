# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process in which runs happen, one after the other: `python -P -m aerotwin_campaign.child`.

Its one argument is JSON: function, store, options and place. Each line of standard input is a
specification; the lines of standard output are `{"called": true}` before its function is called,
`{"called": false}` after that, and an answer: `{}` when the run is in the store, or `{"machine":
why}`, or `{"user": why}`. Standard output of the function itself goes to its log.
"""

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from aerotwin_campaign.execution import MachineFailure, RunOptions, run
from aerotwin_campaign.function import load_function
from aerotwin_campaign.place import WorkerPlace
from aerotwin_campaign.spec import spec_of_json
from aerotwin_campaign.store import Store
from aerotwin_core.errors import UserError


def main() -> None:
    """Import the function, say so, and make runs until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no exception in the function: it is no result
    given = json.loads(sys.argv[1])
    place = WorkerPlace(
        number=given["place"]["number"],
        cores=tuple(given["place"]["cores"]),
        ros_domain_id=given["place"]["ros_domain_id"],
        scratch=Path(given["place"]["scratch"]),
    )
    os.sched_setaffinity(0, place.cores)
    with os.fdopen(os.dup(0), encoding="utf-8") as requests, os.fdopen(os.dup(1), "wb") as answers:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        store, options = Store(given["store"]), RunOptions(**given["options"])

        def send(answer: dict[str, Any]) -> None:
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()

        send(_answer(load_function, given["run"]))
        while line := requests.readline():
            spec = spec_of_json(line)
            send(
                _answer(
                    run, spec, store, place, options, lambda is_begin: send({"called": is_begin})
                )
            )


def _answer(call: Any, *arguments: Any) -> dict[str, str]:
    try:
        call(*arguments)
    except UserError as error:
        return {"user": str(error)}
    except MachineFailure as error:
        return {"machine": str(error)}
    except Exception as error:  # of the store's file system: each has its own
        where = traceback.extract_tb(error.__traceback__)[-1]
        return {"machine": f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"}
    return {}


if __name__ == "__main__":
    main()
