# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of an HTTP server, with a key, retries and a cache that follows the server's headers.

Own retries instead of urllib3's, which cover headers only: a body that ends early is requested
again, one time limit holds for all tries, and `HttpSource.close` ends a wait.
"""

import logging
import threading
import time
from contextlib import nullcontext
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from urllib.parse import urlsplit

import requests
import urllib3

from aerotwin_tiles.fetch.address import (
    masked,
    may_share,
    parameter_of,
    resolved,
    with_parameter,
    without_parameter,
)
from aerotwin_tiles.fetch.cache import CacheFolder, CachingAdapter, default_cache_folder
from aerotwin_tiles.fetch.connections import OpenConnections
from aerotwin_tiles.fetch.content import UnpacksToMore, missing_part, unpacked
from aerotwin_tiles.fetch.private_hosts import PrivateHosts
from aerotwin_tiles.fetch.settings import HttpSettings
from aerotwin_tiles.fetch.source import FetchError, Traffic, TrafficCounter

_OK = (200, 203)
_REDIRECTS = (301, 302, 303, 307, 308)
_WORTH_A_RETRY = (429, 500, 502, 503, 504)
_CHUNK_BYTES = 1 << 16
_LOGGERS = ("urllib3.connectionpool", "urllib3.util.retry", "cachecontrol.controller")
_WAYS_OUT = {
    400: "check the address and the key",
    401: "check the key",
    403: "check the key and what it is allowed to",
    404: "check the address",
}


class _Retry(Exception):
    """A failure that may be temporary; ``wait_s`` is the pause that the server requests."""

    def __init__(self, reason: str, wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class _Session(requests.Session):
    """A session that does not follow redirects: it would read their bodies, of any size."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


class _Line:
    """The connections of one thread, and the session that uses them."""

    def __init__(self, cache: CacheFolder, hosts: PrivateHosts) -> None:
        self.connections = OpenConnections(hosts)
        self.adapter = CachingAdapter(cache, self.connections, hosts)
        self.session = _Session()
        self.session.mount("http://", self.adapter)
        self.session.mount("https://", self.adapter)
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.session.headers["User-Agent"] = "aerotwin (3-D Tiles reader)"
        self.session.headers["Accept-Encoding"] = "gzip, deflate"

    def close(self) -> None:
        """End all waits, and close the connections."""
        self.connections.end()
        self.session.close()


class HttpSource:
    """A server; see `Source`.

    Every thread has its own connection. The user's ``key`` (that of ``root`` if left out) is sent
    with every request to the root's host and to no other; it is in no address that `resolve`
    returns, in no message and in no log. ``cache_dir`` is the user's cache folder if left out.
    Raises `FetchError` if the address is invalid, or the cache's folder cannot be made.
    """

    def __init__(
        self,
        root: str,
        *,
        key: str | None = None,
        cache_dir: Path | None = None,
        settings: HttpSettings | None = None,
    ) -> None:
        self._settings = settings or HttpSettings()
        self._key = key or parameter_of(root, "key") or ""
        plain = without_parameter(root, "key")
        self._root_uri = self.resolve(plain, plain)
        self._cache = _open_cache(cache_dir or default_cache_folder(), self._settings)
        self._counter = TrafficCounter()
        self._hosts = PrivateHosts(
            urlsplit(self._root_uri).hostname or "", are_allowed=self._settings.allow_private_hosts
        )
        self._thread = threading.local()
        self._lines: list[_Line] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_FILTER)

    @property
    def root_uri(self) -> str:
        """Address of the root document, without the key."""
        return self._root_uri

    @property
    def traffic(self) -> Traffic:
        """What has been delivered so far."""
        return self._counter.read()

    def resolve(self, base_uri: str, uri: str) -> str:
        """Return the absolute address of a reference; see `Source.resolve`.

        ``session`` and ``key`` of the document's address are carried on within its host.
        """
        try:
            return resolved(base_uri, uri)
        except ValueError as error:
            raise FetchError(
                self._masked(f"'{uri}' in {base_uri}: {error}; correct the reference")
            ) from None

    def read(self, uri: str, *, max_bytes: int) -> bytes:
        """Return the content at an address; see `Source.read`."""
        limit_s = self._settings.total_timeout_s
        with (
            self._line.connections.limited(limit_s),
            self._hosts.reading_root() if uri == self._root_uri else nullcontext(),
        ):
            return self._read_in_time(uri, max_bytes)

    def _read_in_time(self, uri: str, max_bytes: int) -> bytes:
        settings, connections, reason = self._settings, self._line.connections, ""
        for n_tried in range(settings.n_attempts):
            if self._closed.is_set():
                raise FetchError(f"{self._masked(uri)}: its source was closed; open it again")
            try:
                return self._read_once(uri, max_bytes)
            except _Retry as failure:
                reason, wait_s = str(failure), failure.wait_s
            if n_tried + 1 < settings.n_attempts:
                pause = max(settings.backoff_s * 2.0**n_tried, wait_s)
                pause = min(pause, settings.max_wait_s, connections.left_s)
                if connections.is_late or self._closed.wait(max(pause, 0.0)):
                    break
                self._counter.add(n_retries=1)
        if connections.is_late:
            limit_s = settings.total_timeout_s
            raise FetchError(
                f"{self._masked(uri)}: expected the whole file, found one that is not whole after "
                f"{limit_s:g} s ({self._masked(reason)}); raise total_timeout_s if the server is "
                "that slow"
            )
        raise FetchError(
            f"{self._masked(uri)}: expected the whole file, found: {self._masked(reason)}, "
            f"after {settings.n_attempts} tries; try again later"
        )

    def close(self) -> None:
        """Close the connections; waits for a server or a retry end."""
        self._closed.set()
        with self._lock:
            for line in self._lines:
                line.close()
            self._lines.clear()

    def _read_once(self, uri: str, max_bytes: int) -> bytes:
        """Send one request, following redirects, and check the content."""
        try:
            with self._answer(uri) as response:
                data = self._body(response, uri, max_bytes)
                from_cache = bool(getattr(response, "from_cache", False))
                url = response.request.url or uri
            if self._line.connections.is_late:  # a body without a length may end anywhere
                raise _Retry("a body that was cut off")
        except (requests.exceptions.InvalidURL, UnicodeError):
            raise FetchError(f"{self._masked(uri)}: is no address; correct it") from None
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise _Retry(_reason(error)) from None
        try:
            data = unpacked(data, max_bytes=max_bytes)
            # Headers that are cut off pass for an answer without content.
            lacking = missing_part(data) if data else "there is nothing in it"
        except UnpacksToMore as error:  # as it would again
            self._line.adapter.forget(url)
            raise FetchError(
                f"{self._masked(uri)}: {error}; raise the limit if the file is right"
            ) from None
        except ValueError as error:
            lacking = str(error)
        if lacking:
            self._line.adapter.forget(url)
            self._line.session.close()  # what follows on this connection is no answer
            raise _Retry(f"{len(data)} bytes, but {lacking}")
        self._counter.add(n_read=1, n_bytes=len(data), n_from_cache=int(from_cache))
        return data

    def _answer(self, uri: str) -> requests.Response:
        """Return the answer "200 OK" for an address, or where it redirects to."""
        url, headers = uri, {}
        if uri == self._root_uri and self._hosts.is_root_private(urlsplit(uri).port or 0):
            headers = {"Cache-Control": "no-cache"}  # where it comes from must be seen
        for _ in range(self._settings.n_redirects + 1):
            response = self._ask(url, headers)
            if response.status_code in _OK:
                return response
            target = response.headers.get("location", "")
            response.close()
            if response.status_code not in _REDIRECTS:
                raise self._refusal(response, uri)
            if not target:
                raise FetchError(
                    f"{self._masked(uri)}: expected the address that answer {response.status_code} "
                    "leads to, found none; the server is at fault"
                )
            url = self.resolve(url, target)
        raise FetchError(
            f"{self._masked(uri)}: expected at most {self._settings.n_redirects} redirects, "
            "found more; check the address"
        )

    def _ask(self, url: str, headers: dict[str, str]) -> requests.Response:
        try:
            return self._line.session.get(
                self._with_key(url),
                headers=headers,
                stream=True,
                allow_redirects=False,
                timeout=(self._settings.connect_timeout_s, self._settings.read_timeout_s),
            )
        except FetchError as error:
            raise FetchError(f"{self._masked(url)}: {error}") from None

    def _refusal(self, response: requests.Response, uri: str) -> Exception:
        status = f"{response.status_code} {response.reason or ''}".strip()
        if response.status_code in _WORTH_A_RETRY:
            return _Retry(f"answer {status}", _seconds(response.headers.get("retry-after", "")))
        way_out = _WAYS_OUT.get(response.status_code, "check the address and the server")
        return FetchError(
            f"{self._masked(uri)}: expected the file, found answer {self._masked(status)}; "
            f"{way_out}"
        )

    def _body(self, response: requests.Response, uri: str, max_bytes: int) -> bytes:
        """Return the unpacked body; memory holds at most one chunk beyond the limit."""
        length = response.headers.get("content-length", "")
        size = int(length) if length.isdigit() and len(length) < 20 else 0
        data = bytearray()
        if size <= max_bytes:
            for chunk in response.iter_content(_CHUNK_BYTES):
                data += chunk
                if len(data) > max_bytes:
                    break
            else:
                return bytes(data)
        raise FetchError(
            f"{self._masked(uri)}: expected at most {max_bytes} bytes, found "
            f"{max(size, len(data))} or more; raise the limit if the file is right"
        )

    def _with_key(self, url: str) -> str:
        share = self._key and may_share(self._root_uri, url)
        return with_parameter(url, "key", self._key) if share else url

    def _masked(self, text: str) -> str:
        return masked(text.replace(self._key, "***") if self._key else text)

    @property
    def _line(self) -> _Line:
        line: _Line | None = getattr(self._thread, "line", None)
        if line is None:
            line = self._thread.line = _Line(self._cache, self._hosts)
            with self._lock:
                self._lines.append(line)
                if self._closed.is_set():
                    line.close()
        return line


def _open_cache(folder: Path, settings: HttpSettings) -> CacheFolder:
    try:
        return CacheFolder(folder, limit_bytes=settings.cache_limit_mb * 2**20)
    except OSError as error:
        raise FetchError(
            f"{folder}: the cache's folder cannot be made ({error.strerror}); set XDG_CACHE_HOME "
            "to a folder that can be written"
        ) from None


def _reason(error: Exception) -> str:
    """Return a short reason of a transport error; never quotes the address."""
    text = str(error)
    if isinstance(error, requests.exceptions.ConnectTimeout | requests.exceptions.ReadTimeout):
        return "no answer in time"
    if "timed out" in text:
        return "no more data in time"
    if "IncompleteRead" in text or "InvalidChunkLength" in text or "InvalidChunk" in text:
        return "a body that ends too early"
    if isinstance(error, requests.exceptions.ContentDecodingError):
        return "a packed body that is broken"
    if isinstance(error, requests.exceptions.SSLError):
        return "a certificate or a connection that is not secure"
    return f"no connection ({type(error).__name__})"


def _seconds(retry_after: str) -> float:
    """Return the wait of a Retry-After header [s]: a number, or a date (RFC 9110, 10.2.3)."""
    if retry_after.isdigit() and len(retry_after) < 10:
        return float(retry_after)
    try:
        return max(parsedate_to_datetime(retry_after).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.0


class _SecretFilter(logging.Filter):
    """Masks secrets in the records of the libraries below, which log whole addresses."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = masked(record.getMessage()), ()
        return True


_FILTER = _SecretFilter()
