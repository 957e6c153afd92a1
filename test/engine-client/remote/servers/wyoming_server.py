"""Wyoming's own server, which tells what it was sent. tcp://127.0.0.1:10399"""
import asyncio

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStop
from wyoming.event import Event
from wyoming.server import AsyncEventHandler, AsyncServer


class Echo(AsyncEventHandler):
    sound_bytes = 0
    language = None

    async def handle_event(self, event: Event) -> bool:
        if Transcribe.is_type(event.type):
            self.language = Transcribe.from_event(event).language
        if AudioChunk.is_type(event.type):
            self.sound_bytes += len(AudioChunk.from_event(event).audio)
        if not AudioStop.is_type(event.type):
            return True
        await self.write_event(Transcript(text=f"{self.sound_bytes} bytes in {self.language}").event())
        return False


async def main() -> None:
    server = AsyncServer.from_uri("tcp://127.0.0.1:10399")
    print("ready", flush=True)
    await server.run(Echo)


asyncio.run(main())
