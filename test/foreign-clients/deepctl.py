"""Deepgram's command line, by its own variables for address and key: a recording as text; a wrong key."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("deepctl")
RECORDING = Path(os.environ["AUDIO_DIR"], "short.wav")


def listen(key):
    own = {"DEEPGRAM_BASE_URL": os.environ["TRUNKLINE_URL"], "DEEPGRAM_API_KEY": key, "DEEPCTL_TELEMETRY_DISABLED": "1"}
    command = [PROGRAM, "--non-interactive", "-o", "json", "listen", RECORDING]
    return subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, timeout=60, check=False)


heard = listen(os.environ["TRUNKLINE_KEY"])
print(heard.stderr, file=sys.stderr)
alternative = json.loads(heard.stdout)["results"]["channels"][0]["alternatives"][0]
refused = listen("wrong").returncode != 0
print(json.dumps({"text": alternative["transcript"], "words": len(alternative["words"]), "refused": refused}))
