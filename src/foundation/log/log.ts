/**
 * The log: structured JSON lines by pino, or the same lines written for people. Speech, phone numbers and keys are
 * never fields above debug level, and redacted by name if they slip in; what is secret in a URL is hidden wherever one
 * stands, the words of other programs included.
 */
import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import type { Settings } from '../settings/settings.ts';
import { hideCredentials } from '../urls.ts';
import { type LogOutput, type LogTrouble, openStandardOutput } from './log-output.ts';
import { prettyLine } from './log-pretty.ts';

const PRIVATE_FIELDS = ['text', 'transcript', 'from', 'to', 'digits', 'authorization', 'token', 'key', 'parameters'];

export type Log = Logger;

/** How lines are written; `pretty` is for people. */
export type LogFormat = 'json' | 'pretty';

/** What the log has written and could not write. */
export interface LogState extends LogTrouble {
  /** Lines by their level, `warn` and worse. */
  readonly lines: ReadonlyMap<string, number>;
}

/** By pino's number: the lines that an operator should look at. */
const COUNTED_LEVELS: ReadonlyMap<number, string> = new Map([
  [40, 'warn'],
  [50, 'error'],
  [60, 'fatal'],
]);

const lineCounts = new Map<string, number>([...COUNTED_LEVELS.values()].map((level) => [level, 0]));

/** Made with the first log that needs it. */
let standardOutput: LogOutput | null = null;

/**
 * A log at `level` to `destination`, by default standard output. That is written at once where it can be: pino's own
 * default writes later, and lines around the end of the process then come out of order. Whatever the format, a line is
 * redacted first.
 */
export function createLog(level: string, destination?: DestinationStream, format: LogFormat = 'json'): Log {
  const redact = { paths: PRIVATE_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[private]' };
  const streamWrite = format === 'json' ? hideCredentials : writerForPeople(destination === undefined && hasColours());
  return pino({ level, redact, hooks: { streamWrite, logMethod: countLine } }, destination ?? toStandardOutput(format));
}

/** What LOG_FORMAT means here: `auto` is for people where standard output is a terminal. */
export function logFormatOf(
  { LOG_FORMAT }: Pick<Settings, 'LOG_FORMAT'>,
  isTerminal = process.stdout.isTTY === true,
): LogFormat {
  if (LOG_FORMAT !== 'auto') return LOG_FORMAT;
  return isTerminal ? 'pretty' : 'json';
}

/**
 * Writes lines that are no log lines, for people, to where the log goes: neither waits for a reader, and their lines do
 * not mix.
 */
export function writeForPeople(lines: readonly string[]): void {
  const output = toStandardOutput('pretty');
  for (const line of lines) output.write(`${line}\n`);
}

/** What this process has logged so far, and what went wrong with its log on standard output. */
export function logState(): LogState {
  const { linesLost, errors } = standardOutput?.trouble ?? { linesLost: 0, errors: new Map() };
  return { linesLost, errors, lines: lineCounts };
}

/** Called by pino for each line that LOG_LEVEL lets through. */
function countLine(this: Log, line: Parameters<LogFn>, write: LogFn, level: number): void {
  const name = COUNTED_LEVELS.get(level);
  if (name !== undefined) lineCounts.set(name, (lineCounts.get(name) ?? 0) + 1);
  write.apply(this, line);
}

function writerForPeople(colours: boolean): (line: string) => string {
  return (line) => prettyLine(hideCredentials(line), { colours });
}

/** Standard output is a terminal that shows colours, and nobody has set NO_COLOR. */
function hasColours(): boolean {
  return process.stdout.isTTY === true && process.stdout.hasColors();
}

/** Lost lines are told of whatever the level: they may have been important. */
function toStandardOutput(format: LogFormat): LogOutput {
  if (standardOutput !== null) return standardOutput;
  const output = openStandardOutput((lines) =>
    notices.warn({ lines }, 'log lines were lost here: the log could not be written'),
  );
  standardOutput = output;
  const notices = createLog('warn', output, format);
  return output;
}
