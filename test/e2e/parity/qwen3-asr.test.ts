import { describe, expect, it } from 'vitest';
import { loadModels, type Models } from '../../../engine/models/load-models.ts';
import type { ReadingOptions, Recognition } from '../../../engine/models/model.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { LoopDecoder } from '../../../engine/models/qwen3-asr/decoder.ts';
import { QwenEncoder } from '../../../engine/models/qwen3-asr/encoder.ts';
import { audioTokensOf, type Clip, QwenFeatures } from '../../../engine/models/qwen3-asr/features.ts';
import { readQwenFolder } from '../../../engine/models/qwen3-asr/folder.ts';
import { answerIn } from '../../../engine/models/qwen3-asr/prompt.ts';
import { openSession } from '../../../engine/onnx.ts';
import type { Tensor } from '../../../engine/onnxruntime.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { makeRun, RunRequest } from '../../../engine/shared-runs.ts';
import { TONE } from '../../engine/settings.ts';
import { makeClip } from './parakeet-clips.ts';
import { cases, differenceFrom, expectWritten, folderOf, requestOf, samplesOf } from './qwen3-asr-cases.ts';

const { config, tokenizer, prompts } = readQwenFolder(folderOf('float'));
const features = new QwenFeatures(config);
const clips = samplesOf.map((samples) => features.compute(samples));
const session = { device: { provider: 'cpu' }, threads: 1 } as const;
const ALONE = { isWindowed: true, isRounded: false, batchMax: 1 } as const;

async function openEncoder(options: ConstructorParameters<typeof QwenEncoder>[2]): Promise<QwenEncoder> {
  return new QwenEncoder(await openSession(`${folderOf('float')}/encoder.onnx`, session), config, options);
}

async function openDecoder(options: ConstructorParameters<typeof LoopDecoder>[2]): Promise<LoopDecoder> {
  return new LoopDecoder(await openSession(`${folderOf('float')}/decoder_loop.onnx`, session), config, options);
}

function load(folder: string): Promise<Models> {
  return loadModels(MODEL_TABLE, { ...TONE, asrModel: folder }, () => undefined);
}

function read({ asr }: Models, samples: Int16Array, options: ReadingOptions = {}): Promise<Recognition> {
  return runThrough(asr.transcribe(samples, [], options));
}

const greatest = (numbers: readonly number[]) => Math.max(0, ...numbers.map(Math.abs));
const floats = ({ data }: Tensor) => data as Float32Array;

/** Every reading of the cases, with what it is of. */
const readings = cases.clips.flatMap((clip, index) => clip.readings.map((reading) => ({ ...reading, index })));

describe('the features of Qwen3-ASR', () => {
  it('are those of transformers', () => {
    const differences = cases.clips.map((clip, index) =>
      differenceFrom(clip.features, (clips[index] as Clip).mel, cases.featureStep),
    );
    expect(differences.length).toBeGreaterThanOrEqual(16);
    expect(Math.max(...differences)).toBeLessThan(1e-4);
  });

  it('become as many audio tokens', () => {
    for (const [index, { tokens }] of cases.clips.entries()) expect(clips[index]?.tokens).toBe(tokens);
  });
});

describe("Qwen3-ASR's encoder", () => {
  it.each([
    ['window by window', ALONE],
    ['in one run', { ...ALONE, isWindowed: false }],
    ['with chunks more than the clip has', { isWindowed: false, isRounded: true, batchMax: 1 }],
  ])('hears %s what transformers hears, across the edge of 8 s too', async (_, options) => {
    const encoder = await openEncoder(options);
    for (const [index, { encoded, tokens }] of cases.clips.entries()) {
      const heard = await runThrough(encoder.encode(clips[index] as Clip));
      expect(heard.dims).toEqual([tokens, config.hiddenSize]);
      expect(differenceFrom(encoded, floats(heard), cases.encodedStep)).toBeLessThan(1e-4);
    }
  });

  it('hears several clips in one run as it hears each alone', async () => {
    const alone = await openEncoder(ALONE);
    const together = await openEncoder({ isWindowed: false, isRounded: true, batchMax: 16 });
    const heard = await shareRuns(clips.map((clip) => together.encode(clip)));
    for (const [index, tensor] of heard.entries()) {
      const expected = floats(await runThrough(alone.encode(clips[index] as Clip)));
      expect(greatest(Array.from(floats(tensor), (value, at) => value - (expected[at] ?? 0)))).toBeLessThan(1e-4);
    }
  });
});

describe('the prompt of Qwen3-ASR', () => {
  it('is that of transformers', () => {
    for (const { context, language, prompt, index } of readings) {
      const expected = prompt.flatMap((each) =>
        typeof each === 'number' ? [each] : new Array<number>(each[1]).fill(each[0]),
      );
      const answer = language === null ? [] : answerIn(language);
      const audioTokens = (clips[index] as Clip).tokens;
      expect(prompts.write({ context, hotWords: [], audioTokens, answer })).toEqual(expected);
    }
  });
});

describe("Qwen3-ASR's decoder", () => {
  const heard = (async () => {
    const encoder = await openEncoder(ALONE);
    return Promise.all(clips.map((clip) => runThrough(encoder.encode(clip))));
  })();

  async function requested(reading: (typeof readings)[number]) {
    return requestOf(prompts, (await heard)[reading.index] as Tensor, reading);
  }

  it.each([
    ['in one run', { runTokens: 512, keepsPast: true, batchMax: 1 }],
    ['five tokens at a time', { runTokens: 5, keepsPast: true, batchMax: 1 }],
    ['token by token', { runTokens: 1, keepsPast: true, batchMax: 1 }],
    ['behind prompts read 7 tokens at a time', { runTokens: 5, promptTokens: 7, keepsPast: true, batchMax: 1 }],
    ['behind prompts read token by token', { runTokens: 512, promptTokens: 1, keepsPast: true, batchMax: 1 }],
    ['five tokens at a time, reading everything again', { runTokens: 5, keepsPast: false, batchMax: 1 }],
  ])('writes %s what transformers writes, whatever the draft', async (_, options) => {
    const decoder = await openDecoder(options);
    expect(new Set(readings.map(({ draftIs }) => draftIs)).size).toBeGreaterThanOrEqual(4);
    for (const reading of readings)
      expectWritten(await runThrough(decoder.write(await requested(reading))), reading, 1e-3);
  });

  it.each([9, 512])('writes texts of one run as it writes each alone, %i tokens at a time', async (runTokens) => {
    const decoder = await openDecoder({ runTokens, keepsPast: false, batchMax: 64 });
    const requests = await Promise.all(readings.map(requested));
    const written = await shareRuns(requests.map((request) => decoder.write(request)));
    for (const [index, text] of written.entries())
      expectWritten(text, readings[index] as (typeof readings)[number], 1e-3);
  });

  it.each([true, false])(
    'goes on with another draft where the first was wrong, in fewer runs (%s)',
    async (keepsPast) => {
      const decoder = await openDecoder({ runTokens: 3, keepsPast, batchMax: 1 });
      const wrong = readings.filter(({ draftIs, tokens }) => draftIs === 'partly right' && tokens.length > 15);
      expect(wrong.length).toBeGreaterThan(3);
      for (const reading of wrong) {
        const right = [...reading.draft.slice(0, reading.agreed), ...reading.tokens];
        const redrafts = [[], [right.at(-1) ?? 0, 7], 1, 5, 12];
        for (const redraft of redrafts) {
          const rest = (tokens: readonly number[]) =>
            typeof redraft === 'number' ? right.slice(tokens.length, tokens.length + redraft) : redraft;
          const steps = decoder.write({ ...(await requested(reading)), redraft: rest });
          let runs = 0;
          let step = await steps.next();
          for (; !step.done; step = await steps.next()) {
            runs++;
            if (step.value instanceof RunRequest) await makeRun([step.value]);
          }
          expectWritten(step.value, reading, 1e-3);
          if (redraft === 12) expect(runs).toBeLessThan(Math.ceil(reading.tokens.length / 3) - 2);
        }
      }
    },
  );

  it('lets urgent work in between the parts of a long prompt', async () => {
    const decoder = await openDecoder({ runTokens: 512, promptTokens: 10, keepsPast: true, batchMax: 1 });
    const reading = readings.find(({ draftIs }) => draftIs === 'none') as (typeof readings)[number];
    const request = await requested(reading);
    const steps = decoder.write(request);
    let runs = 0;
    for (let step = await steps.next(); !step.done; step = await steps.next()) {
      runs++;
      if (step.value instanceof RunRequest) await makeRun([step.value]);
    }
    expect(runs).toBe(Math.ceil(request.prompt.length / 10));
  });

  it('lets urgent work in between its runs', async () => {
    const decoder = await openDecoder({ runTokens: 5, keepsPast: true, batchMax: 1 });
    const reading = readings.find(({ draftIs, tokens }) => draftIs === 'none' && tokens.length === 24);
    const steps = decoder.write(await requested(reading as (typeof readings)[number]));
    let runs = 0;
    for (let step = await steps.next(); !step.done; step = await steps.next()) {
      runs++;
      if (step.value instanceof RunRequest) await makeRun([step.value]);
    }
    expect(runs).toBe(5);
  });
});

/** Goes on with all of `jobs` at once, each run made for as many as wait for it. */
async function shareRuns<T>(jobs: readonly AsyncGenerator<unknown, T, void>[]): Promise<T[]> {
  const results: T[] = [];
  for (let open = [...jobs.entries()]; open.length > 0; ) {
    const steps = await Promise.all(open.map(async ([index, job]) => ({ index, job, step: await job.next() })));
    for (const { index, step } of steps) if (step.done) results[index] = step.value;
    const requests = steps.flatMap(({ step }) => (step.value instanceof RunRequest ? [step.value] : []));
    if (requests.length > 0) await makeRun(requests);
    open = steps.flatMap(({ index, job, step }) => (step.done ? [] : [[index, job] as const])) as typeof open;
  }
  return results;
}

describe.each(['float', 'int8', 'f16'])('Qwen3-ASR in the folder %s', (folder) => {
  it('is known by its files, and by what they say of it', async () => {
    const { asr, languages, abilities } = await load(folderOf(folder));
    expect(asr.name).toBe('qwen3-asr-1');
    expect(asr.vocabularySize).toBe(318);
    expect(languages.length).toBe(30);
    expect(languages[0]).toBe('en');
    expect(abilities).toMatchObject({ drafts: true, textDrafts: true, context: true, languageGuess: true });
  });

  it('reads clips, and warms up', async () => {
    const models = await load(folderOf(folder));
    await models.asr.warmUp(samplesOf[4] as Int16Array);
    const said = await Promise.all(samplesOf.slice(0, 12).map((samples) => read(models, samples)));
    expect(new Set(said.flatMap(({ tokens }) => tokens)).size).toBeGreaterThanOrEqual(20);
    for (const { logprobs } of said) expect(logprobs?.every(Number.isFinite)).toBe(true);
  });
});

describe('Qwen3-ASR', () => {
  const loaded = load(folderOf('float'));

  it('says what transformers says', async () => {
    const models = await loaded;
    let compared = 0;
    for (const reading of readings.filter(({ draftIs }) => draftIs === 'none')) {
      const { context, language, index } = reading;
      const options = { context, ...(language !== null && { language: 'en' }) };
      const { tokens, looped } = await read(models, samplesOf[index] as Int16Array, options);
      if (looped) continue;
      const answer = language === null ? [] : tokenizer.encodeParts(answerIn(language));
      const end = reading.tokens.findIndex((token) => cases.endTokens.includes(token));
      const expected = [...answer, ...(end === -1 ? reading.tokens : reading.tokens.slice(0, end))];
      const count = Math.min(tokens.length, expected.length);
      compared += count;
      expect(tokens.slice(0, count)).toEqual(expected.slice(0, count));
    }
    expect(compared).toBeGreaterThan(300);
  });

  it.each([8, 12, 15])('reads clip %i the same with any draft', async (index) => {
    const { asr } = await loaded;
    const samples = samplesOf[index] as Int16Array;
    const first = await runThrough(asr.transcribe(samples, []));
    expect(first.tokens.length).toBeGreaterThan(5);
    const wrong = [7, 11, 13];
    const control = [config.audioPadToken, 3];
    const drafts = [first.tokens, first.tokens.slice(0, 4), [...first.tokens.slice(0, 3), ...wrong], wrong, control];
    for (const draft of drafts) {
      const again = await runThrough(asr.transcribe(samples, draft));
      expect(again.tokens).toEqual(first.tokens);
      expect(again.text).toBe(first.text);
      const off = Array.from(again.logprobs ?? [], (value, at) => value - (first.logprobs?.[at] ?? Number.NaN));
      expect(greatest(off)).toBeLessThan(1e-3);
    }
    const others = await runThrough(asr.transcribe(samples, [], { draftText: 'hello <|im_end|> call' }));
    expect(others.tokens).toEqual(first.tokens);
  });

  it('says how probable each token of the text was, and what it writes', async () => {
    const models = await loaded;
    for (const language of [undefined, 'en']) {
      const options = { spelled: true, ...(language !== undefined && { language }) };
      const { pieces = [], logprobs, text, tokens } = await read(models, samplesOf[9] as Int16Array, options);
      expect(pieces.length).toBe(logprobs?.length);
      expect(tokens.length).toBeGreaterThanOrEqual(pieces.length);
      expect(new TextDecoder().decode(Buffer.concat(pieces)).trim()).toBe(text);
    }
  });

  it('says nothing of nothing, and little of an instant', async () => {
    const models = await loaded;
    expect(await read(models, new Int16Array(0), { spelled: true })).toEqual({
      text: '',
      tokens: [],
      logprobs: new Float32Array(0),
      looped: false,
      pieces: [],
    });
    expect((await read(models, new Int16Array(1))).tokens.length).toBeLessThan(20);
    expect((await read(models, new Int16Array(32_000))).logprobs?.every(Number.isFinite)).toBe(true);
  });

  it('takes over in a partial what was read before, but for the end', async () => {
    const { asr } = await loaded;
    const longer = makeClip(15, 6);
    const tag = tokenizer.encodeParts(answerIn('English'));
    const made = [...tag, ...tokenizer.encode('hello call of the hello call of the hello')];
    const after = await runThrough(asr.transcribe(longer, made, { language: 'en', goesOn: true }));
    expect(after.text.startsWith('hello call of the')).toBe(true);
    expect(after.tokens.slice(0, tag.length)).toEqual(tag);
    expect(after.tokens.length).toBeLessThanOrEqual(made.length - 5 + 32);
    expect(after.logprobs).toBeNull();
    const final = await runThrough(asr.transcribe(longer, made, { language: 'en' }));
    expect(final.text).toBe((await runThrough(asr.transcribe(longer, [], { language: 'en' }))).text);
    const early = await runThrough(asr.transcribe(makeClip(15, 4), made, { language: 'en', goesOn: true }));
    expect(early.text.startsWith('hello')).toBe(false);
  });

  it('counts audio tokens as transformers does, of any length', () => {
    const counted = [0, 160, 8000, 16_000, 16_160, 127_999, 128_000, 129_280].map((n) => audioTokensOf(n, config));
    expect(counted).toEqual([7, 7, 7, 13, 14, 104, 104, 105]);
  });
});
