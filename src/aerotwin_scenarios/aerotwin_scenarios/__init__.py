# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Use cases flown and driven in simulation, each from the world to the report.

`teach_repeat` surveys a place, teaches a route in it and repeats it in closed loop;
`dense_localization` maps a wall and flies close to it on the map; the modules beside them are the
verbs, the relay manoeuvre and the recorded flight.
"""

__all__: list[str] = []
