# SPDX-License-Identifier: Apache-2.0
"""Reports in a headless browser: fixtures, and checks of a page as a reader gets it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

try:
    from playwright.sync_api import Browser, Locator, Page, sync_playwright
except ImportError:  # The pages extra is optional.
    Browser = Locator = Page = Any  # type: ignore[assignment, misc]
    sync_playwright = None  # type: ignore[assignment]

Scheme = Literal["light", "dark"]

LAPTOP, TABLET, PHONE = (1366, 768), (1024, 768), (390, 844)
VARIANTS = [
    pytest.param(LAPTOP, "light", id="laptop-light"),
    pytest.param(PHONE, "dark", id="phone-dark"),
]
"""Each width and each scheme once: what is too wide has no colour, and colours have no width."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass
class Visitor:
    """Opens pages, and takes note of what goes wrong on them.

    Attributes:
        browser: The browser.
        errors: Messages of the console, errors of scripts, files that were not there.
    """

    browser: Browser
    errors: list[str] = field(default_factory=list)

    def __call__(
        self,
        path: Path,
        anchor: str = "",
        *,
        size: tuple[int, int] = LAPTOP,
        scheme: Scheme = "light",
        scripts: bool = True,
    ) -> Page:
        """Opens a page of a report from its file."""
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            # A report needs no network.
            offline=True,
        )
        page = context.new_page()
        page.on("console", lambda message: self.errors.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.errors.append(f"script: {error}"))
        page.on("requestfailed", lambda request: self.errors.append(f"no file: {request.url}"))
        page.goto(path.resolve().as_uri() + (f"#{anchor}" if anchor else ""))
        return page


# For a module and no longer: while it is open, its event loop runs in the thread of the tests.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    if sync_playwright is None:
        # `make test` installs it; who calls pytest in an environment of their own may not have it.
        pytest.skip("no playwright: it comes with the extra `pages`")
    found = [path for path in map(shutil.which, _NAMES) if path]
    if not found:
        # A browser is too much to ask of everyone who runs `make test`; .ci/run installs one.
        pytest.skip("no Chromium on the PATH")
    with sync_playwright() as playwright:
        # Chromium's own sandbox does not work for root.
        opened = playwright.chromium.launch(executable_path=found[0], args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visitor]:
    """Opens pages; the test fails if something goes wrong on one, unless it clears the errors."""
    visitor = Visitor(browser)
    yield visitor
    for context in list(browser.contexts):
        context.close()
    assert visitor.errors == []


_CONTRAST = """
() => {
  const channels = (text) => {
    const canvas = (globalThis.__canvas ??= new OffscreenCanvas(1, 1).getContext(
      "2d", { willReadFrequently: true }));
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((c) => {
      const s = c / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const stack = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour[3]) stack.push(colour);
      if (colour[3] === 1) break;
    }
    return stack.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (["SCRIPT", "STYLE", "TITLE"].includes(element.tagName.toUpperCase())) continue;
    const style = getComputedStyle(element);
    const inside = element.closest("svg");
    const back = behind(inside ? inside.parentElement : element);
    const front = over(channels(inside ? style.fill : style.color), back);
    const [a, b] = [luminance(front), luminance(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      found.set(`${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}`,
        `${ratio.toFixed(2)} ${text.slice(0, 40)}`);
    }
  }
  return [...found].map(([where, what]) => `${where}: ${what}`);
}
"""


def contrast_problems(page: Page) -> list[str]:
    """Returns texts that stand out less than level AA of WCAG 2 wants: 4.5, 3 of large ones."""
    return list(page.evaluate(_CONTRAST))


def too_wide(page: Page) -> int:
    """Returns how many pixels of the page do not fit its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def outside(page: Page, selector: str) -> list[str]:
    """Returns the elements that are not shown whole between the edges of the window."""
    return list(
        page.evaluate(
            """(selector) => [...document.querySelectorAll(selector)].filter((each) => {
              const box = each.getBoundingClientRect();
              return !box.width || box.left < 0 || box.right > innerWidth;
            }).map((each) => each.outerHTML.slice(0, 80))""",
            selector,
        )
    )


_OUT_OF_SIGHT = """
() => [...document.querySelectorAll(".scroll:has(table)")].flatMap((box) => {
  if (!box.checkVisibility({ contentVisibilityAuto: true })) return [];
  const edges = box.getBoundingClientRect();
  const cells = [...box.querySelectorAll("th, td")].map((cell) => cell.getBoundingClientRect());
  const fades = getComputedStyle(box).maskImage;
  const words = box.previousElementSibling;
  const announced = words?.checkVisibility() && words.textContent.includes("scroll");
  const found = [];
  if (cells.some((cell) => cell.left < edges.left - 1)) {
    found.push(["left", /^linear-gradient\\(to right, rgba\\(0, 0, 0, 0\\), \\S+ \\S+ \\S+ [1-9]/]);
  }
  if (cells.some((cell) => cell.right > edges.right + 1)) {
    found.push(["right", /calc\\(100% - [1-9][0-9.]*px\\), rgba\\(0, 0, 0, 0\\)\\)$/]);
  }
  return found.map(([side, fade]) =>
    [box.getAttribute("aria-label"), side, Boolean(announced && fade.test(fades))]);
})
"""


def out_of_sight(page: Page) -> list[tuple[str, str, bool]]:
    """Returns the tables with cells beyond an edge of their box: name, side, and if that shows.

    It shows where the cells fade out towards the edge, and words above say that the table scrolls.
    """
    return [(name, side, shows) for name, side, shows in page.evaluate(_OUT_OF_SIGHT)]
