"""OpenAI's client for Python, by its address alone."""

import json
import os
import pathlib

from openai import AuthenticationError, OpenAI

base_url = os.environ["TRUNKLINE_URL"] + "/v1"
recording = pathlib.Path(os.environ["AUDIO_DIR"]) / "short.wav"
client = OpenAI(base_url=base_url, api_key=os.environ["TRUNKLINE_KEY"], max_retries=0)

whole = client.audio.transcriptions.create(file=recording, model="gpt-4o-transcribe")
verbose = client.audio.transcriptions.create(
    file=recording, model="whisper-1", response_format="verbose_json", timestamp_granularities=["word"]
)
deltas, done = "", None
for event in client.audio.transcriptions.create(file=recording, model="gpt-4o-transcribe", stream=True):
    if event.type == "transcript.text.delta":
        deltas += event.delta
    else:
        done = event.text
speech = client.audio.speech.create(model="tts-1", voice="alloy", input="Hello.", response_format="wav").read()
try:
    OpenAI(base_url=base_url, api_key="wrong", max_retries=0).models.list()
    refusal = "none"
except AuthenticationError as error:
    refusal = f"{type(error).__name__} {error.status_code}"

print(
    json.dumps(
        {
            "text": whole.text,
            "words": len(verbose.words),
            "streamed": done if deltas == done else {"deltas": deltas, "done": done},
            "speech": speech[:4].decode(),
            "refusal": refusal,
        }
    )
)
