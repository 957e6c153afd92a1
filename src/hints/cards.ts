/** HINTS_FILE: cards that are shown beside a call in which their words are said. */
import { z } from 'zod';
import { parseYaml, type Refuse } from '../foundation/yaml-text.ts';
import { LinearPattern } from '../records/redaction/linear-pattern.ts';
import { PatternError } from '../records/redaction/pattern-syntax.ts';
import { tokenise } from '../records/redaction/tokens.ts';

/** A file with as many cards as there may be, each of a page, has room. */
export const CARDS_FILE_MAX_BYTES = 1_048_576;
/** Nobody has more to say; and each call remembers which of them it was shown. */
const CARDS_MAX = 500;
const PHRASES_MAX = 50;
/** Longer ones would span more than what is looked at together. */
const PHRASE_MAX_TOKENS = 12;
/**
 * All patterns together: each step costs time for every character that is said. Measured with 267 characters, in CPU
 * time: ordinary patterns of 858 steps took 3.6 ms, the slowest of 962 steps 27 ms; 4000 phrases took 0.25 ms.
 */
const STEPS_MAX = 300;

const line = (max: number) => z.string().trim().min(1).max(max);
const cardSchema = z
  .strictObject({
    words: z.array(line(200)).min(1).max(PHRASES_MAX).optional(),
    pattern: line(1000).optional(),
    title: line(100),
    text: line(2000),
    link: z
      .string()
      .max(2000)
      .refine(isWebAddress, 'expected an address that begins with https:// or http://')
      .optional(),
    track: z.enum(['inbound', 'outbound', 'both']).default('both'),
    once: z.boolean().default(true),
  })
  .refine(({ words, pattern }) => (words === undefined) !== (pattern === undefined), {
    message: 'expected either words or pattern',
  });
const fileSchema = z.strictObject({
  about: line(4000).optional(),
  cards: z.array(cardSchema).max(CARDS_MAX),
});

/** What is shown, and what brings it. */
export interface Card extends Pick<z.infer<typeof cardSchema>, 'title' | 'text' | 'track' | 'once'> {
  /** Begins with `https://` or `http://`; null = none. */
  readonly link: string | null;
  /** The tokens of each phrase; empty where there is a pattern. */
  readonly phrases: readonly (readonly string[])[];
  readonly pattern: LinearPattern | null;
}

/** What a file says. */
export interface CardsFile {
  /** What a language model should know to give hints; empty = nothing. */
  readonly about: string;
  readonly cards: readonly Card[];
}

/**
 * Reads `{about?, cards: [{words | pattern, title, text, link?, track?, once?}]}`; `path` is for messages.
 * @throws FileError for the first thing that is wrong
 */
export function parseCards(text: string, path: string): CardsFile {
  let made: Card[] = [];
  const { about = '' } = parseYaml(text, path, fileSchema, ({ cards }, refuse) => {
    made = cards.map(({ words = [], pattern, link, ...rest }, at) => ({
      ...rest,
      link: link ?? null,
      phrases: words.map((phrase, nth) => readPhrase(phrase, ['cards', at, 'words', nth], refuse)),
      pattern: pattern === undefined ? null : readCardPattern(pattern, ['cards', at, 'pattern'], refuse),
    }));
    refuseTwins(made, refuse);
    refuseSlowPatterns(made, refuse);
  });
  return { about, cards: made };
}

type At = Parameters<Refuse>[0];

function readPhrase(phrase: string, at: At, refuse: Refuse): string[] {
  const tokens = spokenTokens(phrase).map(({ key }) => key);
  if (tokens.length === 0) return refuse(at, 'expected a word or a figure');
  if (tokens.length > PHRASE_MAX_TOKENS)
    return refuse(at, `got ${tokens.length} words, expected at most ${PHRASE_MAX_TOKENS}`);
  return tokens;
}

/** The words and figures of `text`: signs are not said. */
export function spokenTokens(text: string): ReturnType<typeof tokenise> {
  return tokenise([text]).filter(({ kind }) => kind !== 'sign');
}

function readCardPattern(pattern: string, at: At, refuse: Refuse): LinearPattern {
  try {
    return new LinearPattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return refuse(at, error.message);
  }
}

/** The title names a card in its call. */
function refuseTwins(cards: readonly Card[], refuse: Refuse): void {
  const titles = new Set<string>();
  cards.forEach(({ title }, at) => {
    if (titles.has(title)) refuse(['cards', at, 'title'], 'there is a card of that title above');
    titles.add(title);
  });
}

function refuseSlowPatterns(cards: readonly Card[], refuse: Refuse): void {
  let steps = 0;
  cards.forEach(({ pattern }, at) => {
    steps += pattern?.size ?? 0;
    if (steps <= STEPS_MAX || pattern === null) return;
    refuse(
      ['cards', at, 'pattern'],
      `the patterns up to this one have ${steps} steps, expected at most ${STEPS_MAX}: use words, or fewer ` +
        'repetitions such as {1,50}',
    );
  });
}

function isWebAddress(link: string): boolean {
  return /^https?:\/\//i.test(link) && URL.canParse(link);
}
