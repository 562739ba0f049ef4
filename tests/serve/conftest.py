"""Small models in files, and the application with one of them behind a client that needs no network."""

import asyncio
from contextlib import contextmanager

import httpx
import numpy as np
import pyarrow as pa
import pytest

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, store
from woodwind.auto.intervals import RANDOM, PredictionIntervals
from woodwind.auto.members.tree_members import ForestMember
from woodwind.auto.model import AutoModel
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.conformal import ConformityScores
from woodwind.serve.application import Limits, Service, application
from woodwind.serve.served_models import ModelShelf

SETTINGS = {"n_estimators": 5, "early_stopping": False, "random_state": 0, "n_jobs": 1}
ROW = {"age": 41, "plan": "basic", "paid": 12.5}


def table(rows=120):
    position = np.arange(rows)
    age = (20 + position * 7 % 50).astype(float)
    age[::11] = np.nan
    plans = np.array(["basic", "gold", "plus"])
    return pa.table({"age": pa.array(age, from_pandas=True), "plan": plans[position % 3], "paid": position * 13 % 90})


def target(X, classes=("no", "yes")):
    number = X["paid"].to_numpy() + 30.0 * (X["plan"].to_numpy(zero_copy_only=False) == "gold")
    return number if not classes else np.array(classes)[np.digitize(number, [60.0, 100.0][: len(classes) - 1])]


def intervals(task):
    scores = np.linspace(0.05, 0.9, 40) if task != "regression" else np.linspace(0.5, 20.0, 40)
    known = ConformityScores.of([(scores, np.ones(40))])
    return PredictionIntervals(known, np.zeros(0), np.zeros(0), RANDOM)


def blend(task="binary"):
    """A model as `woodwind fit` makes it."""
    X = table()
    classes = {"regression": (), "binary": ("no", "yes"), "multiclass": ("high", "low", "middle")}[task]
    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
    forest = kind(**SETTINGS).fit(X, target(X, classes)).forest_
    schema, read = Schema.learn(X)
    return AutoModel(
        task=task, target="late", classes=classes, schema=schema, form=MatrixForm.of_table(schema, read), names=("boosting",),
        members=(ForestMember(forest),), weights=np.ones(1), shift=np.zeros(len(classes) if task == "multiclass" else 1),
        metric="log_loss" if classes else "rmse", facts={"use": {"example": ROW}}, intervals=intervals(task),
    )  # fmt: skip


def classifier():
    X = table()
    return GradientBoostingClassifier(**SETTINGS).fit(X, target(X))


class Client:
    """Asks an application that runs in this process."""

    def __init__(self, service):
        self.service = service
        self._runner = asyncio.Runner()
        transport = httpx.ASGITransport(application(service), raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    def get(self, path):
        return self._runner.run(self._client.get(path))

    def post(self, path, **more):
        return self._runner.run(self._client.post(path, **more))

    def post_all(self, path, bodies):
        """Ask for all of them at once."""

        async def together():
            return await asyncio.gather(*(self._client.post(path, json=body) for body in bodies))

        return self._runner.run(together())

    def run(self, coroutine):
        return self._runner.run(coroutine)

    def close(self):
        self._runner.run(self._client.aclose())
        self._runner.close()


@contextmanager
def served(files, **limits):
    """A client of the application with these files."""
    service = Service(ModelShelf(files), Limits(**limits), 1)
    client = Client(service)
    try:
        yield client
    finally:
        client.close()
        service.batcher.end()


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Model files by name."""
    folder = tmp_path_factory.mktemp("models")
    found = {name: folder / f"{name}.ww" for name in ("binary", "multiclass", "regression", "estimator")}
    for name, path in found.items():
        if name == "estimator":
            classifier().save(path)
        else:
            store.save(path, blend(name))
    return found


@pytest.fixture
def client(files):
    """A client of all models."""
    with served(files, seconds=20.0, max_rows=50, max_explained=5, max_bytes=20_000) as client:
        yield client


@pytest.fixture
def one(files):
    """A client of one model, an estimator."""
    with served({"estimator": files["estimator"]}, seconds=20.0, max_rows=50, max_bytes=20_000) as client:
        yield client
