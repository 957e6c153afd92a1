# OpenAI's SDK for Python: a session that speaks. A tool is called, its answer is heard, and an interruption cuts it.
import asyncio
import base64
import json
import os
import time
import urllib.request
import wave

from openai import AsyncOpenAI

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 8000
OUT_RATE_HZ = 24000
MESSAGE_MS = 100
SILENCE_MS = 1500
HEARD_SECONDS = 1.5

TOOL = {
    "type": "function",
    "name": "save_message",
    "description": "Saves what the caller said.",
    "parameters": {"type": "object", "properties": {"caller": {"type": "string"}}, "required": ["caller"]},
}
SESSION = {
    "type": "realtime",
    "instructions": "Be brief.",
    "tools": [TOOL],
    "audio": {
        "input": {"format": {"type": "audio/pcm", "rate": RATE_HZ}, "turn_detection": {"type": "server_vad"}},
        "output": {"format": {"type": "audio/pcm", "rate": OUT_RATE_HZ}, "voice": "marin"},
    },
}


def hear(sound):
    query = f"encoding=linear16&sample_rate={OUT_RATE_HZ}&punctuate=true"
    request = urllib.request.Request(f"{URL}/v1/listen?{query}", bytes(sound), {"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["results"]["channels"][0]["alternatives"][0]["transcript"]


async def until(holds):
    for _ in range(600):
        if holds():
            return
        await asyncio.sleep(MESSAGE_MS / 1000)


async def say(session):
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        pcm = file.readframes(file.getnframes()) + bytes(2 * RATE_HZ * SILENCE_MS // 1000)
    step = 2 * RATE_HZ * MESSAGE_MS // 1000
    for at in range(0, len(pcm), step):
        await session.input_audio_buffer.append(audio=base64.b64encode(pcm[at : at + step]).decode())
        await asyncio.sleep(MESSAGE_MS / 1000)


async def follow(session, seen, answers):
    async for event in session:
        if event.type == "error":
            seen["errors"].append(event.error.message)
        elif event.type == "response.output_audio.delta":
            answer = answers.setdefault(event.item_id, {"from": time.monotonic(), "sound": bytearray()})
            answer["sound"].extend(base64.b64decode(event.delta))
        elif event.type == "response.function_call_arguments.done":
            seen["tool"] = {"name": event.name, "args": json.loads(event.arguments)}
            output = {"type": "function_call_output", "call_id": event.call_id, "output": '"saved"'}
            await session.conversation.item.create(item=output)
            await session.response.create()
        elif event.type == "response.done":
            reason = event.response.status_details and event.response.status_details.reason
            seen["dones"].append(f"{event.response.status}: {reason}" if reason else event.response.status)
        elif event.type == "input_audio_buffer.speech_started" and answers:
            item_id, answer = list(answers.items())[-1]
            end = int((time.monotonic() - answer["from"]) * 1000)
            await session.conversation.item.truncate(item_id=item_id, content_index=0, audio_end_ms=end)
        elif event.type == "conversation.item.truncated":
            seen["truncated"] = True


async def main():
    client = AsyncOpenAI(api_key=KEY, base_url=f"{URL}/v1")
    seen, answers = {"tool": None, "truncated": False, "dones": [], "errors": []}, {}
    async with client.realtime.connect(model="gpt-realtime") as session:
        await session.session.update(session=SESSION)
        following = asyncio.create_task(follow(session, seen, answers))
        await say(session)
        await until(lambda: len(answers) == 1)
        await asyncio.sleep(HEARD_SECONDS)
        await say(session)
        await until(lambda: len(answers) == 2 and len(seen["dones"]) == 3)
        following.cancel()
    told, last = (hear(answer["sound"]) for answer in answers.values())
    print(json.dumps({**seen, "told": told, "last": last}))


asyncio.run(main())
