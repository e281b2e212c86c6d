"""The lists of the admin ask no more queries for more rows, and draw each row quickly."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from unfold.templatetags import unfold_list

from checkpoints.models import Checkpoint
from contextd.models import DetachedCall, Project, Session
from contexts import tokens
from contexts.models import AuditEntry, Context, Variable
from gateway.models import Upstream, UpstreamFeature, UpstreamSetting
from remediations.models import Remediation
from repositories.models import Repository, SourceFile
from skills.models import Skill, SkillUse
from threats.models import Threat
from troubleshoot.models import Diagnosis, Pattern

pytestmark = pytest.mark.django_db

MORE = 4


def test_more_rows_ask_no_more_queries(admin_client: Client, admin_user: User) -> None:
    admin.autodiscover()
    labels = [model._meta.label for model in admin.site._registry]
    create_one_of_each(admin_user, 0)
    queries_of_each(admin_client, labels)  # fills caches

    few = queries_of_each(admin_client, labels)
    for number in range(1, 1 + MORE):
        create_one_of_each(admin_user, number)
    many = queries_of_each(admin_client, labels)

    assert {label: many[label] for label in labels if len(many[label]) > len(few[label])} == {}


def test_headers_are_computed_once_for_all_rows(
    admin_client: Client, admin_user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled: list[str] = []
    label = unfold_list.label_for_field

    def note(name: str, *args: Any, **options: Any) -> Any:
        labelled.append(name)
        return label(name, *args, **options)

    monkeypatch.setattr(unfold_list, "label_for_field", note)
    for number in range(MORE):
        create_one_of_each(admin_user, number)

    page: Any = admin_client.get("/admin/checkpoints/checkpoint/")

    assert len(page.context["cl"].result_list) == MORE
    assert sorted(labelled) == sorted(page.context["cl"].list_display)


def queries_of_each(client: Client, labels: list[str]) -> dict[str, list[str]]:
    return {label: queries_of(client, label) for label in labels}


def queries_of(client: Client, label: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        page: Any = client.get(f"/admin/{label.lower().replace('.', '/')}/")
    assert page.status_code == 200
    assert page.context["cl"].result_list, label
    return [query["sql"] for query in captured.captured_queries]


def create_one_of_each(admin_user: User, number: int) -> None:
    """Create a record of every kind, each with related ones."""
    name, now = f"name-{number}", timezone.now()
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.create(name=name))
    project = Project.objects.create(name=name)
    project.paths.create(path=f"/w/{name}")
    context = Context.objects.create(name=name)
    context.projects.add(project)
    context.grants.create(user=user)
    Variable.objects.create(context=context, name="API")
    tokens.create(user, name="laptop", contexts=[context], default_context=context)
    by = {"principal": f"user:{user.pk}", "context": name}
    AuditEntry.objects.create(**by, user=user, was_allowed=True, milliseconds=1)
    DetachedCall.objects.create(
        **by, id=name, operation="status", leased_until=now, expires_at=now, arguments={}
    )
    Session.objects.create(**by, id=name, user=user, client_name="c", client_capabilities={})
    create_knowledge(project, number)
    create_code_and_servers(project, number)
    Diagnosis.objects.create(**by, error_message=name, mode="quick")
    LogEntry.objects.log_actions(admin_user.pk, [project], CHANGE, "changed")


def create_knowledge(project: Project, number: int) -> None:
    name = f"name-{number}"
    of_project = {"project": project, "token_count": 1}
    Checkpoint.objects.create(**of_project, summary=name)
    Remediation.objects.create(project=project, error_message=name, solution=name)
    skill = Skill.objects.create(**of_project, name=name, slug=name, version="1.0.0")
    SkillUse.objects.create(skill=skill, principal=name, usage_count=1)
    Threat.objects.create(key=f"T-{number}", name=name, content={})
    Pattern.objects.create(key=name, title=name)


def create_code_and_servers(project: Project, number: int) -> None:
    name = f"name-{number}"
    repository = Repository.objects.create(project=project, path=f"/w/{name}", max_file_size=9)
    SourceFile.objects.create(
        repository=repository, path="a.py", language="python", size=1, modified_at=timezone.now()
    )
    upstream = Upstream.objects.create(namespace=name, transport="stdio", command=["x"])
    UpstreamSetting.objects.create(upstream=upstream, name="TOKEN")
    UpstreamFeature.objects.create(
        upstream=upstream, name="search", wire_name=f"{name}__search", definition={"name": "search"}
    )
