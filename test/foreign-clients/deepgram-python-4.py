"""Deepgram's SDK for Python, versions 3 and 4: live audio, a Finalize, and the end."""
import json
import os
import time
import wave

from deepgram import DeepgramClient, DeepgramClientOptions, LiveOptions, LiveTranscriptionEvents

URL = os.environ["TRUNKLINE_URL"]
KEY = os.environ["TRUNKLINE_KEY"]
FRAME_SECONDS = 0.02

seen = {"results": [], "started": 0, "ends": 0, "metadata": 0, "errors": 0, "closed": 0, "events": {}}


def count(name):
    def on_event(*_arguments, **_named):
        seen[name] += 1
        seen["events"][name] = True

    return on_event


def on_results(_self, result, **_named):
    seen["results"].append(result)
    seen["events"]["results"] = True


def until(holds):
    for _ in range(1500):
        if holds():
            return
        time.sleep(FRAME_SECONDS)


def connect(key):
    live = DeepgramClient(key, DeepgramClientOptions(url=URL)).listen.websocket.v("1")
    live.on(LiveTranscriptionEvents.Transcript, on_results)
    live.on(LiveTranscriptionEvents.SpeechStarted, count("started"))
    live.on(LiveTranscriptionEvents.UtteranceEnd, count("ends"))
    live.on(LiveTranscriptionEvents.Metadata, count("metadata"))
    live.on(LiveTranscriptionEvents.Error, count("errors"))
    live.on(LiveTranscriptionEvents.Close, count("closed"))
    return live


with wave.open(os.path.join(os.environ["AUDIO_DIR"], "short.wav")) as recording:
    rate = recording.getframerate()
    sound = recording.readframes(recording.getnframes())
options = LiveOptions(
    model="nova-3",
    encoding="linear16",
    sample_rate=rate,
    interim_results=True,
    punctuate=True,
    vad_events=True,
    utterance_end_ms="1000",
)
live = connect(KEY)
started = live.start(options)
frame_bytes = int(2 * rate * FRAME_SECONDS)
sound += bytes(2 * frame_bytes * 50)
for at in range(0, len(sound), frame_bytes):
    live.send(sound[at : at + frame_bytes])
    time.sleep(FRAME_SECONDS)
live.keep_alive()
until(lambda: seen["ends"] > 0)
live.finalize()
until(lambda: any(result.from_finalize for result in seen["results"]))
live.finish()
errors, events = seen["errors"], [name for name in seen["events"] if name != "closed"]
refused = connect("a-wrong-key").start(options)
finals = [result for result in seen["results"] if result.is_final]
texts = [result.channel.alternatives[0].transcript for result in finals]
print(
    json.dumps(
        {
            "events": events,
            "started": started,
            "text": " ".join(texts).strip(),
            "hasInterims": any(not result.is_final for result in seen["results"]),
            "speechFinals": sum(1 for at, result in enumerate(finals) if result.speech_final and texts[at]),
            "fromFinalize": sum(1 for result in finals if result.from_finalize),
            "firstWordHasTimes": finals[0].channel.alternatives[0].words[0].end > 0,
            "speechStarted": seen["started"] > 0,
            "utteranceEnds": seen["ends"],
            "metadata": seen["metadata"],
            "errors": errors,
            "refused": not refused,
        }
    )
)
os._exit(0)
