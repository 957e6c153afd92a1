"""wyoming-openai, which Home Assistant speaks with: a recording as text, and a text as speech, heard again."""

import asyncio
import json
import os
import socket
import sys
import wave
from pathlib import Path

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize, SynthesizeVoice

URL = os.environ["TRUNKLINE_URL"] + "/v1"
KEY = os.environ["TRUNKLINE_KEY"]
PIECE_FRAMES = 1024


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def connected(port):
    for _ in range(300):
        try:
            client = AsyncTcpClient("127.0.0.1", port)
            await client.connect()
            return client
        except OSError:
            await asyncio.sleep(0.1)
    raise TimeoutError("wyoming-openai does not listen")


async def transcribe(client, sound, rate):
    await client.write_event(Transcribe(language="en").event())
    form = {"rate": rate, "width": 2, "channels": 1}
    await client.write_event(AudioStart(**form).event())
    for at in range(0, len(sound), 2 * PIECE_FRAMES):
        await client.write_event(AudioChunk(audio=sound[at : at + 2 * PIECE_FRAMES], **form).event())
    await client.write_event(AudioStop().event())
    while event := await client.read_event():
        if Transcript.is_type(event.type):
            return Transcript.from_event(event).text
    raise ConnectionError("the connection ended before the transcript")


async def speak(client, text):
    await client.write_event(Synthesize(text=text, voice=SynthesizeVoice(name="alloy")).event())
    sound, rate = bytearray(), 0
    while event := await client.read_event():
        if AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            sound.extend(chunk.audio)
            rate = chunk.rate
        if AudioStop.is_type(event.type):
            return bytes(sound), rate
    raise ConnectionError("the connection ended before the sound")


async def main():
    port = free_port()
    address = ["--uri", f"tcp://127.0.0.1:{port}", "--languages", "en"]
    stt = ["--stt-openai-url", URL, "--stt-openai-key", KEY, "--stt-models", "gpt-4o-transcribe"]
    tts = ["--tts-openai-url", URL, "--tts-openai-key", KEY, "--tts-models", "tts-1", "--tts-voices", "alloy"]
    command = [sys.executable, "-m", "wyoming_openai", *address, *stt, *tts]
    program = await asyncio.create_subprocess_exec(*command, stdout=sys.stderr)
    try:
        client = await connected(port)
        await client.write_event(Describe().event())
        info = Info.from_event(await client.read_event())
        with wave.open(str(Path(os.environ["AUDIO_DIR"], "short.wav"))) as recording:
            rate = recording.getframerate()
            sound = recording.readframes(recording.getnframes())
        text = await transcribe(client, sound, rate)
        speaker = await connected(port)
        spoken, spoken_rate = await speak(speaker, "Please leave a message after the tone.")
        listener = await connected(port)
        again = await transcribe(listener, spoken, spoken_rate)
        seen = {"asr": len(info.asr), "tts": len(info.tts), "text": text, "spoken": again}
        print(json.dumps(seen))
    finally:
        program.kill()
        await program.wait()


asyncio.run(main())
