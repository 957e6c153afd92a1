/**
 * The log: JSON lines written by pino, or the same lines formatted for people. Speech, phone numbers and keys are never
 * logged above debug level; fields with their names are redacted all the same. Credentials in URLs are hidden anywhere
 * in a line, also in messages of other programs.
 */
import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import type { Settings } from '../settings/settings.ts';
import { hideCredentials } from '../urls.ts';
import { type LogOutput, type LogTrouble, openStandardOutput } from './log-output.ts';
import { prettyLine } from './log-pretty.ts';

/** Members that every line hides. */
export const PRIVATE_FIELDS = [
  'text',
  'transcript',
  'from',
  'to',
  'digits',
  'authorization',
  'token',
  'key',
  'parameters',
];

export type Log = Logger;

export type LogFormat = 'json' | 'pretty';

/** How many lines the log has written and lost. */
export interface LogState extends LogTrouble {
  /** Lines by level, from `warn` on. */
  readonly lines: ReadonlyMap<string, number>;
}

/** The levels that an operator should look at, by pino's number. */
const COUNTED_LEVELS: ReadonlyMap<number, string> = new Map([
  [40, 'warn'],
  [50, 'error'],
  [60, 'fatal'],
]);

const lineCounts = new Map<string, number>([...COUNTED_LEVELS.values()].map((level) => [level, 0]));

/** Made with the first log that needs it. */
let standardOutput: LogOutput | null = null;

/**
 * A log at `level` to `destination`, by default standard output. Standard output is written at once if possible: pino's
 * own destination buffers, and lines near the end of the process would come out of order. Lines of both formats are
 * redacted.
 */
export function createLog(level: string, destination?: DestinationStream, format: LogFormat = 'json'): Log {
  const redact = { paths: PRIVATE_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[private]' };
  const streamWrite = format === 'json' ? hideCredentials : writerForPeople(destination === undefined && hasColours());
  return pino({ level, redact, hooks: { streamWrite, logMethod: countLine } }, destination ?? toStandardOutput(format));
}

/** The format that LOG_FORMAT selects: `auto` means `pretty` on a terminal. */
export function logFormatOf(
  { LOG_FORMAT }: Pick<Settings, 'LOG_FORMAT'>,
  isTerminal = process.stdout.isTTY === true,
): LogFormat {
  if (LOG_FORMAT !== 'auto') return LOG_FORMAT;
  return isTerminal ? 'pretty' : 'json';
}

/** Writes plain lines through the log's output, so that they neither block nor mix with log lines. */
export function writeForPeople(lines: readonly string[]): void {
  const output = toStandardOutput('pretty');
  for (const line of lines) output.write(`${line}\n`);
}

/** The lines that this process has logged so far, and the errors of standard output. */
export function logState(): LogState {
  const { linesLost, errors } = standardOutput?.trouble ?? { linesLost: 0, errors: new Map() };
  return { linesLost, errors, lines: lineCounts };
}

/** A hook of pino for each line that LOG_LEVEL does not suppress. */
function countLine(this: Log, line: Parameters<LogFn>, write: LogFn, level: number): void {
  const name = COUNTED_LEVELS.get(level);
  if (name !== undefined) lineCounts.set(name, (lineCounts.get(name) ?? 0) + 1);
  write.apply(this, line);
}

function writerForPeople(colours: boolean): (line: string) => string {
  return (line) => prettyLine(hideCredentials(line), { colours });
}

/** `hasColors` also reads NO_COLOR. */
function hasColours(): boolean {
  return process.stdout.isTTY === true && process.stdout.hasColors();
}

/** Lost lines are reported at every LOG_LEVEL: they may have been important. */
function toStandardOutput(format: LogFormat): LogOutput {
  if (standardOutput !== null) return standardOutput;
  const output = openStandardOutput((lines) =>
    notices.warn({ lines }, 'log lines were lost here: the log could not be written'),
  );
  standardOutput = output;
  const notices = createLog('warn', output, format);
  return output;
}
