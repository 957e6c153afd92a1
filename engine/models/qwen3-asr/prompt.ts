/**
 * The prompt of Qwen3-ASR, as `_build_text_prompt` of qwen_asr/inference/qwen3_asr.py writes it: a system turn with
 * what is known of the speech, a user turn with the speech, and the beginning of the answer.
 */
import { ModelFileError } from '../folder-files.ts';
import type { QwenConfig } from './config.ts';
import { languagePrefix, TEXT_TAG } from './output.ts';
import type { QwenTokenizer, TextPart } from './tokenizer.ts';

/** Control tokens by their names. */
const TURN = { token: '<|im_start|>' } as const;
const TURN_END = { token: '<|im_end|>' } as const;
const AUDIO = { token: '<|audio_start|>' } as const;
const AUDIO_END = { token: '<|audio_end|>' } as const;
const TAG = { token: TEXT_TAG } as const;
const AUDIO_PAD = '<|audio_pad|>';

/**
 * Of what is known of the speech. Two thousand characters of English have 450; as many that nobody speaks have 6000,
 * and strangers may write them: keys and values of 1000 take 0.9 GB more of 0.6B, and double the time of each token.
 */
const KNOWN_TOKENS_MAX = 512;

/** What is left of a character that was cut in two. */
const BROKEN_END = /(?<!\ufffd)\ufffd+$/u;

/** What a prompt says. */
export interface PromptContent {
  /** Anything that helps to understand the speech; '' = nothing. */
  readonly context: string;
  /** Names and phrases that are likely to be said. */
  readonly hotWords: readonly string[];
  readonly audioTokens: number;
  /** How the answer begins. */
  readonly answer: readonly TextPart[];
}

/** The beginning of an answer in a language that is told, by its English name. */
export function answerIn(languageName: string): TextPart[] {
  return [languagePrefix(languageName), TAG];
}

/** Writes prompts. */
export class PromptWriter {
  readonly #tokenizer: QwenTokenizer;
  readonly #audioPad: number;
  readonly #knownTokensMax: number;
  readonly #controls: ReadonlySet<number>;
  /** The token behind which the text stands. */
  readonly textTag: number;

  /**
   * @param knownTokensMax what is known of the speech has about so many at most: the end of what has more is left out
   * @throws ModelFileError when a token of the prompt is missing, or is another one than the model's
   */
  constructor(
    tokenizer: QwenTokenizer,
    { audioPadToken, endTokens }: Pick<QwenConfig, 'audioPadToken' | 'endTokens'>,
    knownTokensMax = KNOWN_TOKENS_MAX,
  ) {
    this.#tokenizer = tokenizer;
    this.#knownTokensMax = knownTokensMax;
    this.#audioPad = audioPadToken;
    const names = [TURN.token, TURN_END.token, AUDIO.token, AUDIO_END.token, AUDIO_PAD];
    this.#controls = new Set(names.map((name) => tokenizer.idOf(name)));
    if (tokenizer.idOf(AUDIO_PAD) !== audioPadToken)
      throw new ModelFileError(`${AUDIO_PAD}: got ${tokenizer.idOf(AUDIO_PAD)}, expected ${audioPadToken}`);
    if (!endTokens.includes(tokenizer.idOf(TURN_END.token)))
      throw new ModelFileError(`${TURN_END.token}: got ${tokenizer.idOf(TURN_END.token)}, expected an end token`);
    this.textTag = tokenizer.idOf(TEXT_TAG);
  }

  /** Whether a token is for prompts, and not for what was said; a tokenizer may hold it for text. */
  isControl(token: number): boolean {
    return this.#controls.has(token) || this.#tokenizer.isControl(token);
  }

  /** The tokens of a prompt. */
  write({ context, hotWords, audioTokens, answer }: PromptContent): number[] {
    const pads = new Array<number>(audioTokens).fill(this.#audioPad);
    const known = this.#known(context, hotWords);
    const before = [TURN, 'system\n', known, TURN_END, '\n', TURN, 'user\n', AUDIO];
    const behind = [AUDIO_END, TURN_END, '\n', TURN, 'assistant\n', ...answer];
    return [...this.#tokenizer.encodeParts(before), ...pads, ...this.#tokenizer.encodeParts(behind)];
  }

  /**
   * Context and names, in as many tokens as there may be. Names have half of them: whoever writes a long context is not
   * who names them.
   */
  #known(context: string, hotWords: readonly string[]): string {
    const names = this.#shortened(hotWords.join(', '), Math.floor(this.#knownTokensMax / 2));
    const left = this.#knownTokensMax - this.#tokenizer.encode(names).length - (names === '' ? 0 : 1);
    return knownText(this.#shortened(context.trim(), left), names);
  }

  #shortened(text: string, tokensMax: number): string {
    const tokens = this.#tokenizer.encode(text);
    if (tokens.length <= tokensMax) return text;
    return this.#tokenizer.textOf(tokens.slice(0, tokensMax)).replace(BROKEN_END, '');
  }
}

/** Qwen's users write names one after the other; a comma keeps those of several words apart. */
function knownText(context: string, names: string): string {
  return [context, names].filter((text) => text !== '').join('\n');
}
