"""The page in a real browser, where one is installed: no errors, no requests, no overflow, whole without scripts."""

import http.server
import json
import re
import shutil
import subprocess
import threading
from functools import cache, partial

import pytest

from tests.auto.fake_outcome import fake
from woodwind.auto.facts.collection import collect
from woodwind.report import page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip

# Long words, many columns, names that would like to be more than names.
LONG = "a_name_without_any_place_to_break_" * 4

# Put beside the page, in a frame of a given width: measures what sticks out.
MEASURE = """<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body>
<iframe id="f" src="report.html" width="{width}" height="800"></iframe>
<pre id="said"></pre><script>
addEventListener("load", () => {{
  const inside = document.getElementById("f").contentDocument, page = inside.documentElement;
  const beyond = [...inside.querySelectorAll("body *")].filter((one) => !one.closest(".scroll, pre, .inner, svg, .skip"))
    .filter((one) => one.getBoundingClientRect().right > page.clientWidth + 1).map((one) => one.tagName + "." + one.className);
  const small = [...inside.querySelectorAll("svg.chart text")].map((one) => one.getBoundingClientRect().height).filter((one) => one > 0);
  const cut = [...inside.querySelectorAll("svg.chart")].filter((one) => {{
    const box = one.getBoundingClientRect();
    return [...one.querySelectorAll("text")].some((text) => {{
      const t = text.getBoundingClientRect();
      return t.left < box.left - 6 || t.right > box.right + 14;
    }});
  }}).map((one) => one.getAttribute("aria-label"));
  document.getElementById("said").textContent = JSON.stringify({{
    wide: page.scrollWidth, room: page.clientWidth, beyond: beyond.slice(0, 5), smallest: Math.min(...small), cut,
    sections: inside.querySelectorAll("section").length, sortable: inside.querySelectorAll("thead button").length,
  }});
}});
</script></body></html>"""


@cache
def html(task, poison=False):
    facts = collect(fake(task, n=240, rounds=15), 60.0)
    text = json.dumps(facts)
    if poison:
        text = text.replace("income", LONG).replace('"red"', json.dumps("<img src=x onerror=alert(1)>\u202e"))
    return page(json.loads(text))


class Recorder(http.server.SimpleHTTPRequestHandler):
    """Serves a directory and remembers what was asked for."""

    def __init__(self, *args, asked, **more):
        self.asked = asked
        super().__init__(*args, **more)

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args):
        pass


def served(folder, path, *flags):
    """What the browser makes of a page that is served from a folder: the page after loading, what it said, what was asked for."""
    asked = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Recorder, asked=asked, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/{path}"
        command = [BROWSER, *QUIET, *flags, f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--dump-dom", address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        server.shutdown()
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return done.stdout, console, asked


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_page_loads_nothing_and_complains_of_nothing(task, tmp_path):
    (tmp_path / "report.html").write_text(html(task, poison=True), encoding="utf-8")
    shown, console, asked = served(tmp_path, "report.html")
    assert console == []
    assert asked == ["/report.html"]
    assert "<img" not in shown
    assert shown.count("<section ") == 10


VISITS = [("binary", 360), ("multiclass", 390), ("regression", 390), ("multiclass", 768), ("binary", 1280)]


@pytest.mark.parametrize(("task", "width"), VISITS)
def test_nothing_sticks_out_at_any_width_and_text_can_be_read(task, width, tmp_path):
    (tmp_path / "report.html").write_text(html(task, poison=True), encoding="utf-8")
    (tmp_path / "measure.html").write_text(MEASURE.format(width=width), encoding="utf-8")
    shown, console, _ = served(tmp_path, "measure.html", f"--window-size={width + 60},900")
    assert console == []
    found = json.loads(re.search(r'<pre id="said">(.*?)</pre>', shown).group(1).replace("&gt;", ">"))
    assert found["wide"] <= found["room"], found
    assert found["beyond"] == []
    assert found["cut"] == []
    assert found["smallest"] >= 9.0
    assert found["sections"] == 10
    assert found["sortable"] > 5  # the script runs, under the page's own policy
