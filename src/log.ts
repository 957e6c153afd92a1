/**
 * The log: structured JSON lines by pino. Speech, phone numbers and keys are never fields above debug level, and redacted by name
 * if they slip in; what is secret in a URL is hidden wherever one stands, the words of other programs included.
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import { type LogOutput, type LogTrouble, openStandardOutput } from './log-output.ts';
import { hideCredentials } from './urls.ts';

const PRIVATE_FIELDS = ['text', 'transcript', 'from', 'to', 'digits', 'authorization', 'token', 'key', 'parameters'];

export type Log = Logger;

/** Made with the first log that needs it. */
let standardOutput: LogOutput | null = null;

/**
 * A log at `level` to `destination`, by default standard output. That is written at once where it can be: pino's own default writes later, and lines around
 * the end of the process then come out of order.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
  const redact = { paths: PRIVATE_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[private]' };
  return pino({ level, redact, hooks: { streamWrite: hideCredentials } }, destination ?? toStandardOutput());
}

/** What went wrong with the log on standard output so far. */
export function logTrouble(): LogTrouble {
  return standardOutput?.trouble ?? { linesLost: 0, errors: new Map() };
}

/** Lost lines are told of whatever the level: they may have been important. */
function toStandardOutput(): LogOutput {
  if (standardOutput !== null) return standardOutput;
  const output = openStandardOutput((lines) => notices.warn({ lines }, 'log lines were lost here: the log could not be written'));
  const notices = pino({ level: 'warn' }, output);
  standardOutput = output;
  return output;
}
