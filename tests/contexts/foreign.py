"""What belongs to a foreign project, and how to ask for it in every way there is."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from contextd import auth, pipeline
from contextd.callers import Caller
from contextd.models import Project, ProjectPath
from repositories import services as repositories
from tests.conftest import Call
from tests.contexts.conftest import MakeContext, MakeToken, grant, make_project
from tests.troubleshoot.conftest import DISK_FULL, KNOWN
from troubleshoot import curating
from troubleshoot.models import Pattern

FOREIGN = "/w/secret"
OURS = "/w/shop"
# A word that stands in every record of the foreign project, and in no question.
MARK = "xylophone"

# How to ask each operation for what is foreign; {checkpoint} is the id of a foreign checkpoint,
# and so on.
QUESTIONS: dict[str, dict[str, Any]] = {
    "checkpoint_delete": {"id": "{checkpoint}"},
    "checkpoint_get": {"id": "{checkpoint}"},
    "checkpoint_list": {"project_path": FOREIGN},
    "checkpoint_resume": {"project_path": FOREIGN},
    "checkpoint_save": {"summary": "mine", "project_path": f"{FOREIGN}/src"},
    "checkpoint_search": {"query": "tuning the bells", "project_path": FOREIGN},
    "checkpoint_update": {"id": "{checkpoint}", "summary": "mine"},
    "remediation_delete": {"id": "{remediation}"},
    "remediation_feedback": {"id": "{remediation}", "outcome": "worked"},
    "remediation_get": {"id": "{remediation}"},
    "remediation_save": {
        "error_message": "bells out of tune",
        "error_type": "BellError",
        "solution": "mine",
        "project_path": FOREIGN,
    },
    "remediation_search": {"error_message": "bells out of tune", "min_score": 0},
    "remediation_update": {"id": "{remediation}", "solution": "mine"},
    "index_cancel": {"job_id": "{run}"},
    "index_repository": {"path": "{folder}"},
    "index_status": {"job_id": "{job}"},
    "repository_list": {},
    "repository_remove": {"path": "{folder}"},
    "repository_search": {"query": "tuning the bells"},
    "skill_apply": {"id": "{skill}"},
    "skill_create": {
        "name": "mine",
        "description": "mine",
        "content": "mine",
        "version": "1.0.0",
        "author": "ann",
        "category": "bells",
        "project_path": FOREIGN,
    },
    "skill_delete": {"id": "{skill}"},
    "skill_get": {"id": "{skill}"},
    "skill_history": {"id": "{skill}"},
    "skill_list": {},
    "skill_restore": {"id": "{skill}", "version": "1.0.0"},
    "skill_search": {"query": "tuning the bells"},
    "skill_update": {"id": "{skill}", "content": "mine"},
    "troubleshoot_continue": {"session_id": "{session}", "check": "{check}", "outcome": "unclear"},
    "troubleshoot_feedback": {"session_id": "{session}", "worked": True, "fixed_by": "mine"},
}
# More ways to ask some of them.
ALSO: list[tuple[str, dict[str, Any]]] = [
    ("checkpoint_list", {}),
    ("checkpoint_resume", {"id": "{checkpoint}"}),
    ("checkpoint_search", {"query": "tuning the bells"}),
    (
        "checkpoint_save",
        {
            "summary": "mine",
            "project_path": "/w/elsewhere",
            "context": {"git_remote": "https://example.com/acme/secret"},
        },
    ),
]
SHARED = {
    "list_patterns",
    "pattern://{pattern_id}",
    "status",
    "threat_checklist",
    "threat_get",
    "threat_list",
    "threat_review",
    "threat://{threat_id}",
    "threats_for_files",
    "tmkb_query",
    "upstream://{namespace}/{+uri}",
}
# Figures show no word of what is foreign: their own test asks as a stranger. A diagnosis is kept
# whatever it shows: it has a test below.
ELSEWHERE = {"analytics_get", "troubleshoot"}
# A run that is not refused waits for a worker, which no test here has.
WAITING = {"index_repository"}
ADDRESSES = {
    "checkpoint://{checkpoint_id}": "checkpoint://{checkpoint}",
    "checkpoint://recent{?project_path,tag}": f"checkpoint://recent?project_path={FOREIGN}",
    "remediation://{remediation_id}": "remediation://{remediation}",
    "skill://{+path}": "skill://project.{project}/tune-the-bells/SKILL.md",
}
PROMPTS: dict[str, dict[str, str]] = {"resume": {"project_path": FOREIGN}}
# What each argument of a prompt or of a form of address is completed to: {checkpoint} or a mark.
COMPLETIONS = {
    ("ref/resource", "checkpoint://{checkpoint_id}", "checkpoint_id"): "{checkpoint}",
    ("ref/resource", "checkpoint://recent{?project_path,tag}", "project_path"): FOREIGN,
    ("ref/resource", "checkpoint://recent{?project_path,tag}", "tag"): MARK,
    ("ref/resource", "remediation://{remediation_id}", "remediation_id"): "{remediation}",
    ("ref/resource", "skill://{+path}", "path"): "project.{project}/tune-the-bells/SKILL.md",
    ("ref/prompt", "resume", "project_path"): FOREIGN,
    ("ref/prompt", "resume", "git_remote"): "example.com/acme/secret",
    ("ref/prompt", "resume", "tag"): MARK,
}

Fill = Callable[[Any], Any]


@pytest.fixture
def fill(call: Call, caller: Caller, ann: User, tmp_path: Path) -> Fill:
    """Save a record of each kind in the foreign project; puts their ids into a question."""
    make_project(OURS)
    ids = save_foreign(call)
    ids |= {"folder": str(tmp_path), **index_foreign(tmp_path, caller), **diagnose(caller, ann)}

    def fill(question: Any) -> Any:
        text = json.dumps(question)
        for kind, record_id in ids.items():
            text = text.replace(f"{{{kind}}}", record_id)
        return json.loads(text)

    return fill


def save_foreign(call: Call) -> dict[str, str]:
    """Return the ids of the saved records."""
    ids = {
        "checkpoint": call(
            "checkpoint_save",
            summary=f"{MARK}: tuning the bells",
            description=f"{MARK} {MARK}",
            project_path=FOREIGN,
            tags=[MARK],
            context={"git_remote": "https://example.com/acme/secret", "note": MARK},
        ).id,
        "remediation": call(
            "remediation_save",
            error_message=f"{MARK}: bells out of tune",
            error_type="BellError",
            solution=f"{MARK}: tune them",
            project_path=FOREIGN,
        ).id,
        "skill": call(
            "skill_create",
            name="Tune the bells",
            description=f"{MARK}: tuning the bells",
            content=MARK,
            version="1.0.0",
            author="ann",
            category="bells",
            project_path=FOREIGN,
        ).id,
        "project": str(Project.objects.get(paths__path=FOREIGN).pk),
    }
    call("skill_update", id=ids["skill"], tags=[MARK], note=MARK)
    return ids


def index_foreign(folder: Path, caller: Caller) -> dict[str, str]:
    """Index a folder of the foreign project; the ids of that job, and of a run that goes on."""
    (folder / "bells.py").write_text(f"def tuning_the_bells():\n    return '{MARK}'\n")
    ProjectPath.objects.create(project=Project.objects.get(paths__path=FOREIGN), path=str(folder))
    started = repositories.begin(
        dataclasses.replace(caller, is_from_this_machine=True),
        path=str(folder),
        include_patterns=["*.py", MARK],
        exclude_patterns=[],
        max_file_size=1000,
        queued=False,
    )
    repositories.index(started.job_id)
    repository = repositories.outcome(caller, started.job_id).repository
    run = repositories.submit(repository, caller.principal, queued=False)
    return {"job": str(started.job_id), "run": str(run.job_id)}


def diagnose(caller: Caller, user: User) -> dict[str, str]:
    """Return the ids of a diagnosis that the user got in the context `theirs`, and of its check."""
    curating.save(Pattern(key="disk-full", **KNOWN["disk-full"]))
    theirs = dataclasses.replace(
        caller,
        principal=auth.user_named(user.username).name,
        entry=dataclasses.replace(caller.entry, name="theirs"),
    )
    asked = {"error_message": f"{DISK_FULL} {MARK}", "mode": "guided"}
    found: Any = pipeline.call("troubleshoot", asked, theirs)
    return {"session": found.session_id, "check": found.next_check.id}


@pytest.fixture
def token(fill: Fill, ann: User, make_context: MakeContext, token_of: MakeToken) -> dict[str, str]:
    """Return the headers of a user who may execute in `ours` and `theirs`."""
    for name, path in (("ours", OURS), ("theirs", FOREIGN)):
        context = make_context(name, projects=(Project.objects.get(paths__path=path),))
        grant(context, ann)
    return token_of(ann)


def database() -> dict[str, list[Any]]:
    """Return all stored rows except those that every call writes."""
    noted = {"contexts.AuditEntry", "contexts.Token"}
    return {
        model._meta.label: sorted(model._base_manager.values_list(), key=repr)
        for model in apps.get_models()
        if model._meta.label not in noted
    }
