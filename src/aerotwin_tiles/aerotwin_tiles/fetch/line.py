# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The connections of one thread: a session whose connections can be ended."""

from http.cookiejar import DefaultCookiePolicy

import requests

from aerotwin_tiles.fetch.cache import CacheFolder, CachingAdapter
from aerotwin_tiles.fetch.connections import OpenConnections
from aerotwin_tiles.fetch.private_hosts import PrivateHosts


class Line:
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


class _Session(requests.Session):
    """A session that does not follow redirects: it would read their bodies, of any size."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None
