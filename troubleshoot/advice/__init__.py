"""A language model's opinion of an error: optional, checked, and never more than an opinion."""

from troubleshoot.advice.asking import Unhelpful, ask, is_configured
from troubleshoot.advice.schema import Advice
from troubleshoot.advice.weighing_in import with_advice

__all__ = ["Advice", "Unhelpful", "ask", "is_configured", "with_advice"]
