/** The log: structured JSON lines by pino. Speech, phone numbers and keys are never fields above debug level, and redacted by name if they slip in. */
import { type DestinationStream, type Logger, pino } from 'pino';

const PRIVATE_FIELDS = ['text', 'transcript', 'from', 'to', 'digits', 'authorization', 'token', 'key', 'parameters'];

export type Log = Logger;

/** A log at `level` to `destination` (standard output by default). */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = { level, redact: { paths: PRIVATE_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[private]' } };
  return destination === undefined ? pino(options) : pino(options, destination);
}
