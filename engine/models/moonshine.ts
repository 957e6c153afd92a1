/**
 * Moonshine tiny (English), with the weights that `@moonshine-ai/moonshine-js` ships. See the Moonshine paper,
 * arXiv:2410.15608.
 */
import llamaTokenizer from 'llama-tokenizer-js';
import { ENGINE_RATE_HZ } from '../contract.ts';
import { moonshineFiles, type ShippedFiles } from '../graph/moonshine.ts';
import { END_TOKEN, START_TOKEN, VOCABULARY_SIZE } from '../graph/moonshine-shape.ts';
import type { SessionOptions } from '../onnx.ts';
import { runThrough, type Steps } from '../scheduler.ts';
import { ExpectedWords } from './expected-words.ts';
import { decodeGreedily, type Said } from './greedy.ts';
import { HotWords, type HotWordVocabulary } from './hot-words.ts';
import type { Asr, ReadingOptions, Recognition } from './model.ts';
import type { Decoding, MoonshineGraphs } from './moonshine-graphs.ts';
import { openRewrittenGraphs } from './moonshine-rewritten.ts';
import { openShippedGraphs } from './moonshine-shipped.ts';
import { MOONSHINE_FILES, pathOf } from './package-files.ts';
import { writeFloats } from './pcm.ts';
import { PieceEncoder, SPACE_MARK } from './piece-encoder.ts';
import { tokensAtMost } from './speaking-pace.ts';
import { type TokenTexts, toRecognition, upToEnd, withPieces, wordsOf } from './token-texts.ts';

/** The tokenizer knows the first 32000 tokens; the first three are control tokens. */
const TEXT_TOKENS_FROM = 3;
const TEXT_TOKENS_TO = 32_000;

// Text is only decoded here, which needs none of the 32,000 pairs that encoding merges: 5 MB.
llamaTokenizer.merges.clear();

/**
 * The encoder's convolutions need 895 samples; shorter speech is padded to 100 ms with silence, which does no harm at
 * the end.
 */
const SAMPLES_MIN = ENGINE_RATE_HZ / 10;

/** Decoder runs of a warm-up, and the text token that its draft is made of. */
const WARM_UP_RUNS = 8;
const WARM_UP_TOKEN = 278;

/** How Moonshine is to be run. */
export interface MoonshineOptions extends SessionOptions {
  readonly graphs: 'rewritten' | 'shipped';
  /** Folder in which rewritten graphs are kept. */
  readonly cacheDir: string;
  /** Tokens of one decoder run at most, with rewritten graphs. */
  readonly runTokens: number;
  /** Called once, when graphs are rewritten. */
  readonly progress: (text: string) => void;
}

/**
 * Opens the model.
 * @returns the recogniser, and why it does not run on the graphs asked for; null = it does.
 * @throws Refusal when a shipped file or the device is missing.
 */
export async function loadMoonshine(options: MoonshineOptions): Promise<{ asr: Asr; warning: string | null }> {
  const { graphs, warning } = await openGraphs(options);
  return { asr: moonshineOn(graphs, options.device.provider), warning };
}

/** Moonshine tiny on graphs that are open. */
export function moonshineOn(graphs: MoonshineGraphs, provider: 'cpu' | 'cuda'): Asr {
  return new Moonshine(graphs, { ...TINY, provider });
}

/** Which Moonshine it is. */
export interface MoonshineModel {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  /** BCP-47. */
  readonly languages: readonly string[];
  readonly vocabularySize: number;
  readonly texts: TokenTexts;
  readonly hotWords: HotWordVocabulary;
}

/** The operators of the rewritten graphs are there for the CPU alone; a GPU runs the shipped ones. */
async function openGraphs(options: MoonshineOptions): Promise<{ graphs: MoonshineGraphs; warning: string | null }> {
  const shipped = shippedFiles();
  if (options.graphs === 'shipped' || options.device.provider !== 'cpu') {
    return { graphs: await openShippedGraphs(shipped, options), warning: null };
  }
  try {
    const files = await moonshineFiles({ shipped, cacheDir: options.cacheDir, progress: options.progress });
    return { graphs: await openRewrittenGraphs(files, options, options.runTokens), warning: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const warning =
      `recognition takes twice the time, for its graphs could not be rewritten: ${reason}; set MODEL_CACHE_DIR ` +
      'to a folder that this user can write and others cannot';
    return { graphs: await openShippedGraphs(shipped, options), warning };
  }
}

/** The graphs in the npm package. */
export function shippedFiles(): ShippedFiles {
  return { encoder: pathOf(MOONSHINE_FILES.encoder), decoder: pathOf(MOONSHINE_FILES.decoder) };
}

/** The recogniser, on graphs that are open. */
export class Moonshine implements Asr {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  readonly vocabularySize: number;
  readonly #graphs: MoonshineGraphs;
  readonly #model: MoonshineModel;
  readonly #expectedWords: ExpectedWords;

  constructor(graphs: MoonshineGraphs, model: MoonshineModel) {
    this.name = model.name;
    this.provider = model.provider;
    this.vocabularySize = model.vocabularySize;
    this.#graphs = graphs;
    this.#model = model;
    const { vocabularySize } = model;
    const shape = { startToken: START_TOKEN, endToken: END_TOKEN, vocabularySize };
    this.#expectedWords = new ExpectedWords(model.hotWords, shape);
  }

  async *transcribe(
    samples: Int16Array,
    draft: readonly number[],
    { timed = false, spelled = false, hotWords = [], expectedWords = [] }: ReadingOptions = {},
  ): Steps<Recognition> {
    if (samples.length === 0) return { text: '', tokens: [], logprobs: new Float32Array(0), looped: false };
    const { languages, texts, hotWords: vocabulary, vocabularySize } = this.#model;
    const maxTokens = tokensAtMost(samples.length, languages);
    const decoding = yield* this.#graphs.encode(toWaveform(samples));
    yield;
    // A draft leaves room for at least one token more.
    const drafted = upToEnd(draft, END_TOKEN, maxTokens - 1);
    const words = hotWords.length === 0 ? null : new HotWords(hotWords, vocabulary);
    const { tokens, logprobs } = yield* words === null || words.isEmpty
      ? decode(decoding, drafted, maxTokens)
      : decodeGreedily(decoding.withLogits(), {
          startToken: START_TOKEN,
          endToken: END_TOKEN,
          vocabularySize,
          maxTokens,
          draft: drafted,
          hotWords: words,
        });
    const read = toRecognition(upToEnd(tokens, END_TOKEN, maxTokens), logprobs, texts);
    const readings = yield* this.#readExpected(decoding, expectedWords, { maxTokens, tokens, logprobs });
    const recognition = { ...(spelled ? withPieces(read, texts) : read), ...readings };
    if (!timed || recognition.looped) return recognition;
    yield;
    const times = await decoding.align(recognition.tokens);
    return times === null ? recognition : { ...recognition, words: wordsOf(recognition, times, texts) };
  }

  async *#readExpected(
    decoding: Decoding,
    words: readonly string[],
    { maxTokens, tokens, logprobs }: Said & { readonly maxTokens: number },
  ): Steps<Pick<Recognition, 'expectedReadings'>> {
    if (words.length === 0) return {};
    yield;
    const end = tokens.indexOf(END_TOKEN);
    const own = logprobs.slice(0, end === -1 ? undefined : end + 1);
    const ownLogprob = own.reduce((sum, logprob) => sum + logprob, 0);
    const speech = { text: decoding.withLogits(), words, maxTokens, ownLogprob };
    return { expectedReadings: yield* this.#expectedWords.read(speech, this.#model.texts.textOf) };
  }

  async warmUp(samples: Int16Array): Promise<void> {
    const decoding = await runThrough(this.#graphs.encode(toWaveform(samples)));
    await decoding.start(Array.from({ length: WARM_UP_RUNS }, () => WARM_UP_TOKEN));
    for (let i = 0; i < WARM_UP_RUNS; i++) await decoding.more();
  }
}

/** One step for each model run. */
async function* decode(decoding: Decoding, draft: readonly number[], maxTokens: number): Steps<Said> {
  let said = await decoding.start(draft);
  const tokens = [...said.tokens];
  const logprobs = [...said.logprobs];
  while (!tokens.includes(END_TOKEN) && tokens.length < maxTokens) {
    yield;
    said = await decoding.more();
    tokens.push(...said.tokens);
    logprobs.push(...said.logprobs);
  }
  return { tokens, logprobs };
}

function toWaveform(samples: Int16Array): Float32Array {
  const waveform = new Float32Array(Math.max(samples.length, SAMPLES_MIN));
  writeFloats(samples, waveform, 0);
  return waveform;
}

function textOf(tokens: readonly number[]): string {
  return llamaTokenizer.decode(tokens.filter(isText), false, false).trim();
}

/** A token that stands for a byte, as llama's tokenizer writes it. */
const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

/** What a token writes; control tokens write nothing. */
function pieceOf(token: number): Uint8Array {
  const written = isText(token) ? (llamaTokenizer.vocabById[token] ?? '') : '';
  const byte = BYTE_TOKEN.exec(written)?.[1];
  if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  return new TextEncoder().encode(written.replaceAll(SPACE_MARK, ' '));
}

function isText(token: number): boolean {
  return token >= TEXT_TOKENS_FROM && token < TEXT_TOKENS_TO;
}

function beginsWord(token: number): boolean {
  return isText(token) && (llamaTokenizer.vocabById[token]?.startsWith(SPACE_MARK) ?? false);
}

const TEXTS: TokenTexts = { textOf, pieceOf, beginsWord };

/** Made when hot words come for the first time: it takes some megabytes. */
let encoder: PieceEncoder | null = null;

const VOCABULARY: HotWordVocabulary = {
  encode: (text) => {
    encoder ??= new PieceEncoder(llamaTokenizer.vocabById);
    return encoder.encode(text);
  },
  textOf: (token) => new TextDecoder().decode(pieceOf(token)),
};

const TINY: Omit<MoonshineModel, 'provider'> = {
  name: 'moonshine-tiny',
  languages: ['en'],
  vocabularySize: VOCABULARY_SIZE,
  texts: TEXTS,
  hotWords: VOCABULARY,
};
