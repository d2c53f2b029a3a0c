"""What README and docs show is what happens.

Every ```python block is run, each file in one namespace. An expression followed by
``# -> result``, on its line or on the next, must have that result as its repr.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from groups import slow

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
# The other pages are slow; `make docs` runs them too.
FAST = ("README.md", "docs/start/one-minute.md")
# Pages whose blocks need an engine, PyTorch or other tools are run where these are.
ELSEWHERE = (
    "docs/guides/clusters.md",
    "docs/guides/masks.md",
    "docs/how-to/with-your-tools.md",
)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(
    r"^[ >]*(?:```|~~~)[`~ ]*(py\w*|ipython\w*)", re.MULTILINE | re.IGNORECASE
)
SHOWN = re.compile(r"#\s*->\s*(.*?)\s*$")
# [text](target) and ![text](target); the text may go over several lines.
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def run_block(code, namespace, *, where):
    """Run a block; return how many results it showed."""
    lines = ["", *code.splitlines(), ""]  # counted from 1, like the parser does
    claims = {i for i, line in enumerate(lines) if SHOWN.search(line)}
    checked = set()
    for node in ast.parse(code).body:
        at = node.end_lineno
        if lines[at + 1].startswith("#"):
            at += 1
        if isinstance(node, ast.Expr) and at in claims:
            value = eval(compile(ast.Expression(node.value), where, "eval"), namespace)
            shown = SHOWN.search(lines[at]).group(1)
            assert repr(value) == shown, f"{where}: {lines[node.lineno]}"
            checked.add(at)
        else:
            exec(compile(ast.Module([node], []), where, "exec"), namespace)
    assert checked == claims, f"{where}: a result is shown for no expression"
    return len(checked)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def pages_with_blocks():
    """Return the pages that have something to run, most of them for the slow group."""
    for page in PAGES:
        if BLOCK.search(page.read_text(encoding="utf-8")):
            kind = pytest.param if name_of(page) in FAST else slow
            yield kind(page, id=name_of(page))


@pytest.mark.parametrize("page", list(pages_with_blocks()))
def test_python_blocks_do_what_they_show(page):
    namespace = {"__name__": page.stem}
    text = page.read_text(encoding="utf-8")
    shown = 0
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 1
        where = f"{page.name}:{line}"
        shown += run_block(block.group(1), namespace, where=where)
    if page == README:
        assert shown >= 7  # the pattern still finds them


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_python_block_of_a_page_is_left_out(page):
    text, name = page.read_text(encoding="utf-8"), name_of(page)
    written = FENCE.findall(text)
    if name in ELSEWHERE:
        assert set(written) == {"py"}
    else:
        assert len(written) == len(BLOCK.findall(text))
        assert name not in FAST or written


def test_a_block_that_would_be_left_out_is_noticed():
    odd = (
        "``` python\n",
        "  ```python\n",
        "```py\n",
        "~~~Python\n",
        "```python title\n",
    )
    for start in odd:
        assert FENCE.search(f"Text.\n\n{start}1\n```\n")
        assert not BLOCK.search(f"Text.\n\n{start}1\n```\n")
    assert not FENCE.search("```sh\npython x.py\n```\n")


def test_a_wrong_result_is_noticed():
    assert run_block("x = 2\nx  # -> 2\nx + 1\n# -> 3\n", {}, where="here") == 2
    with pytest.raises(AssertionError, match="here"):
        run_block("1 + 1  # -> 3\n", {}, where="here")
    with pytest.raises(AssertionError, match="no expression"):
        run_block("x = 2  # -> 2\n", {}, where="here")


def anchors(page):
    """Return the anchors that the headings of a page have on GitHub."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda p: p.name,
)
def test_relative_links_lead_somewhere(page):
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    for target in targets:
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name} links to {target}"


def test_tests_that_the_lemmas_name_are_there():
    text = (ROOT / "docs" / "how-it-works" / "lemmas.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`(?: \(`(test_\w+)`\))?", text)
    assert len(named) > 20
    for path, name in named:
        assert (ROOT / path).exists(), f"lemmas.md names {path}"
        assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8"), (
            f"lemmas.md names {name}"
        )


def test_modules_that_pages_and_modules_name_are_there():
    named = set()
    for folder, pattern in (("docs", "*.md"), ("src", "*.py")):
        for page in (ROOT / folder).rglob(pattern):
            text = page.read_text(encoding="utf-8")
            named |= set(re.findall(r"`(?:src/bestcut/)?(\w+/_\w+\.py)`", text))
            dotted = re.findall(r"`bestcut\.(\w+\._\w+)`", text)
            named |= {f"{name.replace('.', '/')}.py" for name in dotted}
    assert len(named) > 20
    missing = [name for name in named if not (ROOT / "src/bestcut" / name).exists()]
    assert not missing


def test_functions_that_the_lemmas_name_are_where_they_say():
    text = (ROOT / "docs" / "how-it-works" / "lemmas.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+/_\w+\.py)`\s+\(((?:`\w+`(?:,\s+)?)+)\)", text)
    assert len(named) > 10
    for path, names in named:
        source = (ROOT / "src" / "bestcut" / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            assert re.search(rf"(def|class) {name}\b", source), f"{path} has no {name}"


def test_readme_names_two_commands_that_the_makefile_has():
    text = README.read_text(encoding="utf-8")
    commands = set(re.findall(r"^make ([\w-]+)", text, re.MULTILINE))
    assert commands == {"demo", "test"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    assert commands <= targets


def test_readme_is_read_in_a_minute():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 130


def test_the_guide_lists_every_metric():
    import bestcut

    text = (ROOT / "docs" / "guides" / "metrics.md").read_text(encoding="utf-8")
    missing = [name for name in bestcut.metrics.names() if f"`{name}`" not in text]
    assert not missing


def test_demo_prints_a_short_readable_result():
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    lines = run.stdout.splitlines()
    assert run.stderr == ""
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 72
    assert lines[-1].startswith("In short:")
