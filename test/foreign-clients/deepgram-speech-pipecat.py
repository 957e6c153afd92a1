"""pipecat's Deepgram services: a text as speech, by socket and by REST, and what frames come of it."""
import asyncio
import json
import os

import aiohttp
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.deepgram.tts import DeepgramHttpTTSService, DeepgramTTSService

URL = os.environ["TRUNKLINE_URL"]
KEY = os.environ["TRUNKLINE_KEY"]
SENTENCE = "Please leave a message after the tone."
RATE_HZ = 8000
TIMEOUT_SECONDS = 40


class Sink(FrameProcessor):
    def __init__(self):
        super().__init__()
        self.events, self.sound = [], bytearray()
        self.stopped = asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        for kind, name in ((TTSStartedFrame, "started"), (TTSStoppedFrame, "stopped"), (ErrorFrame, "error")):
            if isinstance(frame, kind):
                self.events.append(name)
        if isinstance(frame, TTSAudioRawFrame):
            self.sound.extend(frame.audio)
            if self.events[-1:] != ["sound"]:
                self.events.append("sound")
        if isinstance(frame, TTSStoppedFrame):
            self.stopped.set()
        await self.push_frame(frame, direction)


async def speak(service):
    sink = Sink()
    task = PipelineTask(Pipeline([service, sink]), params=PipelineParams(audio_out_sample_rate=RATE_HZ))

    async def feed():
        await task.queue_frame(TTSSpeakFrame(SENTENCE))
        await asyncio.wait_for(sink.stopped.wait(), TIMEOUT_SECONDS)
        await task.queue_frame(EndFrame())

    await asyncio.gather(PipelineRunner(handle_sigint=False).run(task), feed())
    return sink


async def hear(session, sound):
    address = f"{URL}/v1/listen?encoding=linear16&sample_rate={RATE_HZ}&punctuate=true"
    headers = {"Authorization": f"Token {KEY}"}
    async with session.post(address, data=bytes(sound), headers=headers) as answer:
        return (await answer.json())["results"]["channels"][0]["alternatives"][0]["transcript"]


async def main():
    live = await speak(DeepgramTTSService(api_key=KEY, base_url=URL.replace("http", "ws")))
    async with aiohttp.ClientSession() as session:
        rest = await speak(DeepgramHttpTTSService(api_key=KEY, base_url=URL, aiohttp_session=session))
        seen = {
            "events": live.events,
            "spokenLive": await hear(session, live.sound),
            "restEvents": rest.events,
            "spoken": await hear(session, rest.sound),
        }
    print(json.dumps(seen))


asyncio.run(main())
os._exit(0)
