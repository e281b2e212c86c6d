"""What becomes of skills when two projects turn out to be one."""

from contextd import auth, projects
from contextd.models import Project
from skills import keeping, services
from skills.models import Skill
from skills.services import Plan
from skills.wording import Wording

NAME_KEPT = 180


@projects.before_merge
def rename_those_of_the_same_name(kept: Project, absorbed: Project) -> None:
    """Both stay, since either may be what its team follows; the absorbed one is told by its id."""
    taken = Skill.objects.filter(project=kept).values("slug")
    caller = auth.local_caller("task")
    for skill in Skill.objects.filter(project=absorbed, slug__in=taken).select_for_update():
        name = f"{skill.name[:NAME_KEPT]} {skill.pk}"
        plan = Plan(
            wording=Wording.of(skill).changed({"name": name}),
            package=keeping.package_of(skill, skill.version),
            asked=None,
            note=f"renamed, since {kept} has one of that name",
            is_bulk=True,
        )
        services.keep(caller, skill, plan, plan.prepared())
