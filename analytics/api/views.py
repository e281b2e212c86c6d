"""Read-only endpoints of the dashboard's data."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, get_args

from django import forms
from django.core.exceptions import FieldError, ValidationError
from django.db.models import QuerySet
from django.urls import reverse
from django_filters import rest_framework as filters
from django_filters.fields import IsoDateTimeField
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import charts, services
from analytics.api import serializers
from analytics.api.access import caller_of
from analytics.api.queries import Endpoint, Ordering
from analytics.models import Event, WorkSession
from analytics.tallying import Calls
from contextd import search
from contextd.errors import Invalid, NotFound
from contexts.models import AuditEntry

PAGE_ARGUMENTS = ("ordering", "limit", "cursor")


def asked_calls(request: Request, query: dict[str, Any]) -> Calls:
    """Return the calls of the period, limited to a project and an operation if given."""
    caller = caller_of(request)
    period = services.period_of(caller, "monthly", query.get("start_date"), query.get("end_date"))
    calls = services.calls_seen_by(caller, period)
    named = {name: query[name] for name in ("project", "operation") if name in query}
    return calls.filter(**named)


def asked(request: Request, form: type[serializers.PeriodQuery]) -> dict[str, Any]:
    query = form(data=request.query_params)
    query.is_valid(raise_exception=True)
    return dict(query.validated_data)


class Index(Endpoint):
    """The available endpoints."""

    @extend_schema(responses={200: {"type": "object", "additionalProperties": {"type": "string"}}})
    def get(self, request: Request) -> Response:
        names = ["series", "latencies", "calls", "sessions", "audit", "records", "openapi"]
        links = {name: reverse(f"dashboard-{name}") for name in names}
        for what in get_args(charts.What):
            links[f"top {what}"] = reverse("dashboard-top", args=[what])
        return Response({name: request.build_absolute_uri(link) for name, link in links.items()})


class Series(Endpoint):
    """Calls by day and operation."""

    def arguments(self) -> Iterable[str]:
        return serializers.PeriodQuery().fields

    @extend_schema(
        parameters=[serializers.PeriodQuery],
        responses={200: serializers.PointSerializer(many=True)},
    )
    def get(self, request: Request) -> Response:
        points = charts.series(asked_calls(request, asked(request, serializers.PeriodQuery)))
        rows = [
            {
                "day": point.day,
                "operation": point.operation,
                "mean_milliseconds": point.sums.mean_milliseconds,
                **point.sums._asdict(),
            }
            for point in points
        ]
        return Response(serializers.PointSerializer(rows, many=True).data)


class Latencies(Endpoint):
    """Latency percentiles of each operation, those called most first."""

    def arguments(self) -> Iterable[str]:
        return serializers.PeriodQuery().fields

    @extend_schema(
        parameters=[serializers.PeriodQuery],
        responses={200: serializers.LatencySerializer(many=True)},
    )
    def get(self, request: Request) -> Response:
        rows = charts.latencies(asked_calls(request, asked(request, serializers.PeriodQuery)))
        return Response(serializers.LatencySerializer(rows, many=True).data)


class Top(Endpoint):
    """Top lists, highest first."""

    def arguments(self) -> Iterable[str]:
        return serializers.TopQuery().fields

    @extend_schema(
        parameters=[
            serializers.TopQuery,
            OpenApiParameter("what", str, OpenApiParameter.PATH, enum=[*get_args(charts.What)]),
        ],
        responses={200: serializers.PlaceSerializer(many=True)},
    )
    def get(self, request: Request, what: charts.What) -> Response:
        query = asked(request, serializers.TopQuery)
        if what not in get_args(charts.What):
            lists = ", ".join(get_args(charts.What))
            raise NotFound(f"there is no list of {what!r}; there are: {lists}")
        calls = asked_calls(request, query)
        places = charts.top(caller_of(request), calls, what, query["limit"])
        return Response(serializers.PlaceSerializer(places, many=True).data)


class VisibleList(Endpoint, ListAPIView[Any]):
    """Lists what the caller may see, filtered and ordered by the query."""

    filter_backends = [filters.DjangoFilterBackend, Ordering]
    filterset_class: type[filters.FilterSet]

    def arguments(self) -> Iterable[str]:
        return [*self.filterset_class.base_filters, *PAGE_ARGUMENTS]

    def get_queryset(self) -> QuerySet[Any]:
        every: Any = super().get_queryset()
        visible: QuerySet[Any] = every.visible_to(caller_of(self.request))
        return visible


class OfCallers(VisibleList):
    """Lists the caller's own calls or, with the permission `manage`, those of its context."""

    def get_queryset(self) -> QuerySet[Any]:
        visible: Any = super().get_queryset()
        own: QuerySet[Any] = visible.of_caller(caller_of(self.request))
        return own


class IdFilter(filters.NumberFilter):
    """Accepts only whole numbers that can be the id of a record."""

    field_class: Any = forms.IntegerField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, min_value=1, max_value=2**63 - 1, **kwargs)


class TruthField(forms.CharField):
    def clean(self, value: Any) -> bool | None:
        """Refuse any text other than true or false."""
        text = super().clean(value).lower()
        if text not in ("", "true", "false"):
            raise ValidationError("Enter true or false.", code="invalid")
        return text == "true" if text else None


class TruthFilter(filters.BooleanFilter):
    field_class: Any = TruthField


class MomentField(IsoDateTimeField):
    def clean(self, value: Any) -> datetime | None:
        """Refuse moments that are outside of the calendar in UTC, as PostgreSQL stores them."""
        moment: datetime | None = super().clean(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None


class MomentFilter(filters.IsoDateTimeFilter):
    field_class = MomentField


class CallFilter(filters.FilterSet):
    since = MomentFilter("at", "gte")
    until = MomentFilter("at", "lt")
    project = IdFilter("project_id")
    session = IdFilter("session_id")

    class Meta:
        model = Event
        fields = ["operation", "outcome", "door", "context", "client", "principal", "domain"]


class CallList(OfCallers):
    """Single calls, as long as they are kept: your own or, with `manage`, all in the context."""

    serializer_class = serializers.CallSerializer
    filterset_class = CallFilter
    ordering_fields = ["at", "milliseconds"]
    ordering = ["-at"]
    queryset = Event.objects.all()


class SessionFilter(filters.FilterSet):
    since = MomentFilter("began_at", "gte")
    until = MomentFilter("began_at", "lt")

    class Meta:
        model = WorkSession
        fields = ["door", "context", "client", "principal"]


class Sessions(OfCallers):
    """Calls over one connection without a pause of 30 minutes; visible as single calls are."""

    serializer_class = serializers.SessionSerializer
    filterset_class = SessionFilter
    ordering_fields = ["began_at", "ended_at", "calls"]
    ordering = ["-began_at"]
    queryset = WorkSession.objects.all()


class AuditFilter(filters.FilterSet):
    since = MomentFilter("at", "gte")
    until = MomentFilter("at", "lt")
    was_allowed = TruthFilter(widget=forms.TextInput)

    class Meta:
        model = AuditEntry
        fields = ["operation", "outcome", "door", "context", "principal"]


class Audit(VisibleList):
    """The audit log: your own calls or, with the permission `manage`, all in the context."""

    serializer_class = serializers.AuditSerializer
    filterset_class = AuditFilter
    ordering_fields = ["at", "milliseconds"]
    ordering = ["-at"]
    queryset = AuditEntry.objects.all()


class Domains(Endpoint):
    """The kinds of records."""

    @extend_schema(
        operation_id="domains_list", responses={200: serializers.DomainSerializer(many=True)}
    )
    def get(self, request: Request) -> Response:
        rows = [
            {"name": one.name, "title": one.title, "url": self._address(request, one.name)}
            for one in search.domains()
        ]
        return Response(serializers.DomainSerializer(rows, many=True).data)

    def _address(self, request: Request, name: str) -> str:
        return request.build_absolute_uri(reverse("dashboard-records-of", args=[name]))


class RecordFilter(filters.FilterSet):
    """Names each filter after its lookup, since the kind of records varies."""

    project = IdFilter("project", method="narrow")
    since = MomentFilter("updated_at__gte", method="narrow", label="Changed since")
    until = MomentFilter("updated_at__lt", method="narrow", label="Changed before")

    def narrow(self, records: QuerySet[Any], lookup: str, value: Any) -> QuerySet[Any]:
        """Filter by the lookup. Raises Invalid if this kind of record has no such field."""
        try:
            return records.filter(**{lookup: value})
        except FieldError:
            kind, field = records.model._meta.verbose_name_plural, lookup.partition("__")[0]
            name = next(name for name, one in self.filters.items() if one.field_name == lookup)
            message = f"{kind} have no {field}, so they cannot be filtered by {name}"
            raise Invalid(message, field=name) from None


class Records(VisibleList):
    """Records of one kind that the caller may see."""

    serializer_class = serializers.RecordSerializer
    filterset_class = RecordFilter
    ordering_fields = ["pk"]
    ordering = ["-pk"]

    def get_queryset(self) -> QuerySet[Any]:
        domain = self.domain()
        if domain is None:
            raise NotFound("there is no such kind of record; /api/dashboard/records/ lists them")
        return domain.visible_to(caller_of(self.request))

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "domain": self.domain()}

    def domain(self) -> search.Domain | None:
        return search.domain_named(self.kwargs.get("domain", ""))
