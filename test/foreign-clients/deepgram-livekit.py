"""LiveKit's Deepgram plugin: live audio, the end of speech from us, a flush, and turns (STTv2)."""
import asyncio
import json
import os
import wave

from livekit import rtc
from livekit.agents import stt
from livekit.agents.utils import http_context
from livekit.plugins import deepgram

URL = os.environ["TRUNKLINE_URL"]
KEY = os.environ["TRUNKLINE_KEY"]
FRAME_SECONDS = 0.02
TIMEOUT_SECONDS = 20

with wave.open(os.path.join(os.environ["AUDIO_DIR"], "short.wav")) as recording:
    rate = recording.getframerate()
    sound = recording.readframes(recording.getnframes())
frame_bytes = int(2 * rate * FRAME_SECONDS)
silence = bytes(2 * frame_bytes * 50)


async def push(stream, pcm):
    for at in range(0, len(pcm) - frame_bytes + 1, frame_bytes):
        frame = rtc.AudioFrame(pcm[at : at + frame_bytes], rate, 1, frame_bytes // 2)
        stream.push_frame(frame)
        await asyncio.sleep(FRAME_SECONDS)


async def follow(stream, ended):
    events = []
    async for event in stream:
        events.append(event)
        if event.type == stt.SpeechEventType.END_OF_SPEECH:
            ended.set()
    return events


async def run(service):
    ended = asyncio.Event()
    stream = service.stream()
    events = asyncio.create_task(follow(stream, ended))
    await push(stream, sound + silence)
    await asyncio.wait_for(ended.wait(), TIMEOUT_SECONDS)
    stream.flush()
    stream.end_input()
    return await asyncio.wait_for(events, TIMEOUT_SECONDS)


def names(events):
    return [event.type.value for event in events]


def final_text(events):
    finals = [event for event in events if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT]
    return " ".join(event.alternatives[0].text for event in finals)


async def main():
    async with http_context.open():
        live = await run(deepgram.STT(api_key=KEY, base_url=f"{URL}/v1/listen", sample_rate=rate, language="en"))
        turns = await run(
            deepgram.STTv2(
                api_key=KEY,
                base_url=f"{URL.replace('http', 'ws')}/v2/listen",
                sample_rate=rate,
                eager_eot_threshold=0.4,
            )
        )
    print(
        json.dumps(
            {
                "text": final_text(live),
                "starts": names(live).count("start_of_speech"),
                "hasInterims": "interim_transcript" in names(live),
                "ends": names(live).count("end_of_speech"),
                "turnText": final_text(turns),
                "turnStarts": names(turns).count("start_of_speech"),
                "preflight": "preflight_transcript" in names(turns),
                "turnEnds": names(turns).count("end_of_speech"),
            }
        )
    )


asyncio.run(main())
os._exit(0)
