# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A cache in a folder that follows the server's Cache-Control (RFC 9111).

CacheControl does the work; where it interprets a header more freely than the standard, storage is
restricted here. What may not be stored never reaches the disk; expired entries are removed when the
folder is opened next.
"""

import calendar
import hashlib
import os
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_tz
from pathlib import Path
from urllib.parse import urlsplit

from cachecontrol import CacheControlAdapter, CacheController
from cachecontrol.cache import BaseCache
from requests.utils import select_proxy

from aerotwin_core.user_cache import user_cache_folder
from aerotwin_tiles.fetch.connections import OpenConnections
from aerotwin_tiles.fetch.private_hosts import PrivateHosts

_CACHED_FOR_QUERY_S = 14 * 86400
"""How long stale content is kept to ask "is it still this?" (CacheControl's own figure)."""
_LONGEST_S = 366 * 86400
_ENDING = ".http"


def default_cache_folder() -> Path:
    """Return the folder below the user's cache folder."""
    return user_cache_folder("http")


class CacheFolder(BaseCache):
    """One file per address, named by its hash; its time stamp is the expiry time.

    Several threads and processes may share the folder, which is made for its owner only: files are
    written whole and renamed. At opening, the files that expire first are removed until the others
    fit into ``limit_bytes``. Raises `OSError` if the folder cannot be made.
    """

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._tidy(limit_bytes)

    def get(self, key: str) -> bytes | None:
        """Return what is stored for an address."""
        try:
            return self._file(key).read_bytes()
        except OSError:
            return None

    def set(self, key: str, value: bytes, expires: object = None) -> None:
        """Store for a number of seconds; an entry that does not fit on the disk is not stored."""
        file = self._file(key)
        temporary = file.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
        lifetime = expires if isinstance(expires, int) else _CACHED_FOR_QUERY_S
        end = time.time() + min(lifetime, _LONGEST_S)
        try:
            temporary.touch(mode=0o600)
            temporary.write_bytes(value)
            os.utime(temporary, (end, end))
            os.replace(temporary, file)
        except OSError:
            temporary.unlink(missing_ok=True)

    def delete(self, key: str) -> None:
        """Remove the entry of an address."""
        self._file(key).unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self._folder / (hashlib.sha256(key.encode()).hexdigest() + _ENDING)

    def _tidy(self, limit_bytes: int) -> None:
        files = sorted(self._folder.glob(f"*{_ENDING}"), key=_end_of, reverse=True)
        total, now = 0, time.time()
        for file in files:
            try:
                total += file.stat().st_size
                if total > limit_bytes or _end_of(file) <= now:
                    file.unlink(missing_ok=True)
            except OSError:  # another process was faster
                continue


def _end_of(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _is_date(text: str) -> bool:
    parts = parsedate_tz(text)
    try:
        return parts is not None and calendar.timegm(parts[:6]) > 0
    except (ValueError, OverflowError):
        return False


class _Controller(CacheController):
    """CacheControl with the parts of RFC 9111 that it leaves out.

    Directives are case-insensitive (5.2); "no-cache" in an answer requires revalidation each time
    (5.2.2.4); an answer "304 Not Modified" with "no-store" ends the storing (5.2.2.5). Redirects
    are not stored: they may contain a key.
    """

    def __init__(self, *args, **options) -> None:
        super().__init__(*args, status_codes=(200, 203), **options)

    def parse_cache_control(self, headers: Mapping[str, str]) -> dict[str, int | None]:
        text = " ".join(v for name, v in headers.items() if name.lower() == "cache-control")
        found = super().parse_cache_control({"cache-control": text.lower().replace('"', "")})
        if "no-cache" in found:
            found["max-age"] = 0
        return found

    def update_cached_response(self, request, response):
        updated = super().update_cached_response(request, response)
        if "no-store" in self.parse_cache_control(response.headers):
            self.cache.delete(self.cache_url(request.url))
        return updated


class CachingAdapter(CacheControlAdapter):
    """Transport of a `requests` session whose answers are cached as their headers allow.

    ``connections`` registers its connections, so that they can be ended; ``hosts`` decides which
    hosts may be requested through a proxy.
    """

    def __init__(
        self, cache: CacheFolder, connections: OpenConnections, hosts: PrivateHosts
    ) -> None:
        super().__init__(cache, controller_class=_Controller)
        self._connections, self._hosts = connections, hosts
        connections.watch(self.poolmanager)

    def proxy_manager_for(self, proxy, **options):
        """Return the connections through a proxy, registered as the others."""
        is_new = proxy not in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **options)
        if is_new:
            self._connections.watch(manager, is_proxy=True)
        return manager

    def get_connection_with_tls_context(self, request, verify, proxies=None, cert=None):
        """Return the connections for a request; a private host is not requested through a proxy.

        A name that only the proxy can resolve is left to it.
        """
        if select_proxy(request.url, proxies):
            parts = urlsplit(request.url)
            with suppress(OSError):
                self._hosts.addresses(parts.hostname or "", parts.port or 0)
        return super().get_connection_with_tls_context(request, verify, proxies, cert)

    def forget(self, url: str) -> None:
        """Remove the cached content of an address, as it turned out to be broken."""
        self.cache.delete(self.controller.cache_url(url))

    def build_response(self, request, response, from_cache=False, cacheable_methods=None):
        """Return the answer, without invalid dates."""
        for name in ("date", "expires"):
            if name in response.headers and not _is_date(response.headers[name]):
                del response.headers[name]
        answer = super().build_response(request, response, from_cache, cacheable_methods)
        # CacheControl closes its spool only after a whole body: broken ones would leave files open.
        if (spool := getattr(answer.raw._fp, "_CallbackFileWrapper__buf", None)) is not None:
            weakref.finalize(answer, spool.close)
        return answer
