"""Print the versions that a report of a fault should name."""

from __future__ import annotations

import re
import subprocess

from checkout import REQUIREMENTS, version
from servers import chosen, chosen_python


def main() -> None:
    server = chosen()
    python = chosen_python(server)
    control = (server.extension_dir / "vector.control").read_text()
    vector = re.search(r"default_version = '([^']+)'", control)
    print(f"pgchunk {version()}")
    print(f"{server.version}, pgvector {vector[1] if vector else 'of unknown version'}")
    print(subprocess.run([python, "--version"], capture_output=True, text=True).stdout.strip())
    print(" ".join(line for line in REQUIREMENTS.read_text().splitlines() if "==" in line))


if __name__ == "__main__":
    main()
