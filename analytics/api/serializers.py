"""Serializers of the dashboard's API."""

from typing import Any

from rest_framework import serializers

from analytics.models import Event, WorkSession
from contextd.callers import Caller
from contexts.models import AuditEntry


class CallSerializer(serializers.ModelSerializer[Event]):
    class Meta:
        model = Event
        fields = [
            *("id", "at", "operation", "outcome", "milliseconds", "door", "context", "project"),
            *("session", "principal", "client", "domain", "query", "found", "searched_tokens"),
            *("returned_tokens", "was_useful", "used", "helped"),
        ]


class SessionSerializer(serializers.ModelSerializer[WorkSession]):
    class Meta:
        model = WorkSession
        fields = [
            *("id", "began_at", "ended_at", "calls", "principal", "client", "context", "door"),
            "projects",
        ]

    def to_representation(self, session: WorkSession) -> dict[str, Any]:
        """Omit projects that the caller does not see."""
        caller: Caller = self.context["request"].auth
        seen = [pk for pk in session.projects if caller.sees(pk)]
        return {**super().to_representation(session), "projects": seen}


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """Omits the connection, which may be the id of a session."""

    class Meta:
        model = AuditEntry
        fields = [
            *("id", "at", "principal", "operation", "context", "door", "client", "outcome"),
            *("was_allowed", "milliseconds"),
        ]


class RecordSerializer(serializers.Serializer[Any]):
    """Serializes any record; its domain is in the context."""

    domain = serializers.CharField()
    id = serializers.IntegerField()
    title = serializers.CharField()
    url = serializers.CharField()

    def to_representation(self, record: Any) -> dict[str, Any]:
        domain = self.context["domain"]
        return {
            "domain": domain.name,
            "id": record.pk,
            "title": str(record),
            "url": domain.url_of(record.pk),
        }


class PeriodQuery(serializers.Serializer[Any]):
    """Parameters of time series and top lists."""

    start_date = serializers.DateField(
        required=False, help_text="First day, by default 30 days ago"
    )
    end_date = serializers.DateField(required=False, help_text="Last day, by default today")
    project = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        help_text="Only of the project with this id",
    )
    operation = serializers.CharField(required=False, max_length=100)


class TopQuery(PeriodQuery):
    limit = serializers.IntegerField(default=10, min_value=1, max_value=100)


class PointSerializer(serializers.Serializer[Any]):
    day = serializers.DateField()
    operation = serializers.CharField()
    calls = serializers.IntegerField()
    failures = serializers.IntegerField()
    mean_milliseconds = serializers.FloatField(allow_null=True)
    searches = serializers.IntegerField()
    answered = serializers.IntegerField()
    useful = serializers.IntegerField()


class LatencySerializer(serializers.Serializer[Any]):
    operation = serializers.CharField()
    calls = serializers.IntegerField()
    p50 = serializers.FloatField(help_text="Milliseconds")
    p95 = serializers.FloatField(help_text="Milliseconds")
    p99 = serializers.FloatField(help_text="Milliseconds")


class PlaceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    count = serializers.IntegerField()
    failures = serializers.IntegerField()


class DomainSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()
