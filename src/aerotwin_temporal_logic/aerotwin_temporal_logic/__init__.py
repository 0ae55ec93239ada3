# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Expectations and triggers of a run: signal temporal logic in plain words.

A formula names signals, which have one value at each instant, and events, which are named instants
(the first occurrence counts). `parse` reads it, `judge` says whether a recorded run is as it says,
by how much and why, `Trigger` watches it while a run goes on. Grammar, after which a text that can
be read in two ways is refused::

    statement   = [ "always" | "never" | "eventually" ] implication { postfix }
    implication = alternative [ "implies" alternative ]
    alternative = conjunction { "or" conjunction }
    conjunction = operand { "and" operand }
    operand     = { "not" } condition { postfix }
    condition   = sum ( "<" | "<=" | ">" | ">=" ) sum | "(" statement ")" | BOOLEAN | EVENT
                | NUMBER "s" "after" ( EVENT | "start" )
                | TEXT "is" [ "not" ] WORD | NUMBER-SIGNAL "is" [ "not" ] "known"
    sum         = product { ( "+" | "-" ) product }
    product     = factor { ( "*" | "/" ) factor }
    factor      = NUMBER | NUMBER-SIGNAL | "-" factor | "(" sum ")" | "abs" "(" sum ")"
                | ( "min" | "max" ) "(" sum "," sum { "," sum } ")"
                | [ VEHICLE "." ] "distance_to" "(" sum "," sum [ "," sum ] ")"
    postfix     = "until" operand | "after" instant | "before" instant | "from" instant "to" instant
                | "within" NUMBER "s" [ "of" instant ] | "for" NUMBER "s" | "at" instant
    instant     = "start" | "end" | EVENT | NUMBER "s" [ "after" ( EVENT | "start" ) ]

Postfixes after always, never or eventually belong to all that these govern, others to the operand
before them. Semantics, over samples at t_0 .. t_n-1 of which each holds until the next:

- `distance_to(x, y)` is that of the place from the signals east_m and north_m, horizontally, with
  a third coordinate also from up_m; `uav1.distance_to` from uav1.east_m and uav1.north_m.
- Robustness is that of Fainekos and Pappas (2009), Donze and Maler (2010): b - a for a < b, the
  least of `and` and always, the greatest of `or` and eventually, the opposite of `not`. Booleans,
  texts and events are +-infinite. The sign is the verdict; where it is zero, < and <= differ.
- A period begins with the sample in force at its first instant and includes its last; `before`
  excludes it. Without a period, always, eventually, until and `within D s` begin where they are
  judged: at the start, or at each instant of an `always ( … )` around them; they end with the run.
- `F within D s`: at some instant up to D s later. `F for D s`: from here on for D s, all of them
  in the run; `F for D s within E s of T` must begin within E s.
- `until` is strong: what it waits for must come, else a run that ends early would pass. Before, the
  other side holds; it must not have come at the first instant, else nothing would be checked.
- Never vacuous: where an event never came, or the run ended before a written period did, what
  depends on it is not known; nor is a comparison with NaN. What is not known never speaks for a
  formula, nor for its negation. `always error_m < 3` before an estimator runs is therefore not met;
  write `after EVENT`, or `always (error_m is known implies error_m < 3)`.
- A bare EVENT is a boolean, true from its instant on: `never collision`, `X implies gust`.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_temporal_logic.formula import Formula
    from aerotwin_temporal_logic.judging import Verdict, judge
    from aerotwin_temporal_logic.nodes import Signal
    from aerotwin_temporal_logic.parser import parse
    from aerotwin_temporal_logic.tokens import FormulaError
    from aerotwin_temporal_logic.trace import Trace
    from aerotwin_temporal_logic.trigger import Trigger
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
