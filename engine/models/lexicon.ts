/** Words that the operator wants said in a way of their own, and synthesizers that say them so. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { SPEAK_TEXT_MAX_CHARS, type VoiceInfo } from '../contract.ts';
import { Refusal } from '../refusal.ts';
import type { Steps } from '../scheduler.ts';
import { LEXICON_MAX_BYTES, type LexiconEntry, LexiconError, parseLexicon } from './lexicon-file.ts';
import type { Line, Sound, Tts } from './model.ts';
import { type Accent, inAccent } from './phoneme-symbols.ts';
import { WordFinder } from './word-finder.ts';

const LANGUAGE_OF: Readonly<Record<Accent, string>> = { us: 'en-US', gb: 'en-GB' };
const REVISION_CHARS = 8;
/** A text that has grown to this is said as it is from there on. */
const RESPELT_MAX_CHARS = 2 * SPEAK_TEXT_MAX_CHARS;

/** The operator's words. */
export class Lexicon {
  readonly #entries: readonly LexiconEntry[];
  readonly #finders = new Map<string, WordFinder<string>>();

  constructor(entries: readonly LexiconEntry[]) {
    this.#entries = entries;
  }

  /** The phonemes of words for the voices of an accent. */
  phonemes(accent: Accent): ReadonlyMap<string, string> {
    const entries = this.#entriesFor(LANGUAGE_OF[accent]).filter(({ kind }) => kind === 'phonemes');
    return new Map(entries.map(({ words, said }) => [words, inAccent(said, accent)]));
  }

  /** A text as a voice of `language` is to be given it. */
  respell(text: string, language: string): string {
    let respelt = '';
    for (const { text: stretch, value } of this.#finderFor(language).split(text)) {
      respelt += value === undefined || respelt.length + value.length > RESPELT_MAX_CHARS ? stretch : value;
    }
    return respelt;
  }

  /** Differs where words are said otherwise in `language`; empty where no entry is for it. */
  revision(language: string): string {
    const entries = this.#entriesFor(language).map(({ words, kind, said }) => [words, kind, said]);
    if (entries.length === 0) return '';
    return createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, REVISION_CHARS);
  }

  #finderFor(language: string): WordFinder<string> {
    const known = this.#finders.get(language);
    if (known !== undefined) return known;
    const respellings = this.#entriesFor(language).filter(({ kind }) => kind === 'respelling');
    const finder = new WordFinder(new Map(respellings.map(({ words, said }) => [words, said])));
    this.#finders.set(language, finder);
    return finder;
  }

  /** Of two entries for a word, that for a region goes before that for its language. */
  #entriesFor(language: string): LexiconEntry[] {
    const spoken = language.toLowerCase();
    const fitting = this.#entries.filter((entry) => `${spoken}-`.startsWith(`${entry.language}-`));
    const general = fitting.toSorted((a, b) => a.language.length - b.language.length);
    return [...new Map(general.map((entry) => [entry.words, entry])).values()];
  }
}

/**
 * Reads the operator's file; '' = there is none.
 * @throws Refusal `bad_settings` when it cannot be read or a line is wrong.
 */
export async function readLexicon(path: string): Promise<Lexicon> {
  if (path === '') return new Lexicon([]);
  try {
    return new Lexicon(parseLexicon(await readText(path)));
  } catch (error) {
    const reason = error instanceof LexiconError ? error.message : `cannot be read: ${reasonOf(error)}`;
    throw new Refusal('bad_settings', `LEXICON_FILE ${path}: ${reason}`);
  }
}

async function readText(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(LEXICON_MAX_BYTES + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    if (bytesRead > LEXICON_MAX_BYTES) throw new Error(`expected at most ${LEXICON_MAX_BYTES} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'it is not UTF-8';
  return error instanceof Error ? error.message : String(error);
}

/** `tts` with the operator's respellings in the texts that it is given. The revision of its voices tells of them. */
export function respelling(tts: Tts, lexicon: Lexicon): Tts {
  const voices = tts.voices.map((voice) => withRevision(voice, lexicon.revision(voice.language)));
  const languages = new Map(voices.map(({ name, language }) => [name, language]));
  return Object.freeze({
    name: tts.name,
    voices,
    async *speak(line: Line, tell: (sound: Sound) => void): Steps<Sound> {
      const { text, voice, speed } = line;
      const respelt = lexicon.respell(text, languages.get(voice) ?? '');
      return yield* tts.speak({ text: respelt, voice, speed }, tell);
    },
  });
}

function withRevision(voice: VoiceInfo, revision: string): VoiceInfo {
  return revision === '' ? voice : { ...voice, model: `${voice.model}+lexicon-${revision}` };
}
