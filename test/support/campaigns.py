# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns over the functions of `campaign_stubs`, for tests."""

from functools import partial
from pathlib import Path
from typing import Any

from aerotwin_campaign import CampaignRun, Store, make_campaign, run_locally

STUBS = "support.campaign_stubs"
FOLDER = Path(__file__).resolve().parents[1]
"""To be in PYTHONPATH of the processes that import the stubs."""


def campaign_of(function: str, **content: Any):
    """Return the campaign of a stub; `base` and the rest are keys of its file."""
    given = {"name": "test", "run": f"{STUBS}:{function}", "base": {}} | content
    return make_campaign(given, where="test.yaml")


def opened(campaign, store: Path | str) -> CampaignRun:
    """Return a campaign with its store, which was read."""
    found = CampaignRun(campaign, Store(str(store)))
    found.read_store()
    return found


def carried_out(campaign, store: Path | str, engine=run_locally, **options: Any) -> CampaignRun:
    """Run what is missing and return the campaign."""
    found = opened(campaign, store)
    function = campaign.parameters.run
    make = partial(engine, store=found.store, options=found.options, run=function, **options)
    found.carry_out(make, lambda _: None)
    return found


def result_files(store: Path) -> dict[str, bytes]:
    """Return the content of every result by the name of its run's folder."""
    return {path.parent.name: path.read_bytes() for path in store.glob("runs/*/*/result.json")}


def leftovers(store: Path) -> list[Path]:
    """Return the folders of runs that are not complete."""
    return [
        path
        for path in store.glob("runs/*/*")
        if path.name.startswith(".") or not (path / "result.json").is_file()
    ]
