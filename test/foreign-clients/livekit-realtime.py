# LiveKit's STT over OpenAI's Realtime API: speech begins and ends where the server says so.
import asyncio
import json
import os
import wave

from livekit import rtc
from livekit.agents.utils import http_context
from livekit.plugins import openai

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 8000
FRAME_MS = 20
SILENCE_MS = 1500


async def main():
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        pcm = file.readframes(file.getnframes()) + bytes(2 * RATE_HZ * SILENCE_MS // 1000)
    seen, transcript = [], ""
    async with http_context.open():
        stt = openai.STT(use_realtime=True, base_url=f"{URL}/v1", api_key=KEY, model="gpt-4o-transcribe", language="en")
        stream = stt.stream()

        async def feed():
            step = 2 * RATE_HZ * FRAME_MS // 1000
            for at in range(0, len(pcm) - step, step):
                stream.push_frame(rtc.AudioFrame(pcm[at : at + step], RATE_HZ, 1, step // 2))
                await asyncio.sleep(FRAME_MS / 1000)

        feeding = asyncio.create_task(feed())
        async for event in stream:
            kind = str(event.type.value)
            # A busy machine has no text before the end of what is said.
            if kind not in seen and kind != "interim_transcript":
                seen.append(kind)
            if kind == "final_transcript":
                transcript += event.alternatives[0].text
                break
        await feeding
        await stream.aclose()
    print(json.dumps({"events": seen, "transcript": transcript}))


asyncio.run(main())
