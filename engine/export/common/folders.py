"""What every exporter writes into a folder."""

import hashlib
import json


def write_bridge(out, family, name, version, languages, licence):
    """Writes what Trunkline reads of a folder, with the SHA-256 of every other file."""
    files = {path.relative_to(out).as_posix(): sha256_of(path) for path in sorted(out.rglob("*")) if path.is_file()}
    bridge = {
        "format": 1,
        "family": family,
        "name": name,
        "version": version,
        "languages": languages,
        "licence": licence,
        "files": files,
    }
    (out / "bridge.json").write_text(json.dumps(bridge, indent=2) + "\n", encoding="utf-8")


def sha256_of(path):
    """Read in pieces: a model may be larger than memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
