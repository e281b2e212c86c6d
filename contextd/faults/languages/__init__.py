"""One table a language."""

from contextd.faults.grammar import Grammar
from contextd.faults.languages.dotnet import DOTNET
from contextd.faults.languages.go import GO
from contextd.faults.languages.javascript import JAVASCRIPT
from contextd.faults.languages.jvm import JVM
from contextd.faults.languages.native import NATIVE
from contextd.faults.languages.php import PHP
from contextd.faults.languages.python import CRASH, NOTEBOOK, PYTEST, PYTHON
from contextd.faults.languages.ruby import RUBY
from contextd.faults.languages.rust import RUST

# Of two that know the same line, the first is right.
GRAMMARS: tuple[Grammar, ...] = (
    CRASH, PYTHON, JVM, GO, RUST, RUBY, PHP, JAVASCRIPT, DOTNET, NATIVE, PYTEST, NOTEBOOK,
)  # fmt: skip
