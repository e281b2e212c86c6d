"""Says what a command would destroy, by parsing it, not by looking for words in it."""

from troubleshoot.commands.judging import dangers
from troubleshoot.commands.prose import dangers_in_prose

__all__ = ["dangers", "dangers_in_prose"]
