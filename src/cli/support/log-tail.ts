/** The last part of a log, as a bundle may have it. */
import { open } from 'node:fs/promises';
import { PRIVATE_FIELDS } from '../../foundation/log/log.ts';
import { type Hide, hideIn } from './hide.ts';

const TAIL_BYTES = 1_048_576;
const LINE_MAX_CHARS = 8192;
/** pino's level `info`: lines below it may have what is said. */
const INFO = 30;
/** What `LOG_FORMAT=pretty` begins a line with, from `info` on, and a frame of a stack. */
const FOR_PEOPLE = /^\d\d:\d\d:\d\d (?:info|warn|error|fatal)\b/i;
const FRAME = /^ {9}at /;
/** Colours of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOURS = /\u001b\[[\d;]*m/g;

/** Beside what the log hides itself: an older version, or another program, may have written the file. */
const LEFT = new Set([
  ...PRIVATE_FIELDS,
  'heardText',
  'stable',
  'tail',
  'words',
  'note',
  'names',
  'secret',
  'password',
  'apiKey',
  'api_key',
  'cookie',
]);

/**
 * The last mebibyte of the log at `path`: our lines from level `info` on, without private members. Lines that are not
 * ours are counted, not shown: nobody knows what is in them.
 * @throws the system's error
 */
export async function tailOfLog(path: string, hide: Hide): Promise<string> {
  const { text, isCut } = await readTail(path);
  const lines = text.split('\n');
  // The first line of a part may begin anywhere.
  const whole = isCut ? lines.slice(1) : lines;
  const shown = whole.flatMap((line) => shownLine(line, hide) ?? []);
  const others = whole.filter((line) => line.trim() !== '').length - shown.length;
  const note = others > 0 ? [`${others} lines below level info, or not of Trunkline, are left out`] : [];
  return `${[...note, ...shown].join('\n')}\n`;
}

async function readTail(path: string): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const file = await open(path, 'r');
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is no file`);
    const start = Math.max(0, stats.size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.min(stats.size, TAIL_BYTES));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    return { text: buffer.toString('utf8', 0, bytesRead), isCut: start > 0 };
  } finally {
    await file.close();
  }
}

/** What a supervisor puts before a line (journald, Kubernetes) is left out; null = the line is not shown. */
function shownLine(line: string, hide: Hide): string | null {
  const json = parse(line.slice(line.indexOf('{"level":')));
  if (json !== null)
    return Number(json['level']) >= INFO ? JSON.stringify(hiddenNumbers(hideIn(json, hide, LEFT))) : null;
  const plain = line.replace(COLOURS, '').slice(0, LINE_MAX_CHARS);
  return FOR_PEOPLE.test(plain) || FRAME.test(plain) ? hide(plain) : null;
}

function parse(text: string): Record<string, unknown> | null {
  if (!text.startsWith('{"level":') || text.length > LINE_MAX_CHARS) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** A number of seven digits may be a phone's, unless its name says what it counts. */
function hiddenNumbers(value: unknown, name = ''): unknown {
  if (typeof value === 'number')
    return Math.abs(value) < 1e6 || /^time$|(?:Ms|Bytes|Samples)$/.test(name) ? value : '[number]';
  if (Array.isArray(value)) return value.map((each) => hiddenNumbers(each, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hiddenNumbers(each, key)]));
}
