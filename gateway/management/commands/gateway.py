"""`manage.py gateway list|add|show|test|restart|refresh|approve|remove`."""

from argparse import REMAINDER, ArgumentParser, ArgumentTypeError
from typing import Any

from contextd.management.actions import ActionCommand
from gateway import offering, pinning, place, policy, services
from gateway.models import DEFAULT_STARTUP_TIMEOUT_MS, Isolation, Transport, Upstream


class Command(ActionCommand):
    help = "List, add, show and restart upstreams: other MCP servers behind this one."

    def add_actions(self) -> None:
        self.add_action("list", self.list_upstreams, help="show all upstreams and their states")
        add_fields(self.add_action("add", self.add, help="create an upstream"))
        for name, run, explanation in (
            ("show", self.show, "show what it offers, what is held back and why, and its events"),
            ("test", self.test, "report whether it answers, and what it offers"),
            ("restart", self.restart, "start it again, also after it was given up"),
            ("refresh", self.refresh, "list again what it offers"),
            ("remove", self.remove, "remove it with all that it offers"),
        ):
            self.add_action(name, run, help=explanation).add_argument("namespace")
        approve = self.add_action("approve", self.approve, help="let clients see what is held back")
        approve.add_argument("namespace")
        approve.add_argument(
            "name", help="name of a tool or prompt, or address of a resource there"
        )
        approve.add_argument("shown", help="digest of the definition, as `show` prints it")

    def list_upstreams(self, **options: Any) -> None:
        for upstream in Upstream.objects.all():
            state = services.describe(upstream) if upstream.is_enabled else "switched off"
            self.stdout.write(f"{upstream}\t{upstream.transport}\t{state}")
        if not Upstream.objects.exists():
            self.stdout.write("There are no upstreams; add one with: gateway add NAME ...")
        if problem := place.problem():
            self.stderr.write(f"{problem}: the states are the last known ones")

    def add(self, namespace: str, **options: Any) -> None:
        upstream = Upstream(
            namespace=namespace,
            transport=transport_of(options),
            command=options["command"],
            working_directory=options["workdir"],
            url=options["url"],
            container=options["container"],
            image=options["image"],
            isolation=options["isolation"],
            gives_plain_json=options["plain_json"],
            allowed_tools=options["allow"],
            denied_tools=options["deny"],
            caller_headers=options["forward_header"],
            startup_timeout_ms=options["startup_timeout"],
        )
        services.add(upstream, dict(options["set"]))
        self.stdout.write(f"added: {namespace}")
        if problem := policy.problem_of(upstream):
            self.stderr.write(f"{namespace} cannot start: {problem}")

    def show(self, namespace: str, **options: Any) -> None:
        upstream = services.get_upstream(namespace)
        self.stdout.write(f"{upstream}\t{services.describe(upstream)}")
        for one in upstream.features.select_related("upstream"):
            self.stdout.write(f"  {one.kind}\t{one}\t{offering.status_text(one)}")
            if one.is_quarantined:
                self.stdout.write(pinning.difference(one.approved, one.definition))
                shown = f"{namespace} '{one.name}' {offering.shown_digest(one)}"
                self.stdout.write(f"  to approve it: manage.py gateway approve {shown}")
        for event in upstream.events.all()[:20]:
            self.stdout.write(f"  {event.at:%Y-%m-%d %H:%M:%S}\t{event}")

    def test(self, namespace: str, **options: Any) -> None:
        self._control("refresh", namespace)
        offered = [tool for tool in offering.offered() if tool.namespace == namespace]
        self.stdout.write(f"{namespace} answers and offers {len(offered)} tools:")
        for offer in offered:
            self.stdout.write(f"  {offer.canonical}\t{offer.wire_name}")

    def restart(self, namespace: str, **options: Any) -> None:
        self.stdout.write(f"{namespace} is {self._control('restart', namespace)}")

    def refresh(self, namespace: str, **options: Any) -> None:
        self.stdout.write(f"{namespace} is {self._control('refresh', namespace)}")

    def remove(self, namespace: str, **options: Any) -> None:
        services.remove(services.get_upstream(namespace))
        self.stdout.write(f"removed: {namespace}")

    def approve(self, namespace: str, name: str, shown: str, **options: Any) -> None:
        for approved in offering.approve_named(namespace, name, shown):
            self.stdout.write(f"approved: {approved}")

    def _control(self, action: str, namespace: str) -> str:
        from gateway import client  # the SDK takes seconds to import

        return client.control(action, namespace)


def add_fields(parser: ArgumentParser) -> None:
    parser.add_argument("namespace")
    parser.add_argument("--url", default="", help="URL of a Streamable HTTP upstream")
    parser.add_argument("--container", default="", help="run the command in this container")
    parser.add_argument("--image", default="", help="image to create a missing container from")
    parser.add_argument("--workdir", default="", help="working directory of the command")
    parser.add_argument("--isolation", choices=Isolation.values, default="")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=pair,
        metavar="NAME=VALUE",
        help="environment variable, or header with --url; stored encrypted",
    )
    parser.add_argument(
        "--forward-header",
        action="append",
        default=[],
        metavar="THEIRS=OURS",
        help="with --url: upstream header taken from a caller's header; no other is passed on",
    )
    parser.add_argument("--allow", action="append", default=[], help="glob of tools to offer")
    parser.add_argument("--deny", action="append", default=[], help="glob of tools never to offer")
    parser.add_argument(
        "--startup-timeout",
        type=milliseconds,
        default=DEFAULT_STARTUP_TIMEOUT_MS,
        metavar="SECONDS",
        help="time limit of a start, including a download by npx or uvx; default 15",
    )
    parser.add_argument("--plain-json", action="store_true", help="structured results stay JSON")
    parser.add_argument(
        "--command",
        nargs=REMAINDER,
        default=[],
        help="the program and its arguments; must come last",
    )


def pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise ArgumentTypeError(f"{name!r} is not NAME=VALUE")
    return name, value


def milliseconds(seconds: str) -> int:
    try:
        return round(float(seconds) * 1000)
    except (ValueError, OverflowError):
        raise ArgumentTypeError(f"{seconds!r} is not a number of seconds") from None


def transport_of(options: dict[str, Any]) -> Transport:
    if options["url"]:
        return Transport.HTTP
    return Transport.DOCKER if options["container"] else Transport.STDIO
