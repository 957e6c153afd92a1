"""Deepgram's SDK for Python, version 7: live audio, a Finalize, the end; then Flux."""
import json
import os
import threading
import time
import wave

from deepgram import DeepgramClient
from deepgram.core.events import EventType
from deepgram.environment import DeepgramClientEnvironment

HTTP = os.environ["TRUNKLINE_URL"]
WS = HTTP.replace("http", "ws")
FRAME_SECONDS = 0.02

environment = DeepgramClientEnvironment(base=HTTP, production=WS, agent=WS, agent_rest=HTTP)
client = DeepgramClient(api_key=os.environ["TRUNKLINE_KEY"], environment=environment)


def until(holds):
    for _ in range(1500):
        if holds():
            return
        time.sleep(FRAME_SECONDS)


def follow(socket):
    messages = []
    errors = []
    socket.on(EventType.MESSAGE, messages.append)
    socket.on(EventType.ERROR, errors.append)
    thread = threading.Thread(target=socket.start_listening, daemon=True)
    thread.start()
    return messages, errors, thread


with wave.open(os.path.join(os.environ["AUDIO_DIR"], "short.wav")) as recording:
    rate = recording.getframerate()
    sound = recording.readframes(recording.getnframes())
frame_bytes = int(2 * rate * FRAME_SECONDS)
sound += bytes(2 * frame_bytes * 50)


def send(socket):
    for at in range(0, len(sound), frame_bytes):
        socket.send_media(sound[at : at + frame_bytes])
        time.sleep(FRAME_SECONDS)


def of(messages, kind):
    return [message for message in messages if getattr(message, "type", None) == kind]


options = {"model": "nova-3", "encoding": "linear16", "sample_rate": str(rate)}
live = {"interim_results": "true", "punctuate": "true", "vad_events": "true", "utterance_end_ms": "1000"}
with client.listen.v1.connect(**options, **live) as socket:
    messages, errors, thread = follow(socket)
    send(socket)
    socket.send_keep_alive()
    until(lambda: of(messages, "UtteranceEnd"))
    socket.send_finalize()
    until(lambda: any(result.from_finalize for result in of(messages, "Results")))
    socket.send_close_stream()
    thread.join(5)
results = of(messages, "Results")
finals = [result for result in results if result.is_final]
texts = [result.channel.alternatives[0].transcript for result in finals]

flux = {"model": "flux-general-en", "encoding": "linear16", "sample_rate": str(rate), "eager_eot_threshold": "0.4"}
with client.listen.v2.connect(**flux) as socket:
    turns, flux_errors, thread = follow(socket)
    send(socket)
    until(lambda: any(getattr(turn, "event", "") == "EndOfTurn" for turn in turns))
    socket.send_close_stream()
    thread.join(5)
ended = [turn for turn in turns if getattr(turn, "event", "") == "EndOfTurn"]
print(
    json.dumps(
        {
            "events": list(dict.fromkeys(message.type for message in messages if message)),
            "text": " ".join(texts).strip(),
            "hasInterims": any(not result.is_final for result in results),
            "speechFinals": sum(1 for at, result in enumerate(finals) if result.speech_final and texts[at]),
            "fromFinalize": sum(1 for result in finals if result.from_finalize),
            "model": bool(finals[0].metadata.model_info.name),
            "speechStarted": len(of(messages, "SpeechStarted")) > 0,
            "utteranceEnds": len(of(messages, "UtteranceEnd")),
            "metadata": len(of(messages, "Metadata")),
            "unknown": sum(1 for message in messages + turns if message is None),
            "errors": len(errors),
            "turn": ended[0].transcript if ended else None,
            "eager": any(getattr(turn, "event", "") == "EagerEndOfTurn" for turn in turns),
            "fluxErrors": len(flux_errors),
        }
    )
)
os._exit(0)
