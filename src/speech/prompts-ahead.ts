/**
 * Prompts that are made before anybody asks for them, and stay: those of PROMPTS_FILE, and what flows say. They are
 * pushed out of the cache last, and are not forgotten with the calls in which they were said.
 */
import { EngineError } from '../engine-client/engine.ts';
import type { Log } from '../foundation/log/log.ts';
import { type Codec, MULAW_8K } from '../foundation/units.ts';
import { textHashOf } from './prompt.ts';
import type { PromptCache } from './prompt-cache.ts';
import type { SentenceSynthesizer } from './sentence-synthesizer.ts';
import { spokenSentencesOf } from './spoken-sentences.ts';
import { TextStream } from './text-stream.ts';

/** Nobody waits for a prompt made ahead. */
const AHEAD_DUE_MS = 600_000;
/** Further ones are made as they are wanted: no operator has so many carriers. */
const CODECS_MAX = 4;

/** A text whose prompts are made ahead, and the voice that speaks it. */
export interface PromptText {
  readonly text: string;
  readonly voice?: string | undefined;
  /** Another voice may speak it where there is none of that name. */
  readonly voiceIsWish?: boolean | undefined;
  readonly speed?: number | undefined;
  /** BCP-47: the language of a text without a voice. */
  readonly lang?: string | undefined;
}

/** What became of texts that were made ahead. */
export interface AheadReport {
  readonly texts: number;
  /** Of their sentences those that an engine had to make; the others were there. */
  readonly made: number;
  readonly sentences: number;
  /** Texts that could not be made. */
  readonly failed: number;
}

interface AheadOptions {
  readonly synthesizer: SentenceSynthesizer;
  readonly codec: Codec;
  readonly signal: AbortSignal;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Whose they are, for the log. */
  readonly owner: string;
  /** A text is done. */
  readonly onText?: (() => void) | undefined;
}

/**
 * Makes the prompts of `texts` one after the other, behind all other work of the engine, until the signal aborts. Never
 * rejects.
 */
export async function makePromptsAhead(texts: readonly PromptText[], options: AheadOptions): Promise<AheadReport> {
  const { signal, log, owner, onText } = options;
  const report = { texts: texts.length, made: 0, sentences: 0, failed: 0 };
  for (const text of texts) {
    if (signal.aborted) return report;
    try {
      await makePrompts(text, options, report);
    } catch (error) {
      if (signal.aborted) return report;
      report.failed++;
      const code = error instanceof EngineError ? error.code : undefined;
      log.warn(code === undefined ? { err: error } : { code }, `a prompt of ${owner} could not be made`);
    }
    onText?.();
  }
  if (!signal.aborted)
    log.info({ prompts: texts.length, made: report.made, failed: report.failed, owner }, 'prompts made');
  return report;
}

async function makePrompts(
  { text, voice, voiceIsWish, speed, lang }: PromptText,
  { synthesizer, codec, signal }: AheadOptions,
  report: { made: number; sentences: number },
): Promise<void> {
  const resolved = await synthesizer.voices.resolve({
    ...(voice !== undefined && { voice }),
    ...(voiceIsWish !== undefined && { voiceIsWish }),
    ...(speed !== undefined && { speed }),
    ...(lang !== undefined && { lang }),
  });
  const pieces = synthesizer.synthesize(TextStream.of(text), resolved, {
    codec,
    urgency: 'batch',
    dueInMs: () => AHEAD_DUE_MS,
    signal,
  });
  for await (const { parts, origin } of pieces) {
    for await (const _ of parts);
    if (origin.from === null) continue;
    report.sentences++;
    if (origin.from === 'engine') report.made++;
  }
}

interface PromptsAheadOptions {
  readonly synthesizer: SentenceSynthesizer;
  readonly cache: Pick<PromptCache, 'pin' | 'settled'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** The texts that stay, by whose they are. */
export class PromptsAhead {
  readonly #options: PromptsAheadOptions;
  readonly #texts = new Map<string, readonly PromptText[]>();
  readonly #ended = new AbortController();
  /** In which calls are spoken to. The first is that of most carriers. */
  readonly #codecs: Codec[] = [MULAW_8K];
  /** How many owners have a sentence, by the hash of its text. */
  readonly #owners = new Map<string, number>();
  /** What is made is made one after the other. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: PromptsAheadOptions) {
    this.#options = options;
  }

  /** Whether a sentence is among them. */
  has(sentence: string): boolean {
    return this.#owners.has(textHashOf(sentence));
  }

  /** In which prompts are made. */
  get codecs(): readonly Codec[] {
    return this.#codecs;
  }

  /** The texts of `owner`, in place of those before; none = the owner is gone. They stay from now on. */
  keep(owner: string, texts: readonly PromptText[]): void {
    this.#count(this.#texts.get(owner) ?? [], -1);
    if (texts.length === 0) this.#texts.delete(owner);
    else this.#texts.set(owner, texts);
    this.#count(texts, 1);
    this.#options.cache.pin((textHash) => this.#owners.has(textHash));
  }

  /**
   * Makes what is missing of the texts of `owner`, in each codec in use. `onText` is told of each that is done, and of
   * how many. Resolves when all are there, on disk too, or the gateway ends. Never rejects.
   */
  async make(owner: string, onText?: (done: number, all: number) => void): Promise<AheadReport> {
    const texts = this.#texts.get(owner) ?? [];
    const all = texts.length * this.#codecs.length;
    let done = 0;
    const told = onText && (() => onText(++done, all));
    const reports = await Promise.all(this.#codecs.map((codec) => this.#makeIn(codec, owner, texts, told)));
    await this.#options.cache.settled();
    const sum = (read: (report: AheadReport) => number): number =>
      reports.reduce((total, each) => total + read(each), 0);
    return {
      texts: texts.length,
      made: sum(({ made }) => made),
      sentences: sum(({ sentences }) => sentences),
      failed: sum(({ failed }) => failed),
    };
  }

  /** A call is spoken to in `codec`: what stays is made in it too. */
  noteCodec(codec: Codec): void {
    const isKnown = this.#codecs.some(({ name, rateHz }) => name === codec.name && rateHz === codec.rateHz);
    if (isKnown || this.#codecs.length === CODECS_MAX) return;
    this.#codecs.push(codec);
    for (const [owner, texts] of this.#texts) void this.#makeIn(codec, owner, texts);
  }

  /** Makes nothing more. */
  close(): void {
    this.#ended.abort();
  }

  #count(texts: readonly PromptText[], step: 1 | -1): void {
    for (const hash of new Set(texts.flatMap(({ text }) => spokenSentencesOf(text)).map(textHashOf))) {
      const owners = (this.#owners.get(hash) ?? 0) + step;
      if (owners === 0) this.#owners.delete(hash);
      else this.#owners.set(hash, owners);
    }
  }

  #makeIn(codec: Codec, owner: string, texts: readonly PromptText[], onText?: () => void): Promise<AheadReport> {
    const { synthesizer, log } = this.#options;
    const options = { synthesizer, codec, signal: this.#ended.signal, log, owner, onText };
    const made = this.#tail.then(() => makePromptsAhead(texts, options));
    this.#tail = made;
    return made;
  }
}
