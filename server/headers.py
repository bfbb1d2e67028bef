"""What headers say about answers: which tables they are of, and that pages of other sites may read them."""

from __future__ import annotations

from flask import Flask, Response, request

from server.service import service_of

_READABLE = ("/v1/", "/openapi/", "/health")


def register_headers(app: Flask) -> None:
    """Add these headers to the answers of an application, and answer 304 to who has what has not changed."""

    @app.after_request
    def add(response: Response) -> Response:
        if request.path.startswith(_READABLE):
            _allow_others(response)
        cacheable = request.method in ("GET", "HEAD") and response.status_code == 200
        if cacheable and request.path.startswith("/v1/") and "Cache-Control" not in response.headers:
            # To be kept, but asked about every time: what was right of other tables must not outlive them.
            response.headers["Cache-Control"] = "no-cache"
            response.set_etag(service_of(app).etag)
            response.make_conditional(request)
        return response


def _allow_others(response: Response) -> None:
    """Whoever may read this in a browser may read it from a script of any page: there are no secrets here."""
    headers = response.headers
    headers["Access-Control-Allow-Origin"] = "*"
    headers["Access-Control-Expose-Headers"] = "ETag, Retry-After"
    if request.method == "OPTIONS":
        headers["Access-Control-Allow-Methods"] = headers.get("Allow", "")
        headers["Access-Control-Allow-Headers"] = "Content-Type, If-None-Match"
        headers["Access-Control-Max-Age"] = "86400"
