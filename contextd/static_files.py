"""Serves static files from memory."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no annotations
    """Reads a file at once: as a stream, an ASGI server would read it in a thread and log that."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        streamed = WhiteNoiseMiddleware.serve(static_file, request)
        content = b"".join(streamed.streaming_content)
        streamed.close()
        return HttpResponse(content, status=streamed.status_code, headers=dict(streamed.items()))
