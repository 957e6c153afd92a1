"""pipecat's Deepgram services: live audio with its own voice detection and Finalize, and turns from us (Flux)."""
import asyncio
import json
import os
import wave

from pipecat.frames.frames import (
    EndFrame,
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
from pipecat.services.deepgram.flux.stt import DeepgramFluxSTTService
from pipecat.services.deepgram.stt import DeepgramSTTService

WS = os.environ["TRUNKLINE_URL"].replace("http", "ws")
KEY = os.environ["TRUNKLINE_KEY"]
FRAME_SECONDS = 0.02

with wave.open(os.path.join(os.environ["AUDIO_DIR"], "short.wav")) as recording:
    rate = recording.getframerate()
    sound = recording.readframes(recording.getnframes())
frame_bytes = int(2 * rate * FRAME_SECONDS)
silence = bytes(2 * frame_bytes * 50)


class Sink(FrameProcessor):
    def __init__(self):
        super().__init__()
        self.finals = []
        self.interims = 0

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, InterimTranscriptionFrame):
            self.interims += 1
        elif isinstance(frame, TranscriptionFrame):
            self.finals.append(frame)
        await self.push_frame(frame, direction)


async def push(task, pcm):
    for at in range(0, len(pcm) - frame_bytes + 1, frame_bytes):
        await task.queue_frame(InputAudioRawFrame(pcm[at : at + frame_bytes], rate, 1))
        await asyncio.sleep(FRAME_SECONDS)


async def run(service, has_vad):
    sink = Sink()
    task = PipelineTask(Pipeline([service, sink]), params=PipelineParams(audio_in_sample_rate=rate))
    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    await asyncio.sleep(1)
    if has_vad:
        await task.queue_frame(VADUserStartedSpeakingFrame())
    await push(task, sound)
    if has_vad:
        await task.queue_frame(VADUserStoppedSpeakingFrame())
    await push(task, silence)
    await asyncio.sleep(1)
    await task.queue_frame(EndFrame())
    await asyncio.wait_for(running, 30)
    return sink


async def main():
    live = await run(DeepgramSTTService(api_key=KEY, base_url=WS, sample_rate=rate), True)
    flux = await run(DeepgramFluxSTTService(api_key=KEY, url=f"{WS}/v2/listen", sample_rate=rate), False)
    print(
        json.dumps(
            {
                "text": " ".join(frame.text for frame in live.finals),
                "hasInterims": live.interims > 0,
                "finalized": any(getattr(frame, "finalized", False) for frame in live.finals),
                "turn": " ".join(frame.text for frame in flux.finals),
            }
        )
    )


asyncio.run(main())
os._exit(0)
