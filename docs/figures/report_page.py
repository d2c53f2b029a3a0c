"""Take the picture of docs/guides/report.md: the report as a browser shows it.

Needs Chromium on the PATH, and playwright, which `make test-browser` installs.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from bestcut.report import make_report

HERE = Path(__file__).resolve().parent
WIDTH, MARGIN = 1000, 32


def main():
    """Write the picture beside this script."""
    y_proba = np.random.default_rng(3).beta(0.3, 3, 300)
    report = make_report(y_proba, title="Card payments", source="scores.csv, column p")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page = Path(folder) / "report.html"
        report.write(page)
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": 800})
        tab.goto(page.as_uri())
        for picture in ("chart", "histogram"):
            tab.wait_for_selector(f"#{picture} svg")
        last = tab.locator(".explore").bounding_box()
        height = last["y"] + last["height"] + MARGIN
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
        tab.screenshot(path=HERE / "report.png", clip=clip, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
