/** The log: structured JSON lines by pino. Speech, phone numbers and keys are never fields above debug level, and redacted by name if they slip in. */
import { type DestinationStream, type Logger, pino } from 'pino';

const PRIVATE_FIELDS = ['text', 'transcript', 'from', 'to', 'digits', 'authorization', 'token', 'key', 'parameters'];

export type Log = Logger;

/**
 * A log at `level` to `destination`, by default standard output. That is written at once: pino's own default writes later, and lines around the end of
 * the process then come out of order.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = { level, redact: { paths: PRIVATE_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[private]' } };
  return pino(options, destination ?? pino.destination({ dest: process.stdout.fd, sync: true }));
}
