"""A folder of results on disk, by key: written whole or not at all, and doubted when read."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import Any

_DIGEST = 64


def default_folder() -> Path:
    """``$KATA_CACHE``, else the user's cache folder."""
    named = os.environ.get("KATA_CACHE")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("kata"))


class Cache:
    """Values that JSON can hold, one file each, under ``folder``. A folder that can't be written caches nothing;
    an entry that is damaged is as good as none. Processes may share it: entries appear by renaming."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Any | None:
        """The value kept under ``key``, None if there is none or it is damaged."""
        try:
            stored = self._path(key).read_bytes()
            digest, packed = stored[:_DIGEST], stored[_DIGEST:]
            if hashlib.sha256(packed).hexdigest().encode() != digest:
                return None
            return json.loads(zlib.decompress(packed))
        except (OSError, ValueError, zlib.error):
            return None

    def put(self, key: str, value: Any) -> None:
        """Keep ``value`` under ``key``; silently not where the folder can't be written."""
        packed = zlib.compress(json.dumps(value).encode(), 1)
        partial = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".new-", delete=False) as file:
                partial = Path(file.name)
                file.write(hashlib.sha256(packed).hexdigest().encode() + packed)
            partial.replace(self._path(key))
        except OSError:
            if partial is not None:
                partial.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.kata"
