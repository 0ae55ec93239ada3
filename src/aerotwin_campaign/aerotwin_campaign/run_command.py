# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
r"""Run a campaign: scenarios or a function over axes, seeds, repeats; what is done stays.

A campaign file flies scenarios (aerotwin scenario list), judged by what they expect:

  name: late_loss
  scenario: gnss_loss                 # a name, a file, a list of these, or all
  axes:                               # dotted path in the scenario file: its values
    wind.east_m_s: {from: 0, to: 8, steps: 5}
    events.gnss_lost.duration_s: [1, 3, 10]
  seeds: {first: 1000, count: 10}     # or a list
  fail_if: ["success_share < 1", "max_tilt_deg.max > 45"]

or calls a function of yours:

  name: wind
  run: my_package.my_module:fly       # what one run is
  base:                               # the document that it receives
    wind: {east_m_s: 0.0, gust_m_s: 0.0}
    vehicle: {mass_kg: 1.5}
  axes:                               # dotted path in base: its values
    wind.east_m_s: {uniform: {from: 0, to: 8}}
    wind.gust_m_s: [0, 2, 5]
    vehicle.mass_kg: {normal: {mean: 1.5, std: 0.1}}
  sampling: sobol                     # grid (default), random, sobol, latin_hypercube
  samples: 64
  seeds: {first: 1, count: 3}
  repeats: 1
  fail_if: ["success_share < 0.95", "miss_m.p95 > 0.5"]
  timeout_s: 120
  keep: failures                      # all, failures, metrics: files beside result and cost

An axis is a list, {from, to, steps}, {from, to, step}, or a distribution: normal {mean, std},
uniform, log_uniform or integers {from, to}, choice [..]. A path that base lacks is listed under
'new'. The function is

  def fly(document, context):         # context: seed, repeat, folder, place
      return {"metrics": {"miss_m": 0.2}, "is_success": True, "outcome": "landed"}

What needs all runs together is a function that the key 'figures' names:

  def errors(runs):                   # of each: axes, seed, repeat, metrics, is_success, folder
      values = {"spread_m": 0.4}      # fail_if knows them, too
      return OverallFigures(values=values, sections=[...])    # chapters of the report

Both are imported from where Python finds them: add their folder to PYTHONPATH. A run is known by
the hash of function, document, seed, repeat and versions, and is made once: the same command goes
on after any interruption. An exception, a crash or a run beyond timeout_s is a failed run; a full
disk or a lost worker is not: it is tried again, then said. The metrics of a scenario's flight are
those of aerotwin scenario run and, of expectation N, expect.N.is_met and expect.N.robustness.

Examples
--------
  aerotwin campaign run wind.yaml                     # as many workers as cores
  aerotwin campaign run wind.yaml --workers 2 --store /data/wind
  aerotwin campaign run wind.yaml --set "seeds={first: 1, count: 50}" --set repeats=2
  aerotwin campaign run wind.yaml --scheduler tcp://127.0.0.1:8786 --store s3://bucket/wind
  aerotwin campaign status wind.yaml                  # done, failed, left

Results are in STORE/results.parquet, a row each: pandas.read_parquet reads it; STORE/report.html
shows them (of more than 2000 runs it is made by aerotwin campaign report). fail_if knows
n_runs, n_failures, success_share, and min, max, mean, std, median, p95 and n of each metric.
Exit codes: 0 done, 1 runs could not be made, 2 wrong use, 3 a condition of fail_if holds,
130 and 143 interrupted and terminated.
"""

import argparse

from aerotwin_campaign.campaign_command import (
    add_file_arguments,
    add_junit_argument,
    add_set_argument,
    run_campaign,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_file_arguments(parser)
    add_set_argument(parser, 'in place of what the file has, as "seeds=[1000]"')
    add_junit_argument(parser)
    parser.add_argument(
        "--workers", metavar="N", type=int, help="runs at a time on this machine (default: cores)"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of a Dask cluster, as tcp://127.0.0.1:8786, or 'local' for one in this process",
    )


def run(args: argparse.Namespace) -> int:
    """Run what is missing."""
    return run_campaign(args)
