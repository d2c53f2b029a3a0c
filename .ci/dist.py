"""Build the wheel and the sdist, and try both as a user would; `make dist` runs this.

twine checks both. The wheel is installed into an empty environment with NumPy alone and
decides there; the sdist is unpacked, and its own tests are run. An argument ``--quick``
leaves out the tests.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
LARGEST_WHEEL = 700_000  # bytes; it is all source, so more would be a file by mistake

TRY = """
import importlib.metadata as m, sys
import bestcut
decision = bestcut.decide([0.62, 0.48, 0.31, 0.31, 0.22, 0.09], metric="f1")
assert decision.labels.tolist() == [True] * 4 + [False] * 2
others = {d.metadata["Name"].lower() for d in m.distributions()} - {"pip", "setuptools"}
assert others == {"bestcut", "numpy"}, others
print("bestcut", bestcut.__version__, "decides with NumPy alone")
"""


def run(*command: object, cwd: Path = ROOT) -> None:
    """Run a command; whatever it does wrong ends this script."""
    print("$", *command, flush=True)
    subprocess.run([str(x) for x in command], cwd=cwd, check=True)


def environment(folder: Path) -> Path:
    """Make an empty environment; return its Python."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def check_contents(wheel: Path) -> None:
    """List what is in the wheel, and refuse what should not be."""
    with zipfile.ZipFile(wheel) as archive:
        files = archive.infolist()
    for file in files:
        print(f"{file.file_size:9,}  {file.filename}")
    size = wheel.stat().st_size
    print(f"{size:9,}  {wheel.name}, {len(files)} files")
    allowed = ("bestcut/", "bestcut_command.py", "bestcut-")
    strange = [f.filename for f in files if not f.filename.startswith(allowed)]
    if strange:
        sys.exit(f"The wheel holds what is not the package: {strange[0]}")
    if not any(f.filename == "bestcut/py.typed" for f in files):
        sys.exit("The wheel lacks bestcut/py.typed.")
    if size > LARGEST_WHEEL:
        sys.exit(f"The wheel has more than {LARGEST_WHEEL:,} bytes.")


def main() -> None:
    """Build, check, install, test."""
    for tool in ("build", "twine"):
        try:
            metadata.version(tool)
        except metadata.PackageNotFoundError:
            sys.exit(f"{tool} is missing. Run `make dist`, which installs it.")
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as name:
        empty = Path(name)
        python = environment(empty / "wheel")
        run(python, "-m", "pip", "install", "--quiet", wheel, cwd=empty)
        script = empty / "try_with_numpy_alone.py"
        script.write_text(TRY, encoding="utf-8")
        run(python, "-W", "error", script, cwd=empty)
        if "--quick" in sys.argv[1:]:
            print("The wheel and the sdist are in dist/; the tests were left out.")
            return
        with tarfile.open(sdist) as archive:
            archive.extractall(empty, filter="data")
        (unpacked,) = empty.glob("bestcut-*")
        run("make", f"PYTHON={sys.executable}", "test", cwd=unpacked)
    print("The wheel and the sdist are in dist/.")


if __name__ == "__main__":
    main()
