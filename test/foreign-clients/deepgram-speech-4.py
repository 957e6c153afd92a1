"""Deepgram's SDK for Python, versions 3 and 4: a recording, speech by REST and by socket, heard again."""
import json
import os
import threading
from pathlib import Path

from deepgram import (
    DeepgramClient,
    DeepgramClientOptions,
    PrerecordedOptions,
    SpeakOptions,
    SpeakWebSocketEvents,
    SpeakWSOptions,
)

URL = os.environ["TRUNKLINE_URL"]
SENTENCE = "Please leave a message after the tone."
VOICE = "aura-2-thalia-en"
BARE = {"encoding": "linear16", "sample_rate": 8000}
TIMEOUT_SECONDS = 30
recording = Path(os.environ["AUDIO_DIR"], "short.wav").read_bytes()


def connect(key):
    return DeepgramClient(key, DeepgramClientOptions(url=URL))


deepgram = connect(os.environ["TRUNKLINE_KEY"])


def hear(sound, **options):
    answer = deepgram.listen.rest.v("1").transcribe_file({"buffer": sound}, PrerecordedOptions(punctuate=True, **options))
    return answer.results.channels[0].alternatives[0]


def refusal(client, sound):
    try:
        client.listen.rest.v("1").transcribe_file({"buffer": sound}, PrerecordedOptions())
    except Exception as error:
        return f"{type(error).__name__} {error.status}"
    return "none"


def speak_live():
    socket = deepgram.speak.websocket.v("1")
    events, sound, flushed = [], bytearray(), threading.Event()

    def told(name):
        def on_event(*_arguments, **_named):
            events.append(name)
            if name == "Flushed":
                flushed.set()

        return on_event

    def on_sound(_self, data, **_named):
        sound.extend(data)
        if events[-1:] != ["sound"]:
            events.append("sound")

    for event in (SpeakWebSocketEvents.Metadata, SpeakWebSocketEvents.Flushed, SpeakWebSocketEvents.Warning):
        socket.on(event, told(event.value))
    socket.on(SpeakWebSocketEvents.Error, told("Error"))
    socket.on(SpeakWebSocketEvents.AudioData, on_sound)
    socket.start(SpeakWSOptions(model=VOICE, **BARE))
    for word in SENTENCE.split(" "):
        socket.send_text(f"{word} ")
    socket.flush()
    flushed.wait(TIMEOUT_SECONDS)
    socket.finish()
    return events, bytes(sound)


file = hear(recording)
spoken = deepgram.speak.rest.v("1").stream_memory(
    {"text": SENTENCE}, SpeakOptions(model=VOICE, container="none", **BARE)
)
events, live = speak_live()
print(
    json.dumps(
        {
            "text": file.transcript,
            "words": len(file.words),
            "rubbish": refusal(deepgram, b"no sound at all"),
            "spoken": hear(spoken.stream_memory.getvalue(), **BARE).transcript,
            "characters": spoken.characters,
            "events": events,
            "spokenLive": hear(live, **BARE).transcript,
            "refusal": refusal(connect("a-wrong-key"), b"none"),
        }
    )
)
os._exit(0)
