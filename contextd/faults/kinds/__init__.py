"""The kinds of errors that go by different names in different languages and tools."""

from contextd.faults.kinds.kind import Kind
from contextd.faults.kinds.program import PROGRAM
from contextd.faults.kinds.services import SERVICES
from contextd.faults.kinds.system import SYSTEM

# The first kind with a matching phrase is used. What a service says of itself is told apart from
# what it says of the network only by coming first.
KINDS: tuple[Kind, ...] = SERVICES + SYSTEM + PROGRAM
