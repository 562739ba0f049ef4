"""The page in a real browser, where one is installed: a row is typed, the prediction and its reasons are seen, wide and narrow."""

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import threading

import numpy as np
import pyarrow as pa
import pytest
import uvicorn

from tests.serve.conftest import SETTINGS
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.serve.application import Limits, Service, application
from woodwind.serve.served_models import ModelShelf
from woodwind.serve.server import QuietServer, open_socket

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
POISON = "<img src=x onerror=alert(1)>"

# A page of the same origin, with the page of the server in a frame: it types as somebody would, and writes down what it sees.
TYPING = """<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body>
<iframe id="f" src="/?model=classes" width="{width}" height="900"></iframe><pre id="said"></pre><script>
const wait = async (test) => {{ for (let i = 0; i < 400 && !test(); i++) await new Promise((go) => setTimeout(go, 20)); }};
(async () => {{
  const page = () => document.getElementById("f").contentDocument, get = (id) => page().getElementById(id);
  await wait(() => page().body && page().body.dataset.ready === "yes");
  const said = {{title: get("title").textContent, labels: [...page().querySelectorAll("#fields label")].map((one) => one.textContent)}};
  get("field-0").value = "33";
  get("field-1").selectedIndex = 2;
  get("form").querySelector("button").click();
  await wait(() => !get("answer").hidden);
  said.value = get("value").textContent;
  said.bars = page().querySelectorAll("#chart rect").length;
  said.texts = [...page().querySelectorAll("#chart text")].map((one) => one.textContent);
  said.probabilities = get("probabilities").textContent;
  said.curl = get("curl").textContent;
  said.images = page().querySelectorAll("img").length;
  const root = page().documentElement;
  said.wide = root.scrollWidth;
  said.room = root.clientWidth;
  get("field-0").value = "many";
  get("form").querySelector("button").click();
  await wait(() => !get("error").hidden);
  said.error = get("error").textContent;
  document.getElementById("said").textContent = JSON.stringify(said);
}})();
</script></body></html>"""


@contextlib.contextmanager
def serving(files, width):
    """The address of a server in a thread of this process; the page may be put into a frame, and /typing has one."""
    service = Service(ModelShelf(files), Limits(), 1)
    inner = application(service)

    async def framed(scope, receive, send):
        async def sending(message):
            if message["type"] == "http.response.start":
                kept = [
                    (name, value.replace(b"; frame-ancestors 'none'", b""))
                    for name, value in message["headers"]
                    if name != b"x-frame-options"
                ]
                message = {**message, "headers": kept}
            await send(message)

        if scope["path"] == "/typing":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
            await send({"type": "http.response.body", "body": TYPING.format(width=width).encode()})
        else:
            await inner(scope, receive, sending)

    with open_socket("127.0.0.1", 0) as listening:
        server = QuietServer(uvicorn.Config(framed, lifespan="off", log_config=None, ws="none"))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            service.batcher.end()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    plans = np.array(["basic", POISON, "plus"])[np.arange(120) % 3]
    X = pa.table({"age": np.arange(120.0) % 37, POISON: plans, "a_name_without_any_place_to_break_" * 3: np.arange(120) % 7})
    y = np.where((np.arange(120) % 37 > 20) ^ (plans == "plus"), "yes", POISON)
    GradientBoostingClassifier(**SETTINGS).fit(X, y).save(folder / "classes.ww")
    GradientBoostingRegressor(**SETTINGS).fit(X, np.arange(120.0)).save(folder / "numbers.ww")
    return {"classes": folder / "classes.ww", "numbers": folder / "numbers.ww"}


@pytest.mark.parametrize("width", [360, 1200])
def test_a_typed_row_is_predicted_with_its_reasons(files, width, tmp_path):
    with serving(files, width) as address:
        command = [BROWSER, *QUIET, f"--window-size={width + 60},1000", f"--user-data-dir={tmp_path / 'profile'}",
                   "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", f"{address}/typing"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    # The refused row is the only thing that the browser has to say something about.
    assert [line for line in console if "400 (Bad Request)" not in line] == []
    found = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL).group(1)
    said = json.loads(found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert said["title"] == "Predict classes"
    assert said["labels"][:2] == ["age", POISON]
    assert said["value"] in ("yes", POISON)
    assert said["bars"] >= 2
    assert any(text.startswith("age = 33") for text in said["texts"])
    assert "%" in said["probabilities"]
    assert '"age":33' in said["curl"]
    assert said["images"] == 0
    assert said["wide"] <= said["room"]
    assert "column 'age' takes a number without quotes" in said["error"]
