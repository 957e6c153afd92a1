# OpenAI's SDK for Python: a transcription session, from sound to the transcript.
import asyncio
import base64
import json
import os
import wave

from openai import AsyncOpenAI

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 8000
MESSAGE_MS = 100
SILENCE_MS = 1500


def sound():
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        return file.readframes(file.getnframes()) + bytes(2 * RATE_HZ * SILENCE_MS // 1000)


async def main():
    client = AsyncOpenAI(api_key=KEY, base_url=f"{URL}/v1")
    seen = []
    async with client.realtime.connect(model="gpt-4o-transcribe", extra_query={"intent": "transcription"}) as session:
        audio_input = {
            "format": {"type": "audio/pcm", "rate": RATE_HZ},
            "transcription": {"model": "gpt-4o-transcribe", "language": "en"},
            "turn_detection": {"type": "server_vad", "silence_duration_ms": 900},
        }
        await session.session.update(session={"type": "transcription", "audio": {"input": audio_input}})

        async def send():
            pcm = sound()
            step = 2 * RATE_HZ * MESSAGE_MS // 1000
            for at in range(0, len(pcm), step):
                await session.input_audio_buffer.append(audio=base64.b64encode(pcm[at : at + step]).decode())
                await asyncio.sleep(MESSAGE_MS / 1000)

        sending = asyncio.create_task(send())
        async for event in session:
            # A busy machine has no text before the end of what is said.
            if event.type not in seen and not event.type.endswith(".delta"):
                seen.append(event.type)
            if event.type == "conversation.item.input_audio_transcription.completed":
                break
        await sending
        print(json.dumps({"events": seen, "transcript": event.transcript, "seconds": event.usage.seconds}))


asyncio.run(main())
