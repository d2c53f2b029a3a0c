"""The commands in docs/guides/command.md write what is shown below them.

BESTCUT_GOLDEN=write puts in what they write.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

from cli.run import APART, assert_written, call, cli, shell

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "command.md"
OF_ALL = ("Calibrate", "Formats", "In scripts")  # sections about several commands
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def transcript(block, folder):
    """Return the commands of a block, each followed by all it writes."""
    text = ""
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        plain = command.startswith("bestcut ") and not re.search("[|<>]", command)
        if plain and not APART:  # no need for a shell
            written = call(*shlex.split(command)[1:]).output
        else:
            written = shell(f"({command}) 2>&1", folder).stdout.decode()
        text += f"$ {command}\n{written}"
    return text


def test_commands_do_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    text = PAGE.read_text(encoding="utf-8")
    examples = re.findall(r"^```csv\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names = (
        *("scores.csv", "payments.csv", "animals.csv", "tags.csv", "pairs.csv"),
        "labelled.csv",
    )
    for name, example in zip(names, examples, strict=True):
        (tmp_path / name).write_text(example, encoding="utf-8")
    blocks = BLOCK.findall(text)
    found = [transcript(block, tmp_path) for block in blocks]
    if os.environ.get("BESTCUT_GOLDEN") == "write":
        parts = iter(found)
        new = BLOCK.sub(lambda _: f"```console\n{next(parts)}```", text)
        PAGE.write_text(new, encoding="utf-8")
        blocks = BLOCK.findall(new)
    assert_written("\n".join(found), "\n".join(blocks))
    assert len(found) >= 8  # the pattern still finds them


def explained(text, command):
    """Return the options that the page names where it explains a command.

    That is in the section of the command, or in one that is about several. What a
    command writes explains nothing.
    """

    def without_output(block):
        return "".join(re.findall(r"^\$ .*\n", block[1], re.MULTILINE))

    parts, level = [], 0
    for part in re.split(r"^(?=#+ )", BLOCK.sub(without_output, text), flags=re.M):
        marks, _, words = part.partition("\n")[0].partition(" ")
        if command in words.lower().split():
            level = len(marks)
        elif len(marks) <= level:  # the section of the command has ended
            level = 0
        if level or words in OF_ALL:
            parts.append(part)
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", "".join(parts)))


@pytest.mark.parametrize("name", cli.commands)
def test_a_command_and_every_option_of_it_is_on_the_page(name):
    text = PAGE.read_text(encoding="utf-8")
    assert f"$ bestcut {name}" in text
    options = {x for p in cli.commands[name].params for x in p.opts if x[:2] == "--"}
    assert options <= explained(text, name)


def test_an_option_that_is_not_explained_is_noticed():
    text = """# The command
--before
## Decide
Pass `--proba p`, and `--calibrate-label`.
### Formats
`--format`
## Expect
```console
$ bestcut expect --pred x
bestcut: add --label.
```
"""
    shared = {"--format"}
    assert explained(text, "decide") == {"--proba", "--calibrate-label", *shared}
    assert explained(text, "expect") == {"--pred", *shared}
    assert explained(text, "compare") == shared
