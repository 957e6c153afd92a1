/** Marks that are not said: Markdown in the output of language models, emoji, and typographic characters. */

/** Code fences with their language, rules, headings, quotes and bullets, which begin a line. */
const LINE_MARKS = /^[ \t]{0,8}(?:```\w{0,20}|~~~\w{0,20}|(?:[-*_] ?){3,10}$|#{1,6} |> ?|[-*+•] (?!\d))/gm;
const IMAGE_OR_LINK = /!?\[([^[\]\n]{0,200})\]\([^()\s]{0,500}(?: "[^"\n]{0,100}")?\)/g;
const BRACKETED_ADDRESS = /<((?:https?:\/\/|mailto:)?[^<>\s@]{1,64}[@.][^<>\s]{1,400})>/gi;
const EMPHASIS = /\*\*|__|~~|(?<![\w*])[*_](?=[^\s*_\d])|(?<=[^\s*_\d])[*_](?![\w*])/g;
const TAG = /<\/?[a-z][a-z0-9]{0,10}(?: [^<>]{0,100})?\/?>/gi;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}|\p{Regional_Indicator}|[\u{e0020}-\u{e007f}]/gu;
/** Parts of combined emoji: skin tones, the keycap, variation selectors, the joiner. */
const EMOJI_PARTS = /[\u{1f3fb}-\u{1f3ff}]|\u20e3|\ufe0e|\ufe0f|\u200d/gu;
const EMOTICON = /(?<!\S)[:;]-?[()DPp](?!\S)/g;

const FRACTIONS: Readonly<Record<string, string>> = Object.freeze({
  '½': '1/2',
  '¼': '1/4',
  '¾': '3/4',
  '⅓': '1/3',
  '⅔': '2/3',
  '⅛': '1/8',
});

/** Typographic characters, each with a plain character or word of the same meaning. */
const PLAIN: Readonly<Record<string, string>> = Object.freeze({
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '…': '...',
  '—': ', ',
  '×': 'x',
  '÷': ' divided by ',
  '≈': ' about ',
  '≠': ' is not ',
  '≤': ' at most ',
  '≥': ' at least ',
  '±': ' plus or minus ',
  '→': ' to ',
  '§': ' section ',
  '№': 'No.',
  '•': ', ',
  '·': ', ',
});

/** Removes marks of Markdown and HTML. */
export function dropMarkup(text: string): string {
  return text
    .replace(BRACKETED_ADDRESS, '$1')
    .replace(IMAGE_OR_LINK, '$1')
    .replace(LINE_MARKS, '')
    .replace(EMPHASIS, '')
    .replace(/`/g, '')
    .replace(TAG, ' ')
    .replace(/\|/g, ', ');
}

/** Removes emoji and emoticons. */
export function dropEmoji(text: string): string {
  return text.replace(EMOJI, ' ').replace(EMOJI_PARTS, '').replace(EMOTICON, ' ');
}

/** Makes quotes, hyphens and spaces plain; a dash becomes a comma between words and a hyphen between digits. */
export function plainTypography(text: string): string {
  return text
    .replace(/[\u00ad\u200b\u200c\u2060\ufeff]/g, '')
    .replace(/[\u00a0\u2000-\u200a\u202f]/g, ' ')
    .replace(/(?<=\w)–(?=[\w$€£])|(?<=\d) – (?=[$€£]?\d)/g, '-')
    .replace(/–/g, ', ')
    .replace(
      /(\d?)([½¼¾⅓⅔⅛])/g,
      (_, digit: string, fraction: string) => `${digit && `${digit} `}${FRACTIONS[fraction]}`,
    )
    .replace(/[‘’“”„‐‑−…—×÷≈≠≤≥±→§№•·]/g, (character) => PLAIN[character] ?? character);
}
