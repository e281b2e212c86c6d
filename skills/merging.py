"""Handle skills when two projects are merged, or a project is deleted."""

from typing import Any

from django.db.models import Q
from django.db.models.signals import pre_delete
from django.dispatch import receiver

from contextd import auth, projects
from contextd.models import Project
from skills import keeping, services, serving
from skills.models import Skill
from skills.services import Plan
from skills.wording import Wording

NAME_KEPT = 180


@projects.before_merge
def rename_skills_with_taken_names(kept: Project, absorbed: Project) -> None:
    """Keep both skills, since each may be in use; append its id to the absorbed one's name."""
    announce_all(absorbed)
    there = Skill.objects.filter(project=kept)
    taken = Q(slug__in=there.values("slug")) | Q(name__in=there.values("name"))
    caller = auth.local_caller("task")
    for skill in Skill.objects.filter(taken, project=absorbed).select_for_update():
        name = f"{skill.name[:NAME_KEPT]} {skill.pk}"
        plan = Plan(
            wording=Wording.of(skill).changed({"name": name}),
            package=keeping.package_of(skill, skill.version),
            note=f"renamed, since {kept} has one of that name",
            is_bulk=True,
        )
        services.keep(caller, skill, plan, plan.prepared())


@receiver(pre_delete, sender=Project)
def announce_deletion(instance: Project, **options: Any) -> None:
    announce_all(instance)


def announce_all(project: Project) -> None:
    """Announce that addresses and prompt names of the skills change or disappear."""
    for skill in (
        Skill.objects.filter(project=project).published().only("slug", "project_id", "version")
    ):
        serving.announce(skill)
