"""The page of ``kata report`` in a real browser: Chromium or Chrome, driven by Playwright (the extra ``browser``)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reports.test_html import PAGES

pytestmark = pytest.mark.browser

CHROME = next((path for name in ("chromium", "google-chrome", "chrome") if (path := shutil.which(name))), None)

#: Text whose colour is too near to its background: WCAG 2.2 asks for a ratio of 4.5, of 3 where it is large and bold.
PALE = """
() => {
  const lum = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const parse = c => (c.match(/[0-9.]+/g) || []).map(Number);
  const behind = e => {
    const layers = [];
    for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((base, [r, g, b, a = 1]) =>
      r === undefined ? base : [r, g, b].map((v, k) => v * a + base[k] * (1 - a)), [255, 255, 255]);
  };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || ['title', 'desc'].includes(e.tagName)) continue;
    const style = getComputedStyle(e), ink = e.tagName === 'text' ? style.fill : style.color;
    const [x, y] = [lum(parse(ink)), lum(behind(e))].sort((p, q) => q - p);
    const large = parseFloat(style.fontSize) >= 18.66 && +style.fontWeight >= 600;
    if ((x + 0.05) / (y + 0.05) < (large ? 3 : 4.5)) bad.push(`${e.tagName} ${e.textContent.trim().slice(0, 30)}`);
  }
  return bad;
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless browser."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROME is None:
        pytest.skip("there is no Chromium or Chrome on the PATH")
    quiet = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROME, args=quiet)
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_without_a_word_on_the_console(
    browser: Any, tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGES[name], encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert not said
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # nothing scrolls sideways but tables
    assert page.evaluate(PALE) == []
    assert page.get_by_role("img").count() == page.locator("svg").count()
    sizes = page.evaluate("[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height)")
    assert all(size >= 9 for size in sizes)  # legible on a phone
    page.close()


def test_a_keyboard_reaches_the_source_first(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGES["right"], encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the source"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Source with figures"
    page.close()


def test_it_prints_in_light_colours_with_nothing_cut(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGES["right"], encoding="utf-8")
    page = browser.new_page(viewport={"width": 700, "height": 1000}, color_scheme="dark")
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.evaluate(cut) == 0
    assert page.pdf()[:4] == b"%PDF"
    page.close()
