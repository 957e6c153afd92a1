import { expect, it } from 'vitest';
import { readQwenFolder } from '../../../../engine/models/qwen3-asr/folder.ts';
import type { TextRequest } from '../../../../engine/models/qwen3-asr/parts.ts';
import { Qwen3Asr } from '../../../../engine/models/qwen3-asr/qwen3-asr.ts';
import type { TextPart } from '../../../../engine/models/qwen3-asr/tokenizer.ts';
import { Tensor } from '../../../../engine/onnxruntime.ts';
import { runThrough } from '../../../../engine/scheduler.ts';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';

const { config, tokenizer, prompts } = readQwenFolder(packagePath('fixtures', 'models', 'qwen3-asr', 'float'));
const TAG = { token: '<asr_text>' };
const tokensOf = (...parts: TextPart[]) => tokenizer.encodeParts(parts);

/** A recogniser that hears nothing, is asked for texts and writes what it is told to, one after the other. */
function recogniserOf(
  written: readonly (readonly number[])[],
  overrides: Partial<typeof config> = {},
  provider: 'cpu' | 'cuda' = 'cpu',
) {
  const requests: TextRequest[] = [];
  const chunks: number[] = [];
  const asr = new Qwen3Asr({
    name: 'qwen-1',
    provider,
    config: { ...config, ...overrides },
    tokenizer,
    prompts,
    encoder: {
      // biome-ignore lint/correctness/useYield: it takes no time
      async *encode({ tokens, chunks: count }) {
        chunks.push(count);
        return new Tensor('float32', new Float32Array(tokens * config.hiddenSize), [tokens, config.hiddenSize]);
      },
    },
    decoder: {
      async *write(request) {
        requests.push(request);
        const tokens = written[requests.length - 1] ?? [];
        return { tokens, logprobs: tokens.map((_, index) => -index / 8) };
      },
    },
    aligner: {
      async *align(samples, text, language) {
        if (language === 'de') return null;
        return text.split(' ').map((word) => ({ text: word, startMs: 100, endMs: samples.length / 16 }));
      },
    },
    languages: ['en', 'de', 'pt-BR'],
  });
  return { asr, requests, chunks };
}

const speech = (seconds: number) => new Int16Array(seconds * 16_000);
const promptOf = ({ prompt }: TextRequest) => tokenizer.textOf(prompt);

it('finds the language out, and keeps the text apart from it', async () => {
  const said = tokensOf('language Portuguese', TAG, 'Ol', 'a');
  const { asr } = recogniserOf([said, tokensOf('language None', TAG), tokensOf('language Klingon', TAG, 'x')]);
  const read = () => runThrough(asr.transcribe(speech(1), [], { spelled: true }));
  const first = await read();
  expect(first).toMatchObject({ text: 'Ola', language: 'pt-BR', tokens: said, looped: false });
  expect(Buffer.concat(first.pieces ?? []).toString()).toBe('Ola');
  const text = said.indexOf(tokenizer.idOf(TAG.token)) + 1;
  expect(first.logprobs).toEqual(Float32Array.from({ length: said.length - text }, (_, at) => -(at + text) / 8));
  expect(await read()).toMatchObject({ text: '', pieces: [], logprobs: new Float32Array(0) });
  const third = await read();
  expect([third.text, third.language]).toEqual(['x', undefined]);
});

it('is told the language, what is known of the speech, and hot words', async () => {
  const { asr, requests } = recogniserOf([tokensOf('Hallo')]);
  const options = { language: 'de', context: 'A clinic.', hotWords: ['Müller', 'St. Anna'] };
  const read = await runThrough(asr.transcribe(speech(1), [], options));
  expect(promptOf(requests[0] as TextRequest)).toBe(
    'system\nA clinic.\nMüller, St. Anna\nuser\n\nassistant\nlanguage German<asr_text>',
  );
  expect(read).toEqual({
    text: 'Hallo',
    tokens: tokensOf('language German', TAG, 'Hallo'),
    logprobs: Float32Array.from(tokensOf('Hallo'), (_, at) => -at / 8),
    looped: false,
  });
});

it.each([
  ['its own', tokensOf('language German', TAG, 'Hallo'), {}, tokensOf('language German', TAG, 'Hallo')],
  ['its own, now that it is told', tokensOf('language German', TAG, 'Hallo'), { language: 'de' }, tokensOf('Hallo')],
  ["another's", [], { draftText: ' Hello ' }, tokensOf('language English', TAG, 'Hello')],
  ["another's, in a language that is told", [], { draftText: 'Hallo', language: 'de' }, tokensOf('Hallo')],
  ['its own before that of another', tokensOf('a'), { draftText: 'b' }, tokensOf('a')],
  ['none behind a control token', [...tokensOf('a'), config.audioPadToken, 3], {}, tokensOf('a')],
  ['a control token as plain text', [], { draftText: '<|im_end|>', language: 'en' }, tokenizer.encode('<|im_end|>')],
])('verifies a draft: %s', async (_, draft, options, expected) => {
  const { asr, requests } = recogniserOf([tokensOf('x')]);
  await runThrough(asr.transcribe(speech(3), draft, options));
  expect(requests[0]?.draft).toEqual(expected.slice(0, (requests[0]?.maxTokens ?? 0) - 1));
  expect(requests[0]?.newTokensMax).toBe(requests[0]?.maxTokens);
});

it("goes on with another's draft where the language is another than was assumed", async () => {
  const { asr, requests } = recogniserOf([[], []]);
  await runThrough(asr.transcribe(speech(3), [], { draftText: 'Hallo du' }));
  const spoken = tokensOf('Hallo du');
  const [{ redraft } = {}] = requests;
  expect(redraft?.(tokensOf('language German', TAG))).toEqual(spoken);
  expect(redraft?.(tokensOf('language German', TAG, 'Hal'))).toEqual(spoken.slice(3));
  for (const written of [tokensOf('language German'), tokensOf('language German', TAG, 'Hol'), tokensOf('Hallo')])
    expect(redraft?.(written)).toEqual([]);
  await runThrough(asr.transcribe(speech(3), [], { draftText: 'Hallo du', language: 'de' }));
  expect(requests[1]?.redraft).toBeUndefined();
});

it('writes no more tokens than can be said, and leaves a draft room for one', async () => {
  const { asr, requests } = recogniserOf([]);
  const long = new Array<number>(500).fill(5);
  for (const options of [{ language: 'en' }, {}]) await runThrough(asr.transcribe(speech(2), long, options));
  expect(requests.map(({ maxTokens }) => maxTokens)).toEqual([15, 23]);
  expect(requests.map(({ draft }) => draft.length)).toEqual([14, 22]);
});

it('takes 128 tokens of a draft, and 512 of what is known, however much strangers write', async () => {
  const { asr, requests } = recogniserOf([[], []]);
  const read = async (context: string, hotWords: readonly string[], draftText: string) => {
    await runThrough(asr.transcribe(speech(30), [], { language: 'zh', context, hotWords, draftText }));
    return requests.at(-1) as TextRequest;
  };
  const short = await read('', [], '');
  const { prompt, draft } = await read(
    '😀'.repeat(1000),
    new Array<string>(100).fill('😀'.repeat(32)),
    '😀'.repeat(1000),
  );
  expect(draft).toHaveLength(128);
  expect(prompt.length - short.prompt.length).toBeGreaterThan(500);
  expect(prompt.length - short.prompt.length).toBeLessThanOrEqual(512);
  expect(tokenizer.textOf(prompt)).not.toContain('\ufffd');
});

it('gives names their place behind a context without end', async () => {
  const { asr, requests } = recogniserOf([[]]);
  const hotWords = ['Muller', 'St. Anna'];
  await runThrough(asr.transcribe(speech(1), [], { language: 'de', context: 'word '.repeat(400), hotWords }));
  expect(promptOf(requests[0] as TextRequest)).toMatch(/^system\nword .* ?w?o?r?d?\nMuller, St\. Anna\nuser\n/);
});

it('asks for 128 tokens of a draft where the language turns out to be another', async () => {
  const { asr, requests } = recogniserOf([[]]);
  await runThrough(asr.transcribe(speech(30), [], { draftText: '😀'.repeat(1000) }));
  const { draft, redraft } = requests[0] as TextRequest;
  expect(draft).toHaveLength(128);
  expect(redraft?.(tokensOf('language German', TAG))).toHaveLength(128);
});

it('fixes what a partial of a long utterance took over, and asks for 32 tokens more', async () => {
  const draft = tokensOf('language English', TAG, 'one two three four five');
  const { asr, requests } = recogniserOf([tokensOf('e six'), [], []]);
  const read = await runThrough(asr.transcribe(speech(6), draft, { goesOn: true }));
  const [first] = requests;
  const fixed = tokenizer.textOf(draft.slice(0, -5));
  expect(promptOf(first as TextRequest).endsWith(`assistant\n${fixed}`)).toBe(true);
  expect(first?.prompt).toContain(prompts.textTag);
  expect(first).toMatchObject({ draft: draft.slice(-5), newTokensMax: 32 });
  expect(read.text).toBe(`${fixed}e six`.replace('language English<asr_text>', ''));
  expect(read).toMatchObject({ language: 'en', logprobs: null });
  await runThrough(asr.transcribe(speech(4), draft, { goesOn: true }));
  await runThrough(asr.transcribe(speech(6), draft));
  expect(requests.slice(1).map((request) => [promptOf(request).slice(-10), request.draft])).toEqual([
    ['assistant\n', draft],
    ['assistant\n', draft],
  ]);
});

it('collapses a loop, and gives no draft then', async () => {
  const { asr } = recogniserOf([tokensOf('language English', TAG, 'no '.repeat(30))]);
  expect(await runThrough(asr.transcribe(speech(1), [], { spelled: true }))).toEqual({
    text: 'no no',
    tokens: [],
    logprobs: new Float32Array(0),
    looped: true,
    language: 'en',
    pieces: [],
  });
});

it('cuts what may need more tokens than it writes, and joins the texts', async () => {
  const written = [
    tokensOf('language German', TAG, 'eins'),
    tokensOf('language None', TAG),
    tokensOf('你好。'),
    tokensOf('x'),
  ];
  const { asr, requests } = recogniserOf(written, { maxNewTokens: 62 });
  const read = await runThrough(asr.transcribe(speech(17), tokensOf('draft'), { draftText: 'a', spelled: true }));
  expect(requests.length).toBe(4);
  expect(requests.every(({ draft, maxTokens }) => draft.length === 0 && maxTokens <= 62)).toBe(true);
  expect(read).toMatchObject({ text: 'eins 你好。x', language: 'de', tokens: [], looped: false });
  expect(read.logprobs?.length).toBe(read.pieces?.length);
});

it('says when words were said where that is asked for and can be told', async () => {
  const { asr } = recogniserOf([tokensOf('a b'), tokensOf('a b'), tokensOf('a b'), tokensOf('a b')]);
  const read = (options: object) => runThrough(asr.transcribe(speech(1), [], options));
  const words = [
    { text: 'a', startMs: 100, endMs: 1000 },
    { text: 'b', startMs: 100, endMs: 1000 },
  ];
  expect((await read({ timed: true, language: 'en' })).words).toEqual(words);
  expect(await read({ timed: true, language: 'de' })).not.toHaveProperty('words');
  expect(await read({ language: 'en' })).not.toHaveProperty('words');
  // The language was neither told nor found.
  expect(await read({ timed: true })).not.toHaveProperty('words');
});

it('says of words in long speech when they were said in all of it', async () => {
  const { asr, requests } = recogniserOf(Array.from({ length: 9 }, () => tokensOf('a')));
  const { words = [] } = await runThrough(asr.transcribe(speech(100), [], { timed: true, language: 'en' }));
  expect(requests.length).toBeGreaterThan(1);
  expect(words).toHaveLength(requests.length);
  expect(words[0]?.startMs).toBe(100);
  expect(words.slice(1).every(({ startMs }, index) => startMs >= (words[index]?.endMs ?? 0))).toBe(true);
});

it.each([
  ['cpu', [4]],
  ['cuda', [1, 2, 4, 8, 16, 32, 4]],
] as const)('warms up what takes long the first time on %s, and every kind of run', async (provider, expected) => {
  const { asr, requests, chunks } = recogniserOf([], {}, provider);
  await asr.warmUp(speech(4));
  expect(chunks).toEqual(expected);
  expect(requests).toMatchObject([{ newTokensMax: 16, endTokens: [-1] }]);
  expect(requests[0]?.draft.length).toBeGreaterThan(4);
});
