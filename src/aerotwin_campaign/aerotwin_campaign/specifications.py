# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All runs of a campaign, made one by one when they are asked for."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from aerotwin_campaign.axes import ListedAxis
from aerotwin_campaign.campaign_file import Campaign
from aerotwin_campaign.paths import with_value
from aerotwin_campaign.sampling import GRID, unit_points
from aerotwin_campaign.scenario_documents import SCENARIO
from aerotwin_campaign.spec import RunSpec


class Specifications(Sequence[RunSpec]):
    """The specifications of a campaign's runs by number.

    Scenarios are outermost, then combinations of the axes, then seeds, then repeats; of a grid the
    last axis runs fastest. Only the points of a sampled campaign are held: 8 bytes for each axis
    and sample.

    Parameters
    ----------
    campaign : Campaign
    versions : mapping of str to str
        Of what the results depend on.
    """

    def __init__(self, campaign: Campaign, versions: Mapping[str, str]) -> None:
        self.campaign = campaign
        self._versions, self._names = dict(versions), [*campaign.documents]
        given = campaign.parameters
        self._parts = {path: path.split(".") for path in campaign.axes}
        self._points = None
        if given.sampling != GRID:
            self._points = unit_points(
                given.sampling, given.samples, len(campaign.axes), given.sampling_seed
            )

    def __len__(self) -> int:
        return self.campaign.n_runs

    @overload
    def __getitem__(self, index: int) -> RunSpec: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RunSpec]: ...
    def __getitem__(self, index: int | slice) -> RunSpec | Sequence[RunSpec]:
        """Make the specification of a number, or a list of them."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"run {index} of {len(self)}")
        given = self.campaign.parameters
        name, point = self._place_of(index)
        seed, repeat = divmod(index % (len(self.campaign.seeds) * given.repeats), given.repeats)
        document: Any = self.campaign.documents[name]
        for path, value in self._values_of(point).items():
            document = with_value(document, self._parts[path], value)
        return RunSpec(
            run=self.campaign.run,
            document=document,
            seed=self.campaign.seeds[seed],
            repeat=repeat,
            versions=self._versions,
        )

    def axis_values(self, index: int) -> dict[str, Any]:
        """Return the scenario, if it is one of several, and the value of each axis in a run."""
        name, point = self._place_of(index)
        return ({SCENARIO: name} if name else {}) | self._values_of(point)

    def _place_of(self, index: int) -> tuple[str, int]:
        """Return the document of a run by its name, and the combination of the axes."""
        n_each = len(self.campaign.seeds) * self.campaign.parameters.repeats
        document, point = divmod(index // n_each, self.campaign.n_points)
        return self._names[document], point

    def _values_of(self, point: int) -> dict[str, Any]:
        axes = self.campaign.axes
        if self._points is not None:
            row = self._points[point]
            return {path: axis.value(float(u)) for (path, axis), u in zip(axes.items(), row)}
        listed = {path: axis for path, axis in axes.items() if isinstance(axis, ListedAxis)}
        if not listed:
            return {}
        where = np.unravel_index(point, [len(axis) for axis in listed.values()])
        return {path: axis.values[int(k)] for (path, axis), k in zip(listed.items(), where)}
