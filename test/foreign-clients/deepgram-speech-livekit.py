"""LiveKit's Deepgram plugin: a recording as text; speech by REST and by socket, heard again."""
import asyncio
import json
import os
import wave

from livekit import rtc
from livekit.agents.utils import http_context
from livekit.plugins import deepgram

URL = os.environ["TRUNKLINE_URL"]
KEY = os.environ["TRUNKLINE_KEY"]
SENTENCE = "Please leave a message after the tone."
RATE_HZ = 24000
TIMEOUT_SECONDS = 40


def recording():
    with wave.open(os.path.join(os.environ["AUDIO_DIR"], "short.wav")) as file:
        return rtc.AudioFrame(file.readframes(file.getnframes()), file.getframerate(), 1, file.getnframes())


async def collect(stream):
    return rtc.combine_audio_frames([event.frame async for event in stream])


async def speak_live(tts):
    stream = tts.stream()
    for word in SENTENCE.split(" "):
        stream.push_text(f"{word} ")
    stream.flush()
    stream.end_input()
    return await asyncio.wait_for(collect(stream), TIMEOUT_SECONDS)


async def main():
    async with http_context.open():
        stt = deepgram.STT(api_key=KEY, base_url=f"{URL}/v1/listen", language="en")
        tts = deepgram.TTS(api_key=KEY, base_url=f"{URL}/v1/speak", sample_rate=RATE_HZ)

        async def hear(frame):
            return (await stt.recognize(frame)).alternatives[0].text

        spoken = await asyncio.wait_for(collect(tts.synthesize(SENTENCE)), TIMEOUT_SECONDS)
        live = await speak_live(tts)
        seen = {
            "text": await hear(recording()),
            "spoken": await hear(spoken),
            "spokenLive": await hear(live),
            "ratesHz": [spoken.sample_rate, live.sample_rate],
        }
    print(json.dumps(seen))


asyncio.run(main())
os._exit(0)
