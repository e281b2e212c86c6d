"""The caller of benchmarks that run operations in their own process."""

from contextd.callers import Caller, Entry

CALLER = Caller(principal="benchmark", door="cli", entry=Entry())
