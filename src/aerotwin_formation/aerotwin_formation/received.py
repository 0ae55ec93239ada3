# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What vehicles have received: all that a follower knows of the others.

One object holds the inboxes of m of n vehicles: one for a node or controller of one vehicle, all
in a simulation. Row i changes by what vehicle i received, and what is computed from it uses only
row i: rows of one object know no more of each other than objects of one row each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_formation.messages import LEADER, NEVER_NS, VehicleReport
from aerotwin_formation.plan import FormationPlan


@dataclass(frozen=True, kw_only=True)
class ReportRound:
    """Reports of m vehicles at one time, as `VehicleReport`, one in each row."""

    senders: np.ndarray
    stamp_ns: int
    motion: FloatArray
    leader_stamps_ns: np.ndarray
    leader_motion: FloatArray
    plan_numbers: np.ndarray
    attaches_plan: np.ndarray


class ReceivedReports:
    """The inboxes of some of n vehicles.

    Parameters
    ----------
    n_vehicles : int
        Vehicles of the formation, with the leader.
    receivers : sequence of int
        Whose inboxes these are, their numbers.

    Attributes
    ----------
    stamps_ns : (m, n) int array
        Of the newest report of each vehicle; -1 if it was never heard.
    motion : (m, n, 3, 3) array
        Of that report.
    heard_plan_numbers : (m, n) int array
        Of that report; -1 for no plan.
    leader_stamps_ns, leader_motion : (m,), (m, 3, 3) arrays
        Of the newest state of the leader, heard from itself or from others.
    plan_numbers : (m,) int array
        The plan that each follows, -1 for none.
    """

    def __init__(self, n_vehicles: int, receivers: Sequence[int]) -> None:
        m = len(receivers)
        self.receivers = np.array(receivers, dtype=np.int64)
        self.stamps_ns = np.full((m, n_vehicles), NEVER_NS, dtype=np.int64)
        self.motion = np.zeros((m, n_vehicles, 3, 3))
        self.heard_plan_numbers = np.full((m, n_vehicles), NEVER_NS, dtype=np.int64)
        self.leader_stamps_ns = np.full(m, NEVER_NS, dtype=np.int64)
        self.leader_motion = np.zeros((m, 3, 3))
        self.plan_numbers = np.full(m, NEVER_NS, dtype=np.int64)
        self._plans: dict[int, FormationPlan] = {}
        self._rows = np.arange(m)

    def receive(self, report: VehicleReport, row: int = 0) -> None:
        """Add a message that one of the vehicles, by its row, received."""
        if report.plan is not None:
            self._plans[report.plan.number] = report.plan
        one = ReportRound(
            senders=np.array([report.sender]),
            stamp_ns=report.stamp_ns,
            motion=report.motion[None],
            leader_stamps_ns=np.array([report.leader_stamp_ns]),
            leader_motion=report.leader_motion[None],
            plan_numbers=np.array([report.plan_number]),
            attaches_plan=np.array([report.plan is not None]),
        )
        self.receive_round(one, (self._rows == row)[None])

    def receive_round(self, reports: ReportRound, arrived: np.ndarray) -> None:
        """Add the reports of a round that arrived, (senders, m) true where a row received one."""
        columns = reports.senders
        is_newer = arrived.T & (reports.stamp_ns > self.stamps_ns[:, columns])
        rows, which = np.nonzero(is_newer)
        self.stamps_ns[rows, columns[which]] = reports.stamp_ns
        self.motion[rows, columns[which]] = reports.motion[which]
        self.heard_plan_numbers[rows, columns[which]] = reports.plan_numbers[which]
        # What was relayed or attached may be new although the sender's own motion is not.
        self._learn_leader(reports, arrived.T)
        attached = np.where(reports.attaches_plan, reports.plan_numbers, NEVER_NS)
        newest = np.where(arrived.T, attached, NEVER_NS).max(axis=1)
        self.plan_numbers = np.maximum(self.plan_numbers, newest)

    def _learn_leader(self, reports: ReportRound, arrived: np.ndarray) -> None:
        stamps = np.where(arrived, reports.leader_stamps_ns, NEVER_NS)
        best = stamps.argmax(axis=1)
        newest = stamps[self._rows, best]
        is_newer = newest > self.leader_stamps_ns
        self.leader_stamps_ns[is_newer] = newest[is_newer]
        self.leader_motion[is_newer] = reports.leader_motion[best[is_newer]]

    def set_own_leader_state(self, stamp_ns: int, motion: FloatArray) -> None:
        """Enter the leader's own motion (3, 3) in its own row."""
        rows = self.receivers == LEADER
        self.leader_stamps_ns[rows], self.leader_motion[rows] = stamp_ns, motion

    def set_own_plan(self, plan: FormationPlan) -> None:
        """Enter a plan that the leader made in its own row."""
        self._plans[plan.number] = plan
        self.plan_numbers[self.receivers == LEADER] = plan.number

    def plan_of(self, row: int) -> FormationPlan | None:
        """Return the plan that one of the vehicles, by its row, follows."""
        return self._plans.get(int(self.plan_numbers[row]))

    def plans_in_use(self) -> list[tuple[np.ndarray, FormationPlan]]:
        """Return each plan with the rows (k,) that follow it."""
        return [
            (np.flatnonzero(self.plan_numbers == number), self._plans[int(number)])
            for number in np.unique(self.plan_numbers)
            if number != NEVER_NS
        ]

    def reports(self, stamp_ns: int, motion: FloatArray) -> ReportRound:
        """Return what the vehicles say at a time, from their own motions (m, 3, 3).

        A plan is attached as long as the sender has not heard from every other vehicle that it has
        this plan or a newer one.
        """
        lacks = self.heard_plan_numbers < self.plan_numbers[:, None]
        lacks[self._rows, self.receivers] = False
        return ReportRound(
            senders=self.receivers,
            stamp_ns=stamp_ns,
            motion=motion.copy(),
            leader_stamps_ns=self.leader_stamps_ns.copy(),
            leader_motion=self.leader_motion.copy(),
            plan_numbers=self.plan_numbers.copy(),
            attaches_plan=lacks.any(axis=1) & (self.plan_numbers != NEVER_NS),
        )

    def report_of(self, reports: ReportRound, row: int) -> VehicleReport:
        """Return one row of a round as the message of that vehicle."""
        return VehicleReport(
            sender=int(reports.senders[row]),
            stamp_ns=reports.stamp_ns,
            motion=reports.motion[row],
            leader_stamp_ns=int(reports.leader_stamps_ns[row]),
            leader_motion=reports.leader_motion[row],
            plan_number=int(reports.plan_numbers[row]),
            plan=self.plan_of(row) if reports.attaches_plan[row] else None,
        )
