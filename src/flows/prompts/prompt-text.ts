/** Reads the text of a prompt: words, `{variable}` or `{variable:format}`, and `<break time="500ms"/>`. */

/** How a value is said. */
export const VALUE_FORMATS = ['digits', 'number', 'date', 'time', 'amount', 'phone', 'spell'] as const;

export type ValueFormat = (typeof VALUE_FORMATS)[number];

/** Longer pauses sound as if the call were lost. */
export const PAUSE_MAX_MS = 10_000;
/** Most pauses and values of one text. */
const PARTS_MAX = 100;

/** A part of a prompt's text. Parts of words are never empty. */
export type PromptPart =
  | { readonly kind: 'words'; readonly text: string }
  /** `format` null = as the value is. */
  | { readonly kind: 'value'; readonly variable: string; readonly format: ValueFormat | null }
  | { readonly kind: 'pause'; readonly ms: number };

/** A text cannot be read; `at` is the index of the character where. */
export class PromptTextError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'PromptTextError';
    this.at = at;
  }
}

const VARIABLE = /^([A-Za-z][\w-]{0,63}(?:\.[A-Za-z][\w-]{0,63})?)(?::([^{}]*))?$/;
const BREAK = /^<break\s+time\s*=\s*["'](\d{1,5}(?:\.\d{1,3})?)(ms|s)["']\s*\/?>$/i;
/** `{{`, `}}`, the beginning of a value or of a tag. */
const MARK = /\{\{|\}\}|\{|<(?=\/?[A-Za-z])/g;
const SHOWN_CHARS = 40;

/**
 * The parts of a text, in order. `{{` and `}}` are braces.
 * @throws PromptTextError for a brace that does not close, what is no variable, an unknown format or tag
 */
export function readPromptText(text: string): PromptPart[] {
  const parts: PromptPart[] = [];
  let words = '';
  let from = 0;
  let marks = 0;
  const flush = (): void => {
    if (words !== '') parts.push({ kind: 'words', text: words });
    words = '';
  };
  for (;;) {
    MARK.lastIndex = from;
    const mark = MARK.exec(text);
    words += text.slice(from, mark?.index);
    if (mark === null) break;
    if (mark[0].length === 2) {
      words += mark[0].charAt(0);
      from = mark.index + 2;
      continue;
    }
    const { part, end } = mark[0] === '{' ? readValue(text, mark.index) : readBreak(text, mark.index);
    if (marks++ === PARTS_MAX)
      throw new PromptTextError(`a prompt has at most ${PARTS_MAX} values and pauses`, mark.index);
    flush();
    parts.push(part);
    from = end;
  }
  flush();
  return parts;
}

function readValue(text: string, at: number): { part: PromptPart; end: number } {
  const close = text.indexOf('}', at);
  const inside = close < 0 ? null : VARIABLE.exec(text.slice(at + 1, close));
  if (inside === null)
    throw new PromptTextError(
      `got ${show(close < 0 ? text.slice(at) : text.slice(at, close + 1))}, expected a variable such as {name} or ` +
        '{total:amount}; a brace that is said is written {{',
      at,
    );
  const [, variable = '', format] = inside;
  if (format !== undefined && !isFormat(format))
    throw new PromptTextError(`format: got ${show(format)}, expected one of ${VALUE_FORMATS.join(', ')}`, at);
  return { part: { kind: 'value', variable, format: format ?? null }, end: close + 1 };
}

function readBreak(text: string, at: number): { part: PromptPart; end: number } {
  const close = text.indexOf('>', at);
  const tag = close < 0 ? text.slice(at) : text.slice(at, close + 1);
  const found = BREAK.exec(tag);
  if (found === null)
    throw new PromptTextError(`got ${show(tag)}, expected <break time="500ms"/>, the only tag of prompts`, at);
  const ms = Math.round(Number(found[1]) * (found[2]?.toLowerCase() === 's' ? 1000 : 1));
  if (ms > PAUSE_MAX_MS) throw new PromptTextError(`got a pause of ${ms} ms, expected at most ${PAUSE_MAX_MS} ms`, at);
  return { part: { kind: 'pause', ms }, end: close + 1 };
}

function isFormat(text: string): text is ValueFormat {
  return (VALUE_FORMATS as readonly string[]).includes(text);
}

function show(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
}
