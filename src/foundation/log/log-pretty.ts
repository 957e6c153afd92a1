/** Formats log lines for people, each on one line: `07:48:12 WARN  engine died reason="was ended by SIGKILL"`. */

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};
const LEVEL_CHARS = 5;
const WARN = 40;
const ERROR = 50;

/** Fields that every line has: shown elsewhere in the line or not at all. */
const HIDDEN_FIELDS = ['level', 'time', 'pid', 'hostname', 'msg', 'err'];

const RED = '\u001b[31m';
const YELLOW = '\u001b[33m';
const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';

/** Values that need no quotes. */
const BARE = /^[\w.:/@+*[\]-]+$/;

/** Control characters, invisible ones and line ends: they could overwrite or fake other lines of the terminal. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

interface PrettyOptions {
  /** Whether the terminal shows colours. */
  readonly colours: boolean;
}

type Entry = Readonly<Record<string, unknown>>;

/**
 * Formats `line`, a JSON object with its line end, for people in the local time zone. From level `error` on, the stack
 * of the error follows in further lines. Values that contain line ends stay on one line, so callers cannot fake log
 * lines. A line that is not a JSON object is returned unchanged.
 */
export function prettyLine(line: string, { colours }: PrettyOptions): string {
  const entry = parse(line);
  if (entry === null) return line;
  const level = numberIn(entry['level']);
  const head =
    `${clockTime(numberIn(entry['time']))} ` +
    `${paint(LEVELS[level]?.padEnd(LEVEL_CHARS) ?? String(level), level, colours)}`;
  const message = typeof entry['msg'] === 'string' ? ` ${safe(entry['msg'])}` : '';
  const fields = Object.entries(entry).flatMap(([name, value]) =>
    HIDDEN_FIELDS.includes(name) ? [] : [`${safe(name)}=${show(value)}`],
  );
  const { text, stack } = describeError(entry['err'], level);
  const rest = [...fields, ...text].map((part) => ` ${part}`).join('');
  return `${head}${message}${colours && rest !== '' ? `${DIM}${rest}${PLAIN}` : rest}\n${stack}`;
}

function parse(line: string): Entry | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : null;
  } catch {
    return null;
  }
}

/** Does not convert other types: an object may have its own `toString`. */
function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function clockTime(atMs: number): string {
  const time = new Date(atMs);
  return Number.isNaN(time.getTime())
    ? '--:--:--'
    : [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function paint(label: string, level: number, colours: boolean): string {
  if (!colours || !(level >= WARN)) return label;
  return `${level >= ERROR ? RED : YELLOW}${label}${PLAIN}`;
}

function show(value: unknown): string {
  if (typeof value === 'string' && BARE.test(value)) return value;
  return safe(jsonOf(value));
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // JSON.parse accepts deeper nesting than JSON.stringify.
    return '[nested too deeply]';
  }
}

/** `err=message`, and from level `error` on the indented stack. */
function describeError(err: unknown, level: number): { text: string[]; stack: string } {
  if (typeof err !== 'object' || err === null)
    return { text: err === undefined ? [] : [`err=${show(err)}`], stack: '' };
  const { message, stack } = err as { message?: unknown; stack?: unknown };
  const text = [`err=${show(message ?? err)}`];
  if (level < ERROR || typeof stack !== 'string') return { text, stack: '' };
  const frames = stack.split('\n').filter((frame) => frame.trimStart().startsWith('at '));
  return { text, stack: frames.map((frame) => `         ${safe(frame.trim())}\n`).join('') };
}

function safe(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
