"""What tests in a browser share: Chromium, when to skip, and the contrast of a page."""

import os
import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)


def skip_without_browser():
    """Skip a module where there is no browser, unless BESTCUT_BROWSER asks for it."""
    if os.environ.get("BESTCUT_BROWSER"):
        assert CHROMIUM, "BESTCUT_BROWSER is set, but there is no Chromium on the PATH"
    elif CHROMIUM is None:
        pytest.skip("no Chromium on the PATH", allow_module_level=True)
    else:
        pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@contextmanager
def chromium():
    """Start Chromium, and stop it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


# The least contrast of any visible text with what is behind it, by WCAG.
CONTRAST = """() => {
  const light = (c) => {
    const [r, g, b] = c.map((x) => x / 255)
      .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parts = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter((node) =>
    !node.closest("script, noscript, [hidden]") && node.getClientRects().length &&
    [...node.childNodes].some((x) => x.nodeType === 3 && x.textContent.trim()));
  const ratios = texts.map((node) => {
    const style = getComputedStyle(node);
    const ink = node.ownerSVGElement ? style.fill : style.color;
    const pair = [light(parts(ink).slice(0, 3)), light(behind(node))].sort();
    return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), node.textContent];
  });
  return { count: ratios.length, least: ratios.sort((a, b) => a[0] - b[0])[0] };
}"""
