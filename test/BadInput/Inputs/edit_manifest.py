#!/usr/bin/env python3
"""Edits the manifest of a bundle: edit_manifest.py BUNDLE STATEMENT, where the manifest is `m`."""
import json
import pathlib
import sys

path = pathlib.Path(sys.argv[1]) / "manifest.json"
m = json.loads(path.read_text())
exec(sys.argv[2])
path.write_text(json.dumps(m))
