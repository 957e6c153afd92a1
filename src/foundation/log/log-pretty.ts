/**
 * Log lines for people who watch a terminal: one line each, `07:48:12 WARN  engine died reason="was ended by SIGKILL"`.
 * Pure text to text.
 */

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

/** What every line has and nobody reads. */
const HIDDEN_FIELDS = ['level', 'time', 'pid', 'hostname', 'msg', 'err'];

const RED = '\u001b[31m';
const YELLOW = '\u001b[33m';
const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';

/** Words that need no quotes. */
const BARE = /^[\w.:/@+*[\]-]+$/;

/**
 * Control characters, invisible ones and line ends: they would write over other lines of the terminal, or feign them.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

interface PrettyOptions {
  /** Whether the terminal shows colours. */
  readonly colours: boolean;
}

type Entry = Readonly<Record<string, unknown>>;

/**
 * `line`, one JSON object of the log with its line end, as a line for people in the local time zone; an error that was
 * logged as `error` or worse has its stack below it. Whatever strangers had written into it stays on its line. A line
 * that is no JSON object comes back as it is.
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

/** Anything but a number is none: an object may have a `toString` of its own making. */
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
    // JSON.parse goes deeper than JSON.stringify comes back.
    return '[nested too deeply]';
  }
}

/** `err=message`, and for whoever must find the cause the stack, indented. */
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
