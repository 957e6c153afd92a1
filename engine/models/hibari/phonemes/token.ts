/** What a line is cut into on its way to phonemes. */

/** A word, a part of one, or a mark. */
export interface Token {
  readonly text: string;
  /** Part of speech, as the Penn Treebank names it. */
  tag: string;
  /** Whether white space follows. */
  space: boolean;
  /** Null as long as nobody knows. */
  phonemes: string | null;
  /** Whether nothing precedes it in its word. */
  isHead: boolean;
  /** What it is read as. */
  alias: string | null;
  /** `$`, `£` or `€` before a number. */
  currency: string | null;
  /** Whether its phonemes are kept apart from those before it in its word. */
  isApart: boolean;
}

/** What follows a word in its line. */
export interface Context {
  /** Whether the next sound is a vowel; null = a pause comes. */
  readonly nextIsVowel: boolean | null;
  /** Whether the next word is "to". */
  readonly nextIsTo: boolean;
}

/** A token of which nothing but its text and tag is known. */
export function newToken(text: string, tag: string, space: boolean): Token {
  return { text, tag, space, phonemes: null, isHead: true, alias: null, currency: null, isApart: false };
}

/** The tokens of a word as one; at least one token. */
export function mergeTokens(tokens: readonly Token[]): Token {
  const [first] = tokens;
  const last = tokens.at(-1);
  if (first === undefined || last === undefined) throw new Error('no tokens to merge');
  return {
    text: tokens
      .map(({ text, space }) => (space ? `${text} ` : text))
      .join('')
      .slice(0, last.space ? -1 : undefined),
    tag: tagOf(tokens, first),
    space: last.space,
    phonemes: null,
    isHead: first.isHead,
    alias: null,
    currency: tokens.reduce<string | null>(
      (most, { currency }) => ((currency ?? '') > (most ?? '') ? currency : most),
      null,
    ),
    isApart: first.isApart,
  };
}

/** The tag of the part with most letters, where parts differ; capitals count twice. */
function tagOf(tokens: readonly Token[], first: Token): string {
  if (tokens.every(({ tag }) => tag === first.tag)) return first.tag;
  let heaviest = first;
  for (const token of tokens) if (letterWeight(token.text) > letterWeight(heaviest.text)) heaviest = token;
  return heaviest.tag;
}

function letterWeight(text: string): number {
  let weight = 0;
  for (const character of text) weight += character === character.toLowerCase() ? 1 : 2;
  return weight;
}

/** The phonemes of a word's tokens together; those that are unknown say nothing. */
export function joinPhonemes(tokens: readonly Token[]): string {
  return tokens.reduce((joined, { phonemes, isApart }) => {
    const gap = isApart && joined !== '' && !joined.endsWith(' ') && phonemes ? ' ' : '';
    return joined + gap + (phonemes ?? '');
  }, '');
}
