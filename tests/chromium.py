"""Chromium without a screen, driven by its DevTools protocol over a pair of pipes."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--remote-debugging-pipe",
]
#: Seconds that an answer may take on a busy machine.
PATIENCE = 60.0
#: What the console is told of when something is wrong.
BAD_LEVELS = ("error", "warning")


def find() -> str | None:
    """The program, or None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Tab:
    """One page in the browser.

    Attributes:
        complaints: errors and warnings of the console, exceptions, and violations of a security policy.
        requests: the addresses that were asked for.
        dialogs: texts of alert() and the like.
    """

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self._loaded = False

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command of the protocol and returns its result."""
        return self._browser.call(method, parameters, self._session)

    def take(self, method: str, parameters: dict[str, Any]) -> None:
        """Notes an event of the protocol."""
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in BAD_LEVELS:
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in BAD_LEVELS:
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(parameters["message"])
            self._browser.send("Page.handleJavaScriptDialog", {"accept": True}, self._session)
        elif method == "Page.loadEventFired":
            self._loaded = True

    def show(self, *, width: int = 1440, height: int = 900, dark: bool = False, touch: bool = False) -> None:
        """Sets size and colours of the screen."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> float:
        """Loads an address and waits for it; the seconds from the start to a painted page."""
        begun = time.monotonic()
        self._loaded = False
        self.call("Page.navigate", url=address)
        self._wait()
        self.settle()
        return time.monotonic() - begun

    def reload(self) -> None:
        """Loads the page again."""
        self._loaded = False
        self.call("Page.reload")
        self._wait()

    def close(self) -> None:
        """Closes the page."""
        self.call("Page.close")

    def _wait(self) -> None:
        while not self._loaded:
            self._browser.pump(PATIENCE)

    def settle(self) -> None:
        """Waits until what was begun has been drawn."""
        frame = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))"
        self.evaluate(f"new Promise((resolve) => {frame})")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, awaited, as JSON has it. Raises AssertionError when it throws."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, code: str | None = None) -> None:
        """Presses a key: a character, or a name such as ArrowRight."""
        text = {"text": key} if len(key) == 1 else {}
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "Escape": 27, "Tab": 9, "Enter": 13}
        more = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        if key == "Enter":
            text = {"text": "\r"}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code or key, **text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code or key, **more)
        self.settle()

    def middle(self, selector: str) -> tuple[float, float]:
        """The middle of an element's part that is in sight."""
        found = self.evaluate(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [b.left + Math.min(b.width / 2, 300), b.top + Math.min(b.height / 2, 20)]; })()"
        )
        return found[0], found[1]

    def point(self, selector: str) -> None:
        """Moves the mouse onto an element."""
        x, y = self.middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def click(self, selector: str) -> None:
        """Clicks on an element with the mouse."""
        self.click_at(*self.middle(selector))

    def click_at(self, x: float, y: float) -> None:
        """Clicks on a place."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def tap(self, selector: str) -> None:
        """Taps on an element with a finger."""
        x, y = self.middle(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def screenshot(self, path: Path) -> None:
        """Writes what is seen as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


class Browser:
    """A running browser."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._rest = b""
        self._last = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._tabs: dict[str, Tab] = {}

    def tab(self) -> Tab:
        """A new page."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        tab = self._tabs[session] = Tab(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        return tab

    def call(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """Sends a command and waits for its result. Raises AssertionError when the browser refuses it."""
        number = self.send(method, parameters, session)
        while number not in self._answers:
            self.pump(PATIENCE)
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def send(self, method: str, parameters: dict[str, Any], session: str | None = None) -> int:
        """Sends a command without waiting."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        return self._last

    def pump(self, seconds: float) -> None:
        """Reads what the browser has to say, and waits for it. Raises TimeoutError when it says nothing."""
        if not select.select([self._read], [], [], seconds)[0]:
            raise TimeoutError("the browser does not answer")
        data = os.read(self._read, 1 << 20)
        if not data:
            raise RuntimeError("the browser has ended")
        *messages, self._rest = (self._rest + data).split(b"\0")
        for each in messages:
            message = json.loads(each)
            if "id" in message:
                self._answers[message["id"]] = message
            elif (session := message.get("sessionId")) in self._tabs:
                self._tabs[session].take(message["method"], message["params"])


@contextmanager
def running(program: str, profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own in a new directory."""
    to_browser, ours_out = os.pipe()
    ours_in, from_browser = os.pipe()
    flags = " ".join([*FLAGS, '--user-data-dir="$1"'])
    # It reads descriptor 3 and writes 4, whatever ours are called.
    line = f'exec "$0" {flags} 3<&{to_browser} 4>&{from_browser}'
    with (profile.parent / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            ["bash", "-c", line, program, profile],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            browser = Browser(ours_in, ours_out)
            yield browser
            browser.send("Browser.close", {})
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
            os.close(ours_in)
            os.close(ours_out)
