# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import io

from aerotwin_core.status_line import StatusLine


def test_the_status_line_prints_each_new_phase_once_without_a_terminal():
    stream = io.StringIO()
    status = StatusLine(stream)
    for _ in range(5):
        status.update(2_500_000_000, 1.25, "flying", 0.5)
    status.close()
    assert stream.getvalue().count("flying") == 1
    assert "2.5 s |  1.25 x real time" in stream.getvalue()
