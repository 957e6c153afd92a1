"""Deepgram's SDK for Python, version 7: a recording, speech by REST and by socket, heard again; a short-lived key."""
import json
import os
from pathlib import Path

from deepgram import DeepgramClient
from deepgram.core.api_error import ApiError
from deepgram.environment import DeepgramClientEnvironment
from deepgram.speak.v1.types import SpeakV1Text

HTTP = os.environ["TRUNKLINE_URL"]
WS = HTTP.replace("http", "ws")
SENTENCE = "Please leave a message after the tone."
VOICE = "aura-2-thalia-en"
recording = Path(os.environ["AUDIO_DIR"], "short.wav").read_bytes()
environment = DeepgramClientEnvironment(base=HTTP, production=WS, agent=WS, agent_rest=HTTP)
deepgram = DeepgramClient(api_key=os.environ["TRUNKLINE_KEY"], environment=environment)
#: `transcribe_file` has no parameter for the rate of bare samples.
BARE = {"encoding": "linear16", "request_options": {"additional_query_parameters": {"sample_rate": "8000"}}}


def hear(sound, **options):
    answer = deepgram.listen.v1.media.transcribe_file(request=sound, punctuate=True, **options)
    return answer.results.channels[0].alternatives[0]


def refusal(client, sound):
    try:
        client.listen.v1.media.transcribe_file(request=sound)
    except ApiError as error:
        return f"{type(error).__name__} {error.status_code}"
    return "none"


def speak_live():
    events, sound = [], bytearray()
    with deepgram.speak.v1.connect(model=VOICE, encoding="linear16", sample_rate="8000") as socket:
        for word in SENTENCE.split(" "):
            socket.send_text(SpeakV1Text(text=f"{word} "))
        socket.send_flush()
        while events[-1:] != ["Flushed"]:
            message = socket.recv()
            if isinstance(message, bytes):
                sound.extend(message)
            kind = "sound" if isinstance(message, bytes) else message.type
            if kind != "sound" or events[-1:] != ["sound"]:
                events.append(kind)
        socket.send_close()
    return events, bytes(sound)


file = hear(recording)
spoken = b"".join(
    deepgram.speak.v1.audio.generate(
        text=SENTENCE, model=VOICE, encoding="linear16", sample_rate=8000, container="none"
    )
)
events, live = speak_live()
refused = DeepgramClient(api_key="a-wrong-key", environment=environment)
print(
    json.dumps(
        {
            "text": file.transcript,
            "words": len(file.words),
            "rubbish": refusal(deepgram, b"no sound at all"),
            "spoken": hear(spoken, **BARE).transcript,
            "events": events,
            "spokenLive": hear(live, **BARE).transcript,
            "grantSeconds": deepgram.auth.v1.tokens.grant(ttl_seconds=30).expires_in,
            "refusal": refusal(refused, b"none"),
        }
    )
)
os._exit(0)
