# pipecat's STT service for OpenAI's Realtime API: with its own voice detection, which commits.
import asyncio
import json
import os
import wave

from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.stt import OpenAIRealtimeSTTService

URL, KEY, AUDIO_DIR = (os.environ[name] for name in ("TRUNKLINE_URL", "TRUNKLINE_KEY", "AUDIO_DIR"))
RATE_HZ = 8000
FRAME_MS = 20


class Sink(FrameProcessor):
    def __init__(self):
        super().__init__()
        self.interims, self.errors = [], []
        self.text = asyncio.get_running_loop().create_future()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, InterimTranscriptionFrame):
            self.interims.append(frame.text)
        if isinstance(frame, ErrorFrame):
            self.errors.append(frame.error)
        if isinstance(frame, TranscriptionFrame) and not self.text.done():
            self.text.set_result(frame.text)
        await self.push_frame(frame, direction)


async def main():
    with wave.open(os.path.join(AUDIO_DIR, "short.wav")) as file:
        pcm = file.readframes(file.getnframes())
    sink = Sink()
    address = f"{URL.replace('http', 'ws')}/v1/realtime"
    stt = OpenAIRealtimeSTTService(api_key=KEY, base_url=address)
    task = PipelineTask(Pipeline([stt, sink]), params=PipelineParams(audio_in_sample_rate=RATE_HZ))

    async def feed():
        await asyncio.sleep(1)
        await task.queue_frame(VADUserStartedSpeakingFrame())
        step = 2 * RATE_HZ * FRAME_MS // 1000
        for at in range(0, len(pcm), step):
            await task.queue_frame(InputAudioRawFrame(pcm[at : at + step], RATE_HZ, 1))
            await asyncio.sleep(FRAME_MS / 1000)
        await task.queue_frame(VADUserStoppedSpeakingFrame())
        await asyncio.wait_for(sink.text, 30)
        await task.queue_frame(EndFrame())

    await asyncio.gather(PipelineRunner(handle_sigint=False).run(task), feed())
    seen = {"hasInterims": sink.interims != [], "transcript": sink.text.result(), "errors": sink.errors}
    print(json.dumps(seen))


asyncio.run(main())
