"""C#, F# and Visual Basic on .NET."""

import re

from contextd.faults.grammar import LEAD, LINE, TYPE, Grammar, compiled

_ERROR = rf"{TYPE}(?: \((?:0x[0-9A-Fa-f]+|-?\d+)\))?(?:: (?P<message>(?:(?! ---> )[^\n])*)|$)"

DOTNET = Grammar(
    language="csharp",
    hints=(
        ".cs:line ",
        ".fs:line ",
        ".vb:line ",
        " at System.",
        " at Microsoft.",
        " ---> ",
        "--- End of ",
        "Unhandled exception. ",
        "Unhandled Exception: ",
    ),
    vague_headlines=compiled(
        rf"{LEAD}(?:Unhandled [Ee]xception[.:] )?{_ERROR}",
        rf"(?P<cause> ---> )(?:\(Inner Exception #\d+\) )?{_ERROR}",
    ),
    frames=compiled(
        r"^ *at (?P<function>[^\n(]*[^\s(])\([^\n()]*\)(?: in (?P<file>[^\n]+):line "
        rf"{LINE})?$"
    ),
    library=re.compile(r"^(?:System|Microsoft|Xunit|NUnit|lambda_method)\b"),
    end_of_cause=compiled(r"^ *--- End of inner exception stack trace ---"),
)
