# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Many runs of one function: over axes, seeds and repeats, on this machine or a Dask cluster.

A campaign file stands for specifications; each is a run, known by its hash and made once. What a
run is, is up to its function: `function(document, context) -> {metrics, is_success, outcome}`.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_campaign.campaign_file import Campaign, load_campaign, make_campaign
    from aerotwin_campaign.campaign_report import (
        CampaignReport,
        report_of_campaign,
        report_of_store,
    )
    from aerotwin_campaign.campaign_results import ResultColumns
    from aerotwin_campaign.campaign_run import CampaignProgress, CampaignRun
    from aerotwin_campaign.dask_engine import run_on_dask
    from aerotwin_campaign.execution import MachineFailure, RunOptions
    from aerotwin_campaign.function import RunContext, versions_of
    from aerotwin_campaign.junit import junit_xml
    from aerotwin_campaign.local_engine import run_locally
    from aerotwin_campaign.overall_figures import FinishedRun, OverallFigures
    from aerotwin_campaign.place import WorkerPlace
    from aerotwin_campaign.sensitivity import Sensitivity, rank_correlation, variance_share
    from aerotwin_campaign.spec import RunSpec
    from aerotwin_campaign.specifications import Specifications
    from aerotwin_campaign.store import Store, StoredRun
    from aerotwin_campaign.worker import RunReport
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
