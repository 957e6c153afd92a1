import { beforeEach, expect, it } from 'vitest';
import { SpeechStream } from '../../src/clients/shared/speech-stream.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FAKE_VOICE } from '../fakes/voices.ts';
import { eventually } from '../helpers/eventually.ts';

const CODEC = { name: 'mulaw', rateHz: 8000, channels: 1, bytesPerSample: 1 } as const;
/** An utterance of 50 characters weighs 150: two are allowed, three are too many. */
const TEXT = 'x'.repeat(50);
const WAITING_MAX_CHARS = 400;

let fullness: boolean[];
let sent: number;
let release: () => void;
let stream: SpeechStream;
beforeEach(() => {
  fullness = [];
  sent = 0;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  stream = new SpeechStream({
    service: {
      async *speakLive({ text, signal, onSpoken }) {
        await gate;
        const sentence = await text.next(signal);
        yield new Uint8Array(80);
        if (sentence !== null) onSpoken?.(sentence);
      },
    },
    clock: new FakeClock(),
    voice: { voice: FAKE_VOICE, missingVoice: null, speed: 1, normalises: false },
    codec: CODEC,
    waitingMaxChars: WAITING_MAX_CHARS,
    send: async () => void sent++,
    onFlushed: async () => undefined,
    onSkipped: () => undefined,
    onFull: (isFull) => fullness.push(isFull),
    onFailed: (error) => {
      throw error;
    },
  });
});

function say(count: number): void {
  for (let n = 0; n < count; n++) {
    stream.write(TEXT);
    stream.flush();
  }
}

it('tells once that too much waits, and once that it does no longer', async () => {
  say(2);
  expect(fullness).toEqual([]);
  say(2);
  expect(fullness).toEqual([true]);
  release();
  await eventually(() => expect(sent).toBe(4));
  await eventually(() => expect(fullness).toEqual([true, false]));
});

it('counts flushes without text', () => {
  for (let n = 0; n < 5; n++) stream.flush();
  expect(fullness).toEqual([true]);
});

it.each(['clear', 'close'] as const)('waits for nothing after %s', (end) => {
  say(4);
  stream[end]();
  expect(fullness).toEqual([true, false]);
});

it('speaks nothing after close, whatever still comes', async () => {
  say(1);
  stream.close();
  say(1);
  stream.clear();
  say(1);
  release();
  await stream.finish();
  expect(sent).toBe(0);
});
