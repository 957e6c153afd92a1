/**
 * Whisper's tokens: those of text are GPT-2's, or of the same kind; behind them are those that stand in the prompt, by
 * their names, for their numbers differ from version to version.
 */
import { ModelFileError } from '../folder-files.ts';
import { QwenTokenizer } from '../qwen3-asr/tokenizer.ts';
import { GPT2_SPLITTER } from '../qwen3-asr/tokenizer-file.ts';
import type { TokenTexts } from '../token-texts.ts';
import { readMerges, readVocabulary } from '../tokenizer-files.ts';

/** Tags that Whisper writes in a way of its own. */
const BCP47: Readonly<Record<string, string>> = { jw: 'jv' };

/** Scripts that put no space between words: each of their characters may begin one. */
const SPACELESS =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}]/u;
const SPACE = 0x20;

/** The tokens with a meaning of their own. */
export interface ControlTokens {
  readonly start: number;
  readonly end: number;
  readonly transcribe: number;
  readonly withoutTimes: number;
  /** Null = the vocabulary has none. */
  readonly noSpeech: number | null;
}

/** What tokens write, and which are for what. */
export class WhisperVocabulary implements TokenTexts {
  readonly control: ControlTokens;
  /** By BCP-47, in the order of the vocabulary; empty where the model knows but one. */
  readonly languages: ReadonlyMap<string, number>;
  readonly #tokenizer: QwenTokenizer;
  readonly #decoder = new TextDecoder();

  /**
   * @param json the text of `tokenizer.json`
   * @throws ModelFileError when it is no such file, or a token is missing
   */
  constructor(json: string, { vocabularySize, isMultilingual }: { vocabularySize: number; isMultilingual: boolean }) {
    this.#tokenizer = new QwenTokenizer(json, vocabularySize);
    const ids = addedIn(json);
    const idOf = (name: string) => {
      const id = ids.get(`<|${name}|>`);
      if (id === undefined) throw new ModelFileError(`it has no token <|${name}|>`);
      return id;
    };
    this.control = {
      start: idOf('startoftranscript'),
      end: idOf('endoftext'),
      transcribe: idOf('transcribe'),
      withoutTimes: idOf('notimestamps'),
      noSpeech: ids.get('<|nospeech|>') ?? ids.get('<|nocaptions|>') ?? null,
    };
    this.languages = isMultilingual ? languagesIn(ids) : new Map();
    requireOrder(this.control, this.languages, this.#tokenizer.plainEnd);
  }

  textOf(tokens: readonly number[]): string {
    return this.#tokenizer.textOf(tokens.filter((token) => this.#isText(token))).trim();
  }

  pieceOf(token: number): Uint8Array {
    return this.#isText(token) ? this.#tokenizer.pieceOf(token) : new Uint8Array(0);
  }

  /** What one token writes, with a space before a word. */
  writtenBy(token: number): string {
    return this.#decoder.decode(this.pieceOf(token));
  }

  beginsWord(token: number): boolean {
    const piece = this.pieceOf(token);
    return piece[0] === SPACE || SPACELESS.test(this.#decoder.decode(piece));
  }

  /** The token of a language (BCP-47), or of the one that it is a kind of; null = it has none. */
  tokenOf(language: string): number | null {
    return this.languages.get(language) ?? this.languages.get(language.split('-')[0] ?? '') ?? null;
  }

  /** The tokens of plain text. */
  encode(text: string): readonly number[] {
    return this.#tokenizer.encode(text);
  }

  #isText(token: number): boolean {
    return token < this.control.end;
  }
}

/** What is said has lower numbers than what ends it, and what stands in the prompt has higher ones. */
function requireOrder(
  { start, end, transcribe, withoutTimes }: ControlTokens,
  languages: ReadonlyMap<string, number>,
  plainEnd: number,
): void {
  if (plainEnd <= end && [start, transcribe, withoutTimes, ...languages.values()].every((token) => token > end)) return;
  throw new ModelFileError(
    `<|endoftext|>: got ${end}, expected a number behind those of text and before those of the other control tokens`,
  );
}

function addedIn(json: string): ReadonlyMap<string, number> {
  const { added_tokens: added = [] } = JSON.parse(json) as { added_tokens?: { content: string; id: number }[] };
  return new Map(added.map(({ content, id }) => [content, id]));
}

function languagesIn(ids: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const found = [...ids].flatMap(([name, id]) => {
    const code = /^<\|([a-z]{2,3})\|>$/.exec(name)?.[1];
    return code === undefined ? [] : [[BCP47[code] ?? code, id] as const];
  });
  return new Map(found.sort(([, a], [, b]) => a - b));
}

/** The vocabulary of folders that have it in files of GPT-2's kind, as a `tokenizer.json`. @throws ModelFileError */
export function tokenizerOf(vocabulary: string, merges: string, added: string): string {
  const control = Object.entries(readVocabulary(added, 'added_tokens.json')).map(([content, id]) => ({
    id,
    content,
    special: true,
  }));
  const pieces = Object.entries(readVocabulary(vocabulary, 'vocab.json'));
  const controls = new Set(control.map(({ id }) => id));
  const text = pieces.filter(([, id]) => !controls.has(id));
  return JSON.stringify({
    added_tokens: [...control, ...endIn(text)],
    normalizer: null,
    pre_tokenizer: GPT2_SPLITTER,
    model: { type: 'BPE', vocab: Object.fromEntries(text), merges: readMerges(merges) },
  });
}

/** `<|endoftext|>` is in the vocabulary itself where `added_tokens.json` leaves it out. */
function endIn(text: readonly (readonly [string, number])[]): readonly object[] {
  return text.flatMap(([content, id]) => (content === '<|endoftext|>' ? [{ id, content, special: true }] : []));
}
