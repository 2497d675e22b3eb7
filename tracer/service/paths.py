"""Where things are when nobody says so."""

import os
import sys
from pathlib import Path

from tracer.ingest import default_root

__all__ = ["default_db_path", "default_root"]


def default_db_path() -> Path:
    """The database where neither `--db` nor TRACER_DB names one: in the platform's data folder."""
    named = os.environ.get("TRACER_DB")
    if named:
        return Path(named).expanduser()
    return _data_folder() / "context-tracer" / "tracer.db"


def _data_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local")))
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
