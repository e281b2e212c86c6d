"""Finds credentials that their own shape gives away: the tokens of clouds and vendors."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from contextd.redaction.candidates import WORD_START, Candidate
from contextd.redaction.literals import looks_random

_STARTS_A_WORD = re.compile(WORD_START)
_TOKEN_CHARACTERS = re.compile(r"[A-Za-z0-9_-]*+")


@dataclass(frozen=True)
class Shape:
    """What a vendor's tokens look like; a text without any of the hints cannot hold one."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = bool

    def find(self, text: str) -> Iterator[Candidate]:
        for match in self.pattern.finditer(text):
            if _STARTS_A_WORD.match(text, match.start()) and self.accepts(match[0]):
                # Vendors lengthen their tokens; a length known here must not leave a tail behind.
                rest = _TOKEN_CHARACTERS.match(text, match.end())
                end = rest.end() if rest else match.end()
                yield Candidate(match.start(), match.start(), end, self.kind)


def vendor_tokens(text: str) -> Iterator[Candidate]:
    for shape in _SHAPES:
        if any(hint in text for hint in shape.hints):
            yield from shape.find(text)


def _own(kind: str, hints: str, pattern: str) -> Shape:
    return Shape(kind, tuple(hints.split()), re.compile(pattern, re.ASCII))


def _own_random(kind: str, hints: str, pattern: str) -> Shape:
    """A shape that words joined by hyphens or dots could have too."""
    return Shape(kind, tuple(hints.split()), re.compile(pattern, re.ASCII), looks_random)


def _known(kind: str, hints: str, pattern: re.Pattern[str], *, random: bool = False) -> Shape:
    return Shape(kind, tuple(hints.split()), pattern, looks_random if random else bool)


# Of detect-secrets only the patterns are used: its scan needs global settings, and yields a bare
# `glpat` for a GitLab token. The detectors left out raise false alarms (entropy, keywords, public
# addresses), take quadratic time (JWT, npm, OpenAI, Cloudant, IBM, SoftLayer) or know less than
# the shapes below (GitHub, Azure).
_FROM_LIBRARY = (
    _known("aws-access-key", "AKIA ASIA ABIA ACCA A3T", AWSKeyDetector.denylist[0]),
    *(_known("gitlab-token", "gl GR13", pattern) for pattern in GitLabTokenDetector.denylist),
    _known("slack-token", "xox", SlackDetector.denylist[0]),
    _known("slack-webhook", "hooks.slack.com", SlackDetector.denylist[1]),
    _known("stripe-key", "k_live_", StripeDetector.denylist[0]),
    _known("square-key", "sq0csp-", SquareOAuthDetector.denylist[0]),
    _known("sendgrid-key", "SG.", SendGridDetector.denylist[0]),
    _known("twilio-key", "SK", TwilioKeyDetector.denylist[1]),
    _known("telegram-token", ":AA", TelegramBotTokenDetector.denylist[0]),
    *(_known("pypi-token", "pypi-", pattern) for pattern in PypiTokenDetector.denylist),
    _known(
        "mailchimp-key",
        " ".join(f"-us{digit}" for digit in range(1, 10)),
        MailchimpDetector.denylist[0],
    ),
    _known("discord-token", ".", DiscordBotTokenDetector.denylist[0], random=True),
)

_OWN = (
    _own("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_]{36}"),
    _own("github-token", "github_pat_", r"github_pat_\w{22}"),
    _own("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{16}"),
    _own("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None|service)-[\w-]{16}"),
    _own_random("openai-key", "sk-", r"(?<!-)sk-[\w-]{20,}+"),
    _own("stripe-key", "k_test_ k_live_", r"[rsp]k_(?:test|live)_[A-Za-z0-9]{16}"),
    _own("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}+"),
    _own_random("slack-token", "xox xapp-", r"(?:xox[a-z]|xapp)-[\w-]{16,}+"),
    _own("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _own("google-oauth-token", "ya29.", r"ya29\.[\w-]{20}"),
    _own("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{24}"),
    _own("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _own("pypi-token", "pypi-Ag", r"pypi-Ag[\w-]{50}"),
    _own("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30}"),
    _own("digitalocean-token", "do", r"do[opr]_v1_[0-9a-f]{64}"),
    _own_random("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}+"),
    _own("azure-key", "AccountKey= AccessKey=", r"(?<=AccountKey=)[A-Za-z0-9+/]{40,}+={0,2}"),
    _own("discord-webhook", "api/webhooks", r"(?<=api/webhooks/)\d{15,20}/[\w-]{60}"),
    _own("docker-token", "dckr_", r"dckr_[po]at_[\w-]{20}"),
    _own("databricks-token", "dapi", r"dapi[0-9a-f]{32}"),
    _own("grafana-token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/]{32}"),
    _own("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{60}"),
    _own("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{50}"),
    # Never begins inside a token: otherwise a long run of `eyJ` would be read once for each.
    _own("jwt", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}+\.eyJ[\w-]{4,}+(?:\.[\w-]*+)?"),
    _own("jwe", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}+(?:\.[\w-]*+){2}\.[\w-]{8,}+\.[\w-]{8,}+"),
)
_SHAPES = _FROM_LIBRARY + _OWN
