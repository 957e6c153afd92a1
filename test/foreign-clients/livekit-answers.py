# LiveKit's realtime model for OpenAI: a tool is called, its answer is heard, and an interruption cuts it.
import asyncio
import json
import os
import time
import urllib.request
import wave

from livekit import rtc
from livekit.agents import function_tool, llm
from livekit.agents.utils import http_context
from livekit.plugins import openai
from openai.types.realtime.realtime_audio_input_turn_detection import ServerVad

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 8000
OUT_RATE_HZ = 24000
FRAME_MS = 20
SILENCE_MS = 1500
HEARD_SECONDS = 1.5

seen = {"tool": None, "interrupted": False, "truncated": False, "errors": []}
answers = []


@function_tool
async def save_message(caller: str) -> str:
    """Saves what the caller said."""
    return "saved"


def hear(pcm):
    query = f"encoding=linear16&sample_rate={OUT_RATE_HZ}&punctuate=true"
    request = urllib.request.Request(f"{URL}/v1/listen?{query}", bytes(pcm), {"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["results"]["channels"][0]["alternatives"][0]["transcript"]


async def until(holds):
    for _ in range(600):
        if holds():
            return
        await asyncio.sleep(0.1)


async def say(session):
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        pcm = file.readframes(file.getnframes()) + bytes(2 * RATE_HZ * SILENCE_MS // 1000)
    step = 2 * RATE_HZ * FRAME_MS // 1000
    for at in range(0, len(pcm) - step, step):
        session.push_audio(rtc.AudioFrame(pcm[at : at + step], RATE_HZ, 1, step // 2))
        await asyncio.sleep(FRAME_MS / 1000)


async def answer_call(session, call):
    seen["tool"] = json.loads(call.arguments)
    context = session.chat_ctx.copy()
    context.items.append(
        llm.FunctionCallOutput(call_id=call.call_id, name=call.name, output="saved", is_error=False)
    )
    await session.update_chat_ctx(context)
    session.generate_reply()


async def follow(session, generation):
    async def messages():
        async for message in generation.message_stream:
            answer = {"id": message.message_id, "from": time.monotonic(), "sound": bytearray(), "done": False}
            async for frame in message.audio_stream:
                if answer not in answers:
                    answers.append(answer)
                answer["sound"].extend(bytes(frame.data))
            answer["done"] = True

    async def calls():
        async for call in generation.function_stream:
            await answer_call(session, call)

    await asyncio.gather(messages(), calls())


def on_speech_started(session):
    if answers and not answers[-1]["done"]:
        seen["interrupted"] = True
        end = int((time.monotonic() - answers[-1]["from"]) * 1000)
        session.interrupt()
        session.truncate(message_id=answers[-1]["id"], modalities=["audio"], audio_end_ms=end)


def on_event(event):
    if event["type"] == "conversation.item.truncated":
        seen["truncated"] = True


async def main():
    tasks = set()
    async with http_context.open():
        turns = ServerVad(type="server_vad")
        model = openai.realtime.RealtimeModel(base_url=f"{URL}/v1", api_key=KEY, turn_detection=turns)
        session = model.session()
        session.on("generation_created", lambda event: tasks.add(asyncio.create_task(follow(session, event))))
        session.on("input_speech_started", lambda _event: on_speech_started(session))
        session.on("openai_server_event_received", on_event)
        session.on("error", lambda event: seen["errors"].append(str(event.error)))
        await session.update_instructions("Be brief.")
        await session.update_tools([save_message])
        await say(session)
        await until(lambda: len(answers) == 1)
        await asyncio.sleep(HEARD_SECONDS)
        await say(session)
        await until(lambda: len(answers) == 2 and answers[1]["done"])
        told, last = (hear(answer["sound"]) for answer in answers)
        print(json.dumps({**seen, "told": told, "last": last}), flush=True)
        os._exit(0)


asyncio.run(main())
