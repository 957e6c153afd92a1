import { expect, it } from 'vitest';
import { SpeechStream } from '../../src/clients/shared/speech-stream.ts';
import { type LiveText, synthesizeLive } from '../../src/http/speech/synthesize.ts';
import type { SentenceSynthesizer, SpokenPiece } from '../../src/speech/sentence-synthesizer.ts';
import { TextStream } from '../../src/speech/text-stream.ts';
import type { ResolvedVoice } from '../../src/speech/voice-resolver.ts';
import { FakeClock } from '../fakes/clock.ts';

const PIECES = 10_000;
const CODEC = { name: 'pcm16', rateHz: 24_000, channels: 1, bytesPerSample: 2 } as const;

async function* noSound(): AsyncGenerator<Uint8Array> {
  // A mark alone has none.
}

async function* marks(): AsyncGenerator<Partial<SpokenPiece>> {
  for (let piece = 0; piece < PIECES; piece++) yield { text: '. ', parts: noSound() };
}

it('lets other work go first where a text has nothing that can be spoken', async () => {
  let spoken = 0;
  let spokenBefore = PIECES;
  setImmediate(() => {
    spokenBefore = spoken;
  });
  const synthesizer = { synthesize: () => marks() } as unknown as SentenceSynthesizer;
  const sound = synthesizeLive(synthesizer, {
    text: new TextStream(),
    voice: {} as ResolvedVoice,
    codec: CODEC,
    signal: new AbortController().signal,
    dueInMs: () => 0,
    onSpoken: () => void spoken++,
    onSkipped: () => undefined,
  });
  for await (const _part of sound) expect.unreachable();
  expect(spoken).toBe(PIECES);
  expect(spokenBefore).toBeLessThan(100);
});

it('remembers no more of a text that is never flushed than an utterance may have', async () => {
  const texts: TextStream[] = [];
  const stream = new SpeechStream({
    service: {
      async *speakLive({ text, signal, onSpoken }: LiveText) {
        texts.push(text);
        for (let said = await text.next(signal); said !== null; said = await text.next(signal)) onSpoken(said);
        yield new Uint8Array(2);
      },
    },
    voice: {} as ResolvedVoice,
    codec: CODEC,
    clock: new FakeClock(),
    waitingMaxChars: 16_384,
    send: async () => undefined,
    onFlushed: async () => undefined,
    onSkipped: () => undefined,
    onFull: () => undefined,
    onFailed: (error) => expect.unreachable(String(error)),
  });
  for (let message = 0; message < 50; message++) stream.write('. '.repeat(2000));
  await stream.finish();
  expect(texts.map(({ text }) => text).join('')).toHaveLength(200_000);
  expect(Math.max(...texts.map(({ text }) => text.length))).toBeLessThanOrEqual(65_536);
});
