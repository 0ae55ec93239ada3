# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Writer of a route graph during the teach."""

from aerotwin_teach_repeat.route_graph.graph import RouteGraph
from aerotwin_teach_repeat.route_graph.writer import FolderWriter


class RouteGraphWriter(FolderWriter):
    """A `FolderWriter`, with its parameters, that returns the finished graph.

    Examples
    --------
    >>> with RouteGraphWriter("taught") as writer:  # doctest: +SKIP
    ...     writer.add_submap(submap)
    ...     writer.add_vertex(vertex)
    ...     graph = writer.finish()
    """

    def finish(self) -> RouteGraph:
        """Close the tables, write their checksums and return the graph as written."""
        self.complete()
        return RouteGraph.load(self.folder)
