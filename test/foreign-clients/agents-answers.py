# OpenAI's agents SDK for Python: an agent with a tool, which speaks, and is interrupted.
import asyncio
import json
import os
import urllib.request
import wave

from agents import function_tool
from agents.realtime import RealtimeAgent, RealtimeRunner

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 24000
TIMES = 3
MESSAGE_MS = 100
SILENCE_MS = 1500
HEARD_SECONDS = 1.5

seen = {"tool": None, "interrupted": False, "truncated": False, "dones": [], "errors": []}
answers = {}


@function_tool
def save_message(caller: str) -> str:
    """Saves what the caller said."""
    seen["tool"] = {"caller": caller}
    return "saved"


def sound():
    """Each sample three times over: the SDK has no format at 8 kHz but G.711."""
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        pcm = file.readframes(file.getnframes())
    up = b"".join(pcm[at : at + 2] * TIMES for at in range(0, len(pcm), 2))
    return up + bytes(2 * RATE_HZ * SILENCE_MS // 1000)


def hear(pcm):
    query = f"encoding=linear16&sample_rate={RATE_HZ}&punctuate=true"
    request = urllib.request.Request(f"{URL}/v1/listen?{query}", bytes(pcm), {"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["results"]["channels"][0]["alternatives"][0]["transcript"]


async def until(holds):
    for _ in range(600):
        if holds():
            return
        await asyncio.sleep(MESSAGE_MS / 1000)


async def say(session):
    pcm = sound()
    step = 2 * RATE_HZ * MESSAGE_MS // 1000
    for at in range(0, len(pcm), step):
        await session.send_audio(pcm[at : at + step])
        await asyncio.sleep(MESSAGE_MS / 1000)


async def follow(session):
    async for event in session:
        if event.type == "error":
            seen["errors"].append(str(event.error))
        elif event.type == "audio":
            answers.setdefault(event.item_id, bytearray()).extend(event.audio.data)
        elif event.type == "audio_interrupted":
            seen["interrupted"] = True
        elif event.type == "raw_model_event" and event.data.type == "raw_server_event":
            seen["truncated"] |= event.data.data["type"] == "conversation.item.truncated"
            if event.data.data["type"] == "response.done":
                seen["dones"].append(event.data.data["response"]["status"])


async def main():
    runner = RealtimeRunner(
        starting_agent=RealtimeAgent(name="clerk", instructions="Be brief.", tools=[save_message]),
        config={
            "model_settings": {
                "input_audio_format": "pcm16",
                "output_audio_format": "pcm16",
                "turn_detection": {"type": "server_vad"},
            }
        },
    )
    address = f"{URL.replace('http', 'ws')}/v1/realtime?model=gpt-realtime"
    session = await runner.run(model_config={"url": address, "api_key": KEY})
    async with session:
        following = asyncio.create_task(follow(session))
        await say(session)
        await until(lambda: len(answers) == 1)
        await asyncio.sleep(HEARD_SECONDS)
        await say(session)
        await until(lambda: len(answers) == 2 and len(seen["dones"]) == 3)
        following.cancel()
    told, last = (hear(pcm) for pcm in answers.values())
    print(json.dumps({**seen, "told": told, "last": last}))


asyncio.run(main())
