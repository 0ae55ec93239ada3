# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import pytest

from aerotwin_core.numbered_lock import ROS_DOMAINS, TEST_DOMAINS, claimed_domain, claimed_number

MAVLINK_PORTS = [*range(14030, 18571), *range(24540, 25565)]
FIRST_LENT_PORT = 32768  # of Linux, for connections
CLAIM = """
import sys
from aerotwin_core.numbered_lock import claimed_number
with claimed_number("unit", range(3)) as number:
    print(number)
"""


@pytest.fixture(autouse=True)
def _locks_of_this_test(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_each_claim_has_a_number_of_its_own_until_its_end():
    with claimed_number("unit", range(2)) as first:
        with claimed_number("unit", range(2)) as second, claimed_number("unit", range(2)) as third:
            assert (first, second, third) == (0, 1, None)
        with claimed_number("other", range(2)) as other, claimed_number("unit", range(2)) as again:
            assert (other, again) == (0, 1)


def test_another_process_claims_another_number():
    with claimed_number("unit", range(2)):
        done = subprocess.run([sys.executable, "-P", "-c", CLAIM], capture_output=True, check=True)
    assert int(done.stdout) == 1


def test_no_domain_has_the_ports_of_mavlink_or_those_that_are_lent():
    for domain in ROS_DOMAINS:
        first = 7400 + 250 * domain
        assert not set(range(first, first + 250)) & set(MAVLINK_PORTS), domain
        assert first + 250 <= FIRST_LENT_PORT, domain
    assert set(TEST_DOMAINS) < set(ROS_DOMAINS) and max(TEST_DOMAINS) < 26


def test_domains_that_are_claimed_at_a_time_differ():
    with claimed_domain() as first, claimed_domain() as second, claimed_domain((first,)) as third:
        assert first in ROS_DOMAINS and second in ROS_DOMAINS and first != second
        assert third is None
