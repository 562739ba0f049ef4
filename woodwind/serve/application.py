"""The application: routes, limits, and how every request is answered."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from woodwind.base.errors import WoodwindError
from woodwind.base.formatting import one_line
from woodwind.data.tables.json_values import short
from woodwind.serve import inference_protocol as v2
from woodwind.serve import plain_json as plain
from woodwind.serve.batching import Batcher
from woodwind.serve.bodies import RequestError, answer, json_body
from woodwind.serve.prometheus import TYPE, ServerMetrics
from woodwind.serve.served_models import ModelShelf, Predicted, ServedModel
from woodwind.serve.web_page import page, policy
from woodwind.tree.shap_result import Explanation

Endpoint = Callable[[Request], Awaitable[Response]]

# No page of others may show an answer in a frame, guess another type for it, or find it in a cache.
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for."""

    max_bytes: int = 8 << 20  # of a body
    max_rows: int = 10_000
    max_explained: int = 100  # rows of a request that asks for explanations
    seconds: float = 30.0  # for a body to arrive, and for an answer
    max_batch: int = 256  # rows that are predicted together
    batch_wait: float = 0.0  # seconds that a lonely row waits for others
    max_waiting: int = 1000  # requests


class Service:
    """What endpoints share: models, threads that predict, limits, figures."""

    def __init__(self, shelf: ModelShelf, limits: Limits, threads: int) -> None:
        self.shelf, self.limits = shelf, limits
        self.metrics = ServerMetrics()
        self.batcher = Batcher(threads, limits.max_batch, limits.batch_wait, limits.max_waiting, self.metrics.batch)
        self.ending = False

    def model(self, name: str | None, version: str | None = None) -> ServedModel:
        """The model of a name; the only one, where none is given."""
        models = self.shelf.models
        if name is None and len(models) == 1:
            return next(iter(models.values()))
        if name is None:
            raise RequestError(f"the field model is missing: there are {', '.join(map(short, models))}.")
        if name not in models:
            raise RequestError(f"there is no model {short(name)}: there are {', '.join(map(short, models))}.", 404)
        model = models[name]
        if version not in (None, model.version):
            raise RequestError(f"there is no version {short(version)} of model {short(name)}: it is {model.version}.", 404)
        return model

    async def ask(self, model: ServedModel, rows: list[list[Any]], explains: bool) -> tuple[Predicted, Explanation | None]:
        """Predictions, and explanations where they are asked for."""
        if explains and not model.explains:
            raise RequestError("the field explain cannot be answered: the model has no explanations.")
        if explains and len(rows) > self.limits.max_explained:
            most = self.limits.max_explained
            raise RequestError(f"the field explain is for {most:,} rows at most, and there are {len(rows):,}. Send fewer.", 413)
        ends = time.monotonic() + self.limits.seconds
        self.metrics.rows.add(len(rows), model=model.name)
        predicted: Predicted = await self.batcher.ask(model, rows, ends)
        return predicted, await self.batcher.ask(model, rows, ends, explains=True) if explains else None

    async def body(self, request: Request) -> Any:
        """What the body of a request holds."""
        return await json_body(request, self.limits.max_bytes, self.limits.seconds)

    # Endpoints.

    async def predict(self, request: Request) -> Response:
        """Rows by the names of their columns."""
        asked = plain.read_request(await self.body(request), query_of(request))
        model = self.model(asked.model)
        rows = plain.read_rows(asked, model, self.limits.max_rows)
        predicted, explanation = await self.ask(model, rows, asked.explain)
        found = plain.predictions(model, asked, predicted, explanation)
        unseen = plain.unseen(model, rows)
        if unseen:
            self.metrics.unseen.add(sum(count for *_, count in unseen), model=model.name)
        about = {"model": model.name, "version": model.version}
        told = {"warnings": plain.warnings_of(unseen)} if unseen else {}
        return answer({**about, **(found[0] if asked.shape == plain.ROW else {"predictions": found}), **told})

    async def infer(self, request: Request) -> Response:
        """Tensors of the Open Inference Protocol."""
        model = self.model(request.path_params["model"], request.path_params.get("version"))
        rows, asked = v2.read_infer(await self.body(request), model, self.limits.max_rows)
        predicted, explanation = await self.ask(model, rows, asked["explain"])
        return answer(v2.infer_answer(model, predicted, explanation, asked))

    async def schema(self, request: Request) -> Response:
        """What columns there are."""
        return answer(plain.schema_of(self.model(query_of(request).get("model"))))

    async def models(self, request: Request) -> Response:
        """Names of the models."""
        return answer({"models": list(self.shelf.models)})

    async def metadata(self, request: Request) -> Response:
        """What the server is."""
        return answer(v2.server_metadata())

    async def model_metadata(self, request: Request) -> Response:
        """What a model reads and gives."""
        return answer(v2.model_metadata(self.model(request.path_params["model"], request.path_params.get("version"))))

    async def model_ready(self, request: Request) -> Response:
        """Whether a model can be asked."""
        model = self.model(request.path_params["model"], request.path_params.get("version"))
        return answer({"name": model.name, "ready": not self.ending}, 503 if self.ending else 200)

    async def live(self, request: Request) -> Response:
        """Whether the server runs."""
        return answer({"live": True})

    async def ready(self, request: Request) -> Response:
        """Whether requests are welcome: all models are loaded, and the server is not about to end."""
        return answer({"ready": not self.ending}, 503 if self.ending else 200)

    async def prometheus(self, request: Request) -> Response:
        """Figures."""
        models = [(model.name, model.version) for model in self.shelf.models.values()]
        return Response(self.metrics.text(models, self.batcher.waiting), media_type=TYPE)

    async def root(self, request: Request) -> Response:
        """The page with a form. Nothing of the request is in it."""
        return Response(page(), headers={"Content-Security-Policy": policy()}, media_type="text/html")


def query_of(request: Request) -> dict[str, str]:
    """The fields of an address, each once."""
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in found:
            raise RequestError(f"the address has the field {short(name)} twice.")
        found[name] = value
    return found


def application(service: Service) -> ASGIApp:
    """The application, to be served."""
    one = "/v2/models/{model}"
    version = one + "/versions/{version}"
    get, post = ["GET"], ["POST"]
    routes = [
        Route("/", service.root, methods=get),
        Route("/predict", service.predict, methods=post),
        Route("/schema", service.schema, methods=get),
        Route("/models", service.models, methods=get),
        Route("/metrics", service.prometheus, methods=get),
        Route("/v2", service.metadata, methods=get),
        Route("/v2/health/live", service.live, methods=get),
        Route("/v2/health/ready", service.ready, methods=get),
        *(Route(base, service.model_metadata, methods=get) for base in (one, version)),
        *(Route(base + "/ready", service.model_ready, methods=get) for base in (one, version)),
        *(Route(base + "/infer", service.infer, methods=post) for base in (one, version)),
    ]
    made = Starlette(routes=routes, exception_handlers={RequestError: refused, HTTPException: not_found, WoodwindError: unanswerable})
    made.router.redirect_slashes = False
    return Watched(made, service)


async def refused(_request: Request, error: Exception) -> Response:
    """A request that was refused, with its sentence."""
    assert isinstance(error, RequestError)
    return answer({"error": error.sentence}, error.status, error.headers)


async def unanswerable(_request: Request, error: Exception) -> Response:
    """Rows that the model itself has refused."""
    return answer({"error": one_line(error)}, 400)


async def not_found(request: Request, error: Exception) -> Response:
    """A path or a method that there is not."""
    assert isinstance(error, HTTPException)
    path = short(request.url.path)
    words = {404: f"there is nothing at {path}.", 405: f"{path} does not take {request.method[:10]}."}
    return answer({"error": words.get(error.status_code, error.detail)}, error.status_code, error.headers)


class Watched:
    """Around the application: headers for every answer, figures for every request, and JSON even where something of ours has failed."""

    def __init__(self, inner: ASGIApp, service: Service) -> None:
        self.inner, self.service = inner, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *HEADERS]}
            await send(message)

        try:
            await self.inner(scope, receive, sending)
        except Exception:
            if not status:
                await answer({"error": "something unexpected went wrong in the server; its log says what."}, 500)(scope, receive, sending)
            raise
        finally:
            where = endpoint_of(scope["path"])
            self.service.metrics.requests.add(endpoint=where, status=str(status or 499))
            self.service.metrics.seconds.add(time.perf_counter() - began, endpoint=where)


def endpoint_of(path: str) -> str:
    """The name of an endpoint among the figures: one of a few, whatever is asked for."""
    if path in ("/", "/predict", "/schema", "/models", "/metrics"):
        return path
    if path.startswith("/v2"):
        return "/v2/infer" if path.endswith("/infer") else "/v2"
    return "other"
