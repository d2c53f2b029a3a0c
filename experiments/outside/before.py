"""The default of before, run in a process that imports that version of bestcut."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.outside.contenders import Task

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "a43f148"  # the last one whose default is one model of all rows


class Before:
    """A process that answers what contenders do, with the version of a commit."""

    def __init__(self, folder: Path, sources: Path, commit: str = COMMIT) -> None:
        self.folder, self.source = folder, sources / commit / "src"
        if not self.source.exists():
            command = ["git", "archive", commit, "src"]
            packed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            with tarfile.TarFile(fileobj=io.BytesIO(packed.stdout)) as archive:
                archive.extractall(self.source.parent, filter="data")
        path = os.pathsep.join([str(self.source), *filter(None, sys.path[1:])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "experiments.outside.before"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __call__(self, function: str, task: Task, *given: Any) -> Any:
        """Return what a function of `contenders` gives there for a task."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = [function, asdict(task), str(self.folder), *given]
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            msg = f"The process of {COMMIT} has ended; its error is above."
            raise RuntimeError(msg)
        file, found = json.loads(answer)
        assert Path(file).is_relative_to(self.source), file
        return found

    def __enter__(self) -> Before:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the process."""
        self._process.communicate()  # closes its input, which ends it


def answer() -> None:
    """Answer one line after the other."""
    import bestcut
    from experiments.outside import contenders

    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        function, task, folder, *given = json.loads(line)
        found = getattr(contenders, function)(Task(**task), Path(folder), *given)
        print(json.dumps([bestcut.__file__, found]), file=out, flush=True)


if __name__ == "__main__":
    answer()
