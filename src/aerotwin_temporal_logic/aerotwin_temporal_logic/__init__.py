# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Conditions over the signals of a run in time: signal temporal logic in a readable subset.

`parse` reads a text such as `landed within 60 s of gnss_lost`; `judge` says whether a recorded run
meets it and by how much (its robustness); a `Trigger` watches one while a run lasts.

Grammar, with the operators that bind least first:

    expectation := quantified { within N s [of EVENT] | after EVENT | before EVENT
                                | from N s to N s | at end }
    quantified  := [ always | never | eventually ] implication [ until implication ]
    implication := disjunction [ implies implication ]
    disjunction := conjunction { or conjunction }
    conjunction := negation { and negation }
    negation    := not negation | primary [ for N s ]
    primary     := ( expectation ) | N s after EVENT | NAME is [ not ] WORD
                   | sum ( < | <= | > | >= ) sum | NAME
    sum         := product { ( + | - ) product };  product := factor { ( * | / ) factor }
    factor      := NUMBER | NAME | - factor | ( sum ) | abs ( sum )
                   | ( min | max ) ( sum { , sum } )

A NAME alone is a boolean signal, or an event: true from its instant on. Formulas are evaluated at
the recorded samples. An `always` looks at all samples from its instant to the end of the run; with
`until` it looks at those before the other condition first holds, which it need not (weak until); a
bare `until` needs it (strong). `for N s` holds where the condition holds at all samples of the next
N seconds, and the run lasts that long. `within` asks for one sample of the next N seconds, or of
those after an event, `never` with it for none; `after` evaluates at an event, `before` on the run
up to it. An `always` or `never` over a period is not met where the run ends before the period does.

What is not known at a sample (a number that is NaN) counts neither way; an expectation of which
nothing is known, or whose event never came, is not met.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_temporal_logic.formula import Formula, FormulaError, Signal
    from aerotwin_temporal_logic.parser import parse
    from aerotwin_temporal_logic.robustness import Trace
    from aerotwin_temporal_logic.trigger import Trigger
    from aerotwin_temporal_logic.verdict import Verdict, judge
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
