"""Understand errors as people, programs and CI print them.

Pure functions. `parse` reads type, message, stack and causes; `clean`, `normalize` and `focus`
prepare text for search; `informative_words` and `is_specific` find what distinguishes an error;
`signature`, `stack_overlap` and `fingerprint` compare errors; `family`, `type_name` and
`same_type` know which names mean the same kind of error.
"""

from contextd.faults.clean import clean
from contextd.faults.families import family, same_type, type_name
from contextd.faults.fault import Fault, Frame
from contextd.faults.focus import focus
from contextd.faults.informative import informative_words, is_specific
from contextd.faults.normalize import normalize
from contextd.faults.parse import parse
from contextd.faults.signature import fingerprint, signature, stack_overlap

__all__ = [
    "Fault",
    "Frame",
    "clean",
    "family",
    "fingerprint",
    "focus",
    "informative_words",
    "is_specific",
    "normalize",
    "parse",
    "same_type",
    "signature",
    "stack_overlap",
    "type_name",
]
