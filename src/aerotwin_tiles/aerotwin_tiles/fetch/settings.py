# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Retries, time and size limits of requests to servers."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """Retries, timeouts and cache limits of requests to a server."""

    n_attempts: int = parameter(
        default=5,
        text="Requests for one file before it counts as missing; only after 429, 500, 502, 503, "
        "504, lost connections and bodies that are not whole.",
        minimum=1,
        maximum=20,
        old_name="n_tries",
    )
    backoff_s: float = parameter(
        default=0.5, text="Pause after the first failure; doubles.", unit="s", minimum=0, maximum=60
    )
    max_wait_s: float = parameter(
        default=30.0, text="Longest pause, also where the server asks for more.", unit="s",
        minimum=0, maximum=600, old_name="longest_wait_s",
    )  # fmt: skip
    connect_timeout_s: float = parameter(
        default=10.0, text="Longest wait for a connection.", unit="s", minimum=0.05, maximum=300
    )
    read_timeout_s: float = parameter(
        default=30.0, text="Longest silence of the server.", unit="s", minimum=0.05, maximum=600
    )
    total_timeout_s: float = parameter(
        default=300.0,
        text="Longest time for one file, from before its first request to its last byte, retries "
        "and pauses included.",
        unit="s",
        minimum=0.05,
        maximum=86400,
    )
    n_redirects: int = parameter(
        default=5, text="Redirects followed for one file.", minimum=0, maximum=20
    )
    cache_limit_mb: int = parameter(
        default=2048, text="Size of the cache's folder.", unit="MiB", minimum=0, maximum=10**6
    )
    allow_private_hosts: bool = parameter(
        default=False,
        text="Let a tileset of another place refer to hosts of private networks and of this "
        "computer.",
    )
