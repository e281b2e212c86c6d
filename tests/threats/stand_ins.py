"""Stand-ins for databases and frameworks that the code of threats is run with.

They do what that code relies on: query sets in the form of Django's and SQLAlchemy's, and the
names that Flask and FastAPI offer. Django itself is real.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import isfunction
from types import SimpleNamespace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.test import RequestFactory

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "in": lambda value, wanted: value in list(wanted),
    "iexact": lambda value, wanted: value.lower() == wanted.lower(),
    "icontains": lambda value, wanted: wanted.lower() in value.lower(),
    "istartswith": lambda value, wanted: value.lower().startswith(wanted.lower()),
}


class Row:
    """A record; `saved` counts how often it was saved."""

    saved = 0
    is_authenticated = True
    delete: Callable[[], None]

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def save(self, update_fields: Iterable[str] = ()) -> None:
        self.saved += 1

    def has_perm(self, name: str) -> bool:
        return name in getattr(self, "permissions", ())

    def has_perms(self, names: Iterable[str]) -> bool:
        return all(map(self.has_perm, names))


class Column:
    """A column of a table, whose comparisons are conditions."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, wanted: object) -> Any:
        return lambda row: getattr(row, self.name) == wanted

    def __call__(self, row: Row) -> bool:
        return bool(getattr(row, self.name))

    __hash__ = object.__hash__


class Model(type):
    """A class of records; unknown attributes are its columns."""

    def __getattr__(cls, name: str) -> Column:
        if name.startswith("_") or name in {"get_queryset", "as_view"}:
            raise AttributeError(name)
        return Column(name)

    def __call__(cls, **fields: Any) -> Row:
        return Row(**fields)


class Rows:
    """A query set; those made from it share its records."""

    def __init__(
        self, rows: Iterable[Row], model: Any = None, kept: list[Row] | None = None
    ) -> None:
        self.rows = list(rows)
        self.model = model
        self.kept = self.rows if kept is None else kept
        self.order: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def _of(self, rows: Iterable[Row]) -> "Rows":
        return Rows(rows, self.model, self.kept)

    def filter(self, *conditions: Callable[[Row], bool], **lookups: Any) -> "Rows":
        return self._of(
            row
            for row in self.rows
            if all(condition(row) for condition in conditions)
            and all(_holds(row, name, wanted) for name, wanted in lookups.items())
        )

    filter_by = where = filter

    def exclude(self, **lookups: Any) -> "Rows":
        left_out = self.filter(**lookups).rows
        return self._of(row for row in self.rows if row not in left_out)

    def all(self) -> "Rows":
        return self._of(self.rows)

    def select_for_update(self) -> "Rows":
        return self.all()

    with_for_update = usable = select_for_update

    def order_by(self, *names: Any) -> "Rows":
        distances = [name for name in names if isfunction(name)]
        ordered = self._of(sorted(self.rows, key=lambda row: [of(row) for of in distances]))
        ordered.order = names
        return ordered

    def visible_to(self, user: Any) -> "Rows":
        return self.filter(owner=user)

    def get(self, **lookups: Any) -> Row:
        found = self.filter(**lookups).rows
        if len(found) != 1:
            raise self.model.DoesNotExist(lookups)
        return found[0]

    def first(self) -> Row | None:
        return self.rows[0] if self.rows else None

    async def afirst(self) -> Row | None:
        return self.first()

    async def aget(self, **lookups: Any) -> Row:
        return self.get(**lookups)

    def first_or_404(self) -> Row:
        if not self.rows:
            raise Halted(404)
        return self.rows[0]

    def exists(self) -> bool:
        return bool(self.rows)

    def count(self) -> int:
        return len(self.rows)

    def update(self, **values: Any) -> int:
        for row in self.rows:
            row.__dict__.update(values)
        return len(self.rows)

    def delete(self) -> None:
        for row in self.rows.copy():
            self.kept.remove(row)

    def create(self, **fields: Any) -> Row:
        row = Row(**{"pk": len(self.kept) + 1, **fields})
        self.kept.append(row)
        return row

    def get_or_create(
        self, defaults: Mapping[str, Any] | None = None, **lookups: Any
    ) -> tuple[Row, bool]:
        found = self.filter(**lookups).first()
        return (found, False) if found else (self.create(**lookups, **(defaults or {})), True)


def table(name: str, *rows: Row) -> Any:
    """Return a model with these records."""
    missing = type("DoesNotExist", (LookupError,), {})
    model: Any = Model(name, (), {"DoesNotExist": missing})
    model._meta = SimpleNamespace(object_name=name)
    model.objects = model.all_objects = model._default_manager = model.query = Rows(rows, model)
    for row in rows:
        row.delete = Rows([row], model, model.objects.kept).delete
    return model


def _holds(row: Row, name: str, wanted: Any) -> bool:
    *path, last = name.split("__")
    compare = COMPARISONS.get(last)
    if compare is None:
        path.append(last)
    return any((compare or operator.eq)(value, wanted) for value in _values(row, path))


def _values(row: Any, path: list[str]) -> Iterator[Any]:
    if isinstance(row, list):
        for one in row:
            yield from _values(one, path)
    elif path:
        yield from _values(getattr(row, path[0]), path[1:])
    else:
        yield row


def select(model: Any) -> Rows:
    """Return a query in the form of SQLAlchemy's."""
    return model.objects.all()  # type: ignore[no-any-return]


class Database:
    """A session in the form of SQLAlchemy's and Flask-SQLAlchemy's."""

    committed = 0

    @property
    def session(self) -> "Database":
        return self

    def get(self, model: Any, key: Any) -> Row | None:
        return model.objects.filter(id=key).first()  # type: ignore[no-any-return]

    def get_or_404(self, model: Any, key: Any) -> Row:
        return model.objects.filter(id=key).first_or_404()  # type: ignore[no-any-return]

    def scalar(self, query: Any) -> Any:
        return query.first() if isinstance(query, Rows) else query

    def scalars(self, query: Rows) -> Rows:
        return query

    def one_or_404(self, query: Rows) -> Row:
        return query.first_or_404()

    def commit(self) -> None:
        self.committed += 1


class Halted(Exception):
    """An answer with this status that ends a request."""

    def __init__(self, status_code: int, detail: object = None, **options: Any) -> None:
        super().__init__(status_code, detail)
        self.code = self.status_code = status_code


HTTPException = Halted
"""The one of FastAPI."""


def abort(code: int, detail: object = None) -> None:
    raise Halted(code, detail)


def status_of(call: Callable[[], Any]) -> int:
    """Return the status of the answer: 200 for one that has none."""
    try:
        answer = call()
    except Halted as halted:
        return halted.code
    if isinstance(answer, tuple):
        return int(answer[1])
    return int(getattr(answer, "status_code", 200))


class Application:
    """An application, router or blueprint of Flask or FastAPI, which registers its functions."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.config: dict[str, Any] = {}
        self.options = options
        self.hooks: list[Callable[[], Any]] = []
        self.middleware: list[dict[str, Any]] = []
        self.routes: dict[str, Any] = {}
        self.routers: list[Application] = []

    def route(self, path: Any, **options: Any) -> Callable[[Any], Any]:
        def register(function: Any) -> Any:
            self.routes[str(path)] = function
            return function

        return register

    get = post = patch = put = delete = websocket = errorhandler = exception_handler = route

    def before_request(self, function: Callable[[], Any]) -> Callable[[], Any]:
        self.hooks.append(function)
        return function

    def add_middleware(self, kind: Any, **options: Any) -> None:
        self.middleware.append(options)

    def include_router(self, router: "Application") -> None:
        self.routers.append(router)


class Session(dict[str, Any]):
    """The session of a browser."""

    permanent = False

    def cycle_key(self) -> None:
        self["cycled"] = True

    def set_expiry(self, seconds: int) -> None:
        self["expiry"] = seconds


class Queue:
    """A queue that keeps what is put into it, in the form of RQ's and Celery's."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Any, ...]] = []

    def enqueue(self, *job: Any) -> None:
        self.jobs.append(job)

    delay = send = enqueue


class transaction:
    """The one of Django, which needs no database here."""

    @staticmethod
    def atomic() -> AbstractContextManager[None]:
        return nullcontext()

    @staticmethod
    def on_commit(function: Callable[[], Any]) -> None:
        function()


def unchanged(*args: Any, **options: Any) -> Any:
    """Return the first argument: a decorator that does nothing here."""
    return args[0]


def decorator(*args: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that does nothing here."""
    return unchanged


def depends(dependency: Any = None) -> Any:
    """Return the dependency, as the default value that FastAPI replaces."""
    return dependency


def redirect(to: str) -> HttpResponse:
    return HttpResponse(status=302, headers={"Location": f"/{to}"})


def render(request: Any, template: str, context: Any = None, status: int = 200) -> HttpResponse:
    return HttpResponse(template, status=status)


def browse(path: str = "/", user: Any = None, **options: Any) -> Any:
    """Return a GET request of Django, by a user or nobody."""
    return _by(RequestFactory().get(path, **options), user)


def submit(fields: Any = None, user: Any = None, **options: Any) -> Any:
    """Return a POST request of Django, by a user or nobody."""
    return _by(RequestFactory().post("/", fields or {}, **options), user)


def _by(request: Any, user: Any) -> Any:
    request.user = user or Row(pk=None, is_authenticated=False)
    request.session = Session()
    request._dont_enforce_csrf_checks = True
    return request


def missing(call: Callable[[], Any]) -> bool:
    """Return whether Django's answer is that there is nothing."""
    try:
        call()
    except Http404:
        return True
    return False


def refused(call: Callable[[], Any]) -> bool:
    """Return whether Django refuses, or sends the person to the login page."""
    try:
        answer = call()
    except PermissionDenied:
        return True
    return answer.status_code in {302, 401, 403, 405}
