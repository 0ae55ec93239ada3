# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Continue a campaign that was interrupted: the same as `campaign run`.

What is in the store is not run again. After a change of the file the runs that it still stands for
stay; new ones are made. A new version of aerotwin, a numeric library or the function's module makes
all runs anew.

Examples
--------
  aerotwin campaign resume wind.yaml
  aerotwin campaign resume wind.yaml --workers 4
"""

from aerotwin_campaign.run_command import configure, run

__all__ = ["configure", "run"]
