"""Finds credentials by their own format: the tokens of clouds and vendors."""

import re
from collections.abc import Iterator
from dataclasses import replace

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

from contextd.redaction import literals
from contextd.redaction.candidates import Candidate, Rule

_TOKEN_CHARACTERS = re.compile(r"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9]))*+")
# Also after `\n` in text inside JSON, after `%3D` in a URL, and in Telegram's addresses.
_STARTS_A_WORD = re.compile(r"(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=/bot)")
# An unbounded pattern must not start again inside text that it has read without a match.
_NOT_INSIDE = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"


def vendor_tokens(text: str) -> Iterator[Candidate]:
    for rule in _RULES:
        end = 0
        for token in rule.find(text):
            if token.start >= end and _is_token(text, token):
                end = _end_of_token(text, token.end)
                yield token._replace(end=end)


def _is_token(text: str, token: Candidate) -> bool:
    starts_a_word = _STARTS_A_WORD.match(text, token.start) is not None
    return starts_a_word and not literals.is_blotted_out(text[token.start : token.end])


def _end_of_token(text: str, known_end: int) -> int:
    """Return the end of the whole token: vendors lengthen tokens, and no rest may stay behind."""
    rest = _TOKEN_CHARACTERS.match(text, known_end)
    return rest.end() if rest else known_end


def _known(kind: str, hints: str, pattern: re.Pattern[str]) -> Rule:
    return Rule(kind, tuple(hints.split()), pattern)


def _own(kind: str, hints: str, pattern: str) -> Rule:
    return Rule(kind, tuple(hints.split()), re.compile(pattern, re.ASCII))


def _random(rule: Rule) -> Rule:
    """Return the rule for tokens that words joined by hyphens or dots can resemble."""
    return replace(rule, accepts=literals.looks_random)


# Only the patterns of detect-secrets are used: its scan needs global settings and yields a bare
# `glpat` for a GitLab token. The detectors left out raise false alarms (entropy, keywords, public
# addresses), take quadratic time (JWT, npm, OpenAI, Cloudant, IBM, SoftLayer) or know fewer formats
# than the patterns below (GitHub, Azure).
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
    _random(_known("discord-token", ".", DiscordBotTokenDetector.denylist[0])),
)
_OWN = (
    _own("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_]{36}"),
    _own("github-token", "github_pat_", r"github_pat_\w{22}"),
    _own("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{16}"),
    _own("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None|service)-[\w-]{16}"),
    _random(_own("openai-key", "sk-", r"(?<!-)sk-[\w-]{20,}+")),
    _own("stripe-key", "k_test_ k_live_", r"[rsp]k_(?:test|live)_[A-Za-z0-9]{16}"),
    _own("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}+"),
    _random(_own("slack-token", "xox xapp-", r"(?:xox[a-z]|xapp)-[\w-]{16,}+")),
    _own("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _own("google-oauth-token", "ya29.", r"ya29\.[\w-]{20}"),
    _own("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{24}"),
    _own("contextd-token", "ctx_", r"ctx_[\w-]{43}"),
    _own("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _own("pypi-token", "pypi-Ag", r"pypi-Ag[\w-]{50}"),
    _own("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30}"),
    _own("digitalocean-token", "do", r"do[opr]_v1_[0-9a-f]{64}"),
    _random(_own("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}+")),
    _own("azure-key", "AccountKey= AccessKey=", r"(?<=AccountKey=)[A-Za-z0-9+/]{40,}+={0,2}"),
    _own("discord-webhook", "api/webhooks", r"(?<=api/webhooks/)\d{15,20}/[\w-]{60}"),
    _own("docker-token", "dckr_", r"dckr_[po]at_[\w-]{20}"),
    _own("databricks-token", "dapi", r"dapi[0-9a-f]{32}"),
    _own("grafana-token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/]{32}"),
    _own("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{60}"),
    _own("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _own("figma-token", "figd_", r"figd_[\w-]{32}"),
    _own("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40}"),
    _own("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32}"),
    _own("supabase-token", "sbp_", r"sbp_(?:v0_)?[0-9a-f]{40}"),
    _own("supabase-key", "sb_secret_", r"sb_secret_[\w-]{20}"),
    _own("xai-key", "xai-", r"xai-[A-Za-z0-9]{60}"),
    _own("nvidia-key", "nvapi-", r"nvapi-[\w-]{60}"),
    _own("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _own("atlassian-token", "ATATT3", r"ATATT3[\w=-]{60,}+"),
    _own("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    _own("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _own("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{50}"),
    _own("jwt", "eyJ", rf"{_NOT_INSIDE}eyJ[\w-]{{8,}}+\.eyJ[\w-]{{4,}}+(?:\.[\w-]*+)?"),
    _own("jwt", "eyJ", rf"{_NOT_INSIDE}eyJ[\w-]{{8,}}+(?:\.[\w-]*+){{3}}\.[\w-]{{8,}}+"),
)
_RULES = _FROM_LIBRARY + _OWN
