"""`manage.py check` refuses a model that nothing serves."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from contextd.search.embedding.local import MODEL


@register("search")
def check_embedding_model(**kwargs: Any) -> list[CheckMessage]:
    environment = settings.ENVIRONMENT
    if environment.embedding_base_url or environment.embedding_model == MODEL:
        return []
    return [
        Error(
            f"EMBEDDING_MODEL={environment.embedding_model} needs EMBEDDING_BASE_URL",
            hint=f"Without a server there is only {MODEL}.",
            id="search.E001",
        )
    ]
