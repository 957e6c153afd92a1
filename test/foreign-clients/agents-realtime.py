# OpenAI's agents SDK for Python: what the user said gets into the history of the session.
import asyncio
import json
import os
import wave

from agents.realtime import RealtimeAgent, RealtimeRunner

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 24000
TIMES = 3
MESSAGE_MS = 100
SILENCE_MS = 1500


def sound():
    """Each sample three times over: the SDK has no format at 8 kHz but G.711."""
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        pcm = file.readframes(file.getnframes())
    up = b"".join(pcm[at : at + 2] * TIMES for at in range(0, len(pcm), 2))
    return up + bytes(2 * RATE_HZ * SILENCE_MS // 1000)


async def main():
    runner = RealtimeRunner(
        starting_agent=RealtimeAgent(name="clerk", instructions="Be brief."),
        config={"model_settings": {"input_audio_format": "pcm16", "turn_detection": {"type": "server_vad"}}},
    )
    address = f"{URL.replace('http', 'ws')}/v1/realtime?model=gpt-realtime"
    session = await runner.run(model_config={"url": address, "api_key": KEY})
    errors, transcript = [], None
    async with session:

        async def send():
            pcm = sound()
            step = 2 * RATE_HZ * MESSAGE_MS // 1000
            for at in range(0, len(pcm), step):
                await session.send_audio(pcm[at : at + step])
                await asyncio.sleep(MESSAGE_MS / 1000)

        sending = asyncio.create_task(send())
        async for event in session:
            if event.type == "error":
                errors.append(str(event.error))
            if event.type == "history_updated":
                parts = [part for item in event.history for part in getattr(item, "content", [])]
                transcript = next((part.transcript for part in parts if getattr(part, "transcript", None)), None)
                if transcript:
                    break
        await sending
    print(json.dumps({"transcript": transcript, "errors": errors}))


asyncio.run(main())
