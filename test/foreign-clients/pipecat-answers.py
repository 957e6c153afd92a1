# pipecat's service for OpenAI's Realtime API: a tool is called, its answer is heard, and an interruption cuts it.
import asyncio
import json
import os
import urllib.request
import wave

from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    ErrorFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMRunFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.realtime.events import AudioConfiguration, AudioInput, SessionProperties, TurnDetection
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 8000
OUT_RATE_HZ = 24000
FRAME_MS = 20
SILENCE_MS = 1500
HEARD_SECONDS = 1.5

seen = {"tool": None, "interrupted": False, "errors": []}
answers = []


class Sink(FrameProcessor):
    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSStartedFrame):
            answers.append({"sound": bytearray(), "done": False})
        elif isinstance(frame, TTSAudioRawFrame):
            answers[-1]["sound"].extend(frame.audio)
        elif isinstance(frame, TTSStoppedFrame) and answers:
            answers[-1]["done"] = True
        elif isinstance(frame, InterruptionFrame) and answers and not answers[-1]["done"]:
            seen["interrupted"] = True
        elif isinstance(frame, ErrorFrame):
            seen["errors"].append(frame.error)
        await self.push_frame(frame, direction)


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


async def say(task):
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        pcm = file.readframes(file.getnframes()) + bytes(2 * RATE_HZ * SILENCE_MS // 1000)
    step = 2 * RATE_HZ * FRAME_MS // 1000
    for at in range(0, len(pcm), step):
        await task.queue_frame(InputAudioRawFrame(pcm[at : at + step], RATE_HZ, 1))
        await asyncio.sleep(FRAME_MS / 1000)


async def save_message(params):
    seen["tool"] = dict(params.arguments)
    await params.result_callback({"state": "saved"})


async def main():
    audio = AudioConfiguration(input=AudioInput(turn_detection=TurnDetection(type="server_vad")))
    service = OpenAIRealtimeLLMService(
        api_key=KEY,
        base_url=f"{URL.replace('http', 'ws')}/v1/realtime",
        settings=OpenAIRealtimeLLMService.Settings(
            system_instruction="Be brief.", session_properties=SessionProperties(audio=audio)
        ),
    )
    service.register_function("save_message", save_message)
    tool = FunctionSchema("save_message", "Saves what the caller said.", {"caller": {"type": "string"}}, ["caller"])
    users, assistants = LLMContextAggregatorPair(LLMContext(tools=ToolsSchema(standard_tools=[tool])))
    task = PipelineTask(
        Pipeline([users, service, Sink(), assistants]),
        params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=OUT_RATE_HZ),
    )
    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    await task.queue_frame(LLMRunFrame())
    await until(lambda: len(answers) == 1 and answers[0]["done"])
    await say(task)
    await until(lambda: len(answers) == 2)
    await asyncio.sleep(HEARD_SECONDS)
    await say(task)
    await until(lambda: len(answers) == 3 and answers[2]["done"])
    greeting, told, last = (hear(answer["sound"]) for answer in answers)
    print(json.dumps({**seen, "greeting": greeting, "told": told, "last": last}), flush=True)
    await task.cancel()
    await running


asyncio.run(main())
