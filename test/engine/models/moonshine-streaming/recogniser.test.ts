import { beforeAll, describe, expect, it } from 'vitest';
import type { Asr, ReadingOptions } from '../../../../engine/models/model.ts';
import { loadMoonshineStreaming } from '../../../../engine/models/moonshine-streaming/load.ts';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';
import { arithmeticClip } from '../../../e2e/parity/arithmetic-clip.ts';
import { finish } from '../../speech.ts';

import { STREAMING } from './options.ts';

const SPOKEN = arithmeticClip(7, 64_000);

let asr: Asr;

beforeAll(async () => {
  const folder = packagePath('fixtures', 'models', 'moonshine-streaming', 'ort-split');
  ({ asr } = await loadMoonshineStreaming(folder, STREAMING));
});

const read = async (samples: Int16Array, draft: readonly number[] = [], options: ReadingOptions = {}) =>
  (await finish(asr.transcribe(samples, draft, options))).result;

describe('Moonshine streaming', () => {
  it('says nothing of speech that is shorter than a frame', async () => {
    expect(await read(new Int16Array(79))).toEqual({
      text: '',
      tokens: [],
      logprobs: new Float32Array(0),
      looped: false,
    });
  });

  it('gives pieces that join to the text, and a probability for each token', async () => {
    const { text, tokens, pieces = [], logprobs } = await read(SPOKEN, [], { spelled: true });
    expect(
      Buffer.concat([...pieces])
        .toString('utf8')
        .trim(),
    ).toBe(text);
    expect(pieces).toHaveLength(tokens.length);
    expect(logprobs).toHaveLength(tokens.length);
    for (const logprob of logprobs ?? []) expect(logprob).toBeLessThanOrEqual(0);
  });

  it('gives words whose times never fall, and takes one run more for them', async () => {
    const plain = await finish(asr.transcribe(SPOKEN, []));
    const { result, runs } = await finish(asr.transcribe(SPOKEN, [], { timed: true }));
    expect(runs).toBe(plain.runs + 1);
    const { words = [], text } = result;
    expect(words.map((word) => word.text).join(' ')).toBe(text);
    for (const [index, { startMs, endMs }] of words.entries()) {
      expect(endMs).toBeGreaterThanOrEqual(startMs);
      expect(startMs).toBeGreaterThanOrEqual(words[index - 1]?.startMs ?? 0);
      expect(endMs).toBeLessThanOrEqual(4000);
    }
  });

  it('reads what is longer than its table of positions, of 10.24 s, in stretches', async () => {
    const long = arithmeticClip(7, 16 * 16_000);
    const stretches = [long.subarray(0, 8 * 16_000), long.subarray(8 * 16_000)];
    const options = { timed: true, spelled: true };
    const [first, second] = [
      await read(stretches[0] as Int16Array, [], options),
      await read(stretches[1] as Int16Array),
    ];
    const whole = await read(long, first.tokens, { ...options, stream: 1, draftText: 'of all' });
    expect([whole.text, whole.tokens]).toEqual([`${first.text} ${second.text}`, [...first.tokens, ...second.tokens]]);
    const { tokens, logprobs, pieces, words = [] } = whole;
    expect([logprobs?.length, pieces?.length]).toEqual([tokens.length, tokens.length]);
    expect(words.map(({ text }) => text).join(' ')).toBe(whole.text);
    expect(words.slice(0, first.words?.length)).toEqual(first.words);
    expect(words.at(-1)?.startMs).toBeGreaterThanOrEqual(8000);
    await expect(read(arithmeticClip(7, 10.24 * 16_000))).resolves.toMatchObject({ looped: expect.any(Boolean) });
  });

  it('never writes more than people can say', async () => {
    for (const seconds of [0.4, 1, 3]) {
      const { tokens } = await read(arithmeticClip(5, seconds * 16_000));
      expect(tokens.length).toBeLessThanOrEqual(Math.ceil(6.5 * seconds) + 2);
    }
  });

  it('verifies what another recogniser wrote', async () => {
    let saved = 0;
    for (let seed = 1; seed < 60; seed++) {
      const clip = arithmeticClip(seed, 9_600);
      const { result, runs } = await finish(asr.transcribe(clip, []));
      const drafted = await finish(asr.transcribe(clip, [], { draftText: result.text }));
      expect(drafted.result.tokens).toEqual(result.tokens);
      saved += runs - drafted.runs;
    }
    expect(saved).toBeGreaterThan(0);
  });

  it('says the same under the number of other speech, and after it forgot', async () => {
    const other = arithmeticClip(8, 64_000);
    const expected = [await read(SPOKEN, [], { stream: 11 }), await read(other, [], { stream: 12 })];
    for (let turn = 0; turn < 3; turn++) {
      expect(await read(SPOKEN, [], { stream: 1 })).toEqual(expected[0]);
      expect(await read(other, [], { stream: 1 })).toEqual(expected[1]);
    }
  });

  it('does less for speech of which it heard the beginning', async () => {
    const long = arithmeticClip(9, 150_000);
    await read(long.subarray(0, 140_000), [], { stream: 2 });
    const kept = await finish(asr.transcribe(long, [], { stream: 2 }));
    const anew = await finish(asr.transcribe(long, [], { stream: 13 }));
    expect(kept.runs).toBeLessThan(anew.runs);
    expect(kept.result).toEqual(anew.result);
  });

  it('can be ended in the middle of a job, and jobs on one utterance may overlap', async () => {
    const [one, two] = [asr.transcribe(SPOKEN, [], { stream: 3 }), asr.transcribe(SPOKEN, [], { stream: 3 })];
    await one.next();
    await two.next();
    await one.return(undefined as never);
    expect((await finish(two)).result).toEqual(await read(SPOKEN, [], { stream: 14 }));
  });

  it('changes its text only to write a hot word whole', async () => {
    const hotWords = ['kazetune', 'lolo', 'mitu'];
    let changed = 0;
    for (let seed = 1; seed < 12; seed++) {
      const clip = arithmeticClip(seed, 32_000);
      const [plain, biased] = [await read(clip), await read(clip, [], { hotWords })];
      if (plain.text === biased.text) continue;
      changed++;
      expect(hotWords.filter((word) => biased.text.toLowerCase().includes(word))).not.toEqual([]);
    }
    expect(changed).toBeGreaterThan(0);
    expect(await read(SPOKEN, [], { hotWords: ['Žižek', ' '] })).toEqual(await read(SPOKEN));
  });
});
