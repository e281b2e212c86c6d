from django.apps import AppConfig


class SkillsConfig(AppConfig):
    name = "skills"

    def ready(self) -> None:
        from skills import merging, services  # noqa: F401  # merging listens

        services.register_for_search()
