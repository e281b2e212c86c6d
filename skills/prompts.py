"""Offer each published skill as a prompt."""

from contextd import prompts
from skills import saying

prompts.family(saying.PREFIX, offered=saying.offered)(saying.said)
