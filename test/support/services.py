# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A service asked in such a way that no answer is lost."""

import math
import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass
ASK_AGAIN_S = 2.0
ONCE = math.inf


def answer_of(
    client: Any,
    request: Any,
    spin: Callable[[], object],
    *,
    patience_s: float = PATIENCE_S,
    ask_again_s: float = ASK_AGAIN_S,
) -> Any:
    """Return the first answer of a service to a request.

    DDS loses an answer if the server has not discovered the client's reader yet. Two nodes of one
    process discover each other at once.

    Parameters
    ----------
    client : rclpy.client.Client
        Of the service.
    request : message
        It is sent again until there is an answer.
    spin : callable
        Lets the client's executor work for a moment.
    patience_s : float
        Longest wait for service and answer, wall time.
    ask_again_s : float
        Wall time between requests; `ONCE` if the service must not be asked twice.

    Raises
    ------
    TimeoutError
        There is no service, or no answer.
    """
    deadline, due = time.monotonic() + patience_s, 0.0
    futures: list[Any] = []
    while not any(future.done() for future in futures):
        is_ready = client.service_is_ready()
        if time.monotonic() > deadline:
            problem = f"{len(futures)} requests unanswered" if is_ready else "no such service"
            raise TimeoutError(f"{client.srv_name}: {problem} after {patience_s:g} s")
        if is_ready and time.monotonic() >= due:
            futures.append(client.call_async(request))
            due = time.monotonic() + ask_again_s
        spin()
    for future in futures:
        client.remove_pending_request(future)
    return next(future for future in futures if future.done()).result()
