"""Java, Kotlin, Scala, Groovy; also as Android prints them."""

import re

from contextd.faults.grammar import LEAD, LINE, MESSAGE, TYPE, Grammar, compiled

_FILE = r"\w[\w$.-]*\.(?:java|kts?|scala|groovy|clj)|Native Method|Unknown Source|SourceFile"

# What failed while an error was handled neither is the error nor caused it.
_SUPPRESSED = re.compile(
    r"^( *)Suppressed: [^\n]*(?:\n\1(?: |(?<= )Caused by: )[^\n]*)*\n?", re.MULTILINE
)


def _without_suppressed(text: str) -> str:
    return _SUPPRESSED.sub("", text)


JVM = Grammar(
    language="java",
    prepare=_without_suppressed,
    hints=(
        ".java:",
        ".kt:",
        ".scala:",
        ".groovy:",
        ".clj:",
        "(Native Method)",
        "(Unknown Source)",
        "(SourceFile",
    ),
    headlines=compiled(rf"^ *{TYPE} at (?P<file>\w+\.(?:java|kts?|groovy)):{LINE}$"),  # Gradle
    vague_headlines=compiled(
        rf"{LEAD}(?P<cause>Caused by: )?(?P<wrapper>Wrapped by: )?"
        rf"(?:Exception in thread \"[^\"\n]*\" )?{TYPE}(?:: ?{MESSAGE}|$)"
    ),
    frames=compiled(
        rf"^ *at (?:[\w.@-]+/{{1,2}})*+(?P<function>[^\s(/][^\n(]*)"
        rf"\((?P<file>{_FILE}|<generated>)(?::{LINE})?\)",
    ),
    library=re.compile(
        r"^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|junit|dalvik|android"
        r"|androidx|org\.(?:junit|testng|gradle|codehaus|springframework|eclipse\.jetty)"
        r"|org\.apache\.(?:tools\.ant|maven|catalina|coyote|tomcat)"
        r"|io\.netty|com\.android\.internal|com\.intellij\.rt)\."
        r"|\$Proxy\d|CGLIB\$\$|\$\$Lambda|\$\$SpringProxy|ByteBuddy|GeneratedMethodAccessor"
    ),
)
