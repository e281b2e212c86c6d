from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "gateway"

    def ready(self) -> None:
        from contextd import operations, prompts
        from gateway import operations as ours
        from gateway import services  # noqa: F401

        operations.provide(ours.tools)
        prompts.provide(ours.prompts)
