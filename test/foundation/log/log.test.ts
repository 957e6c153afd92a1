import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { createLog, logState } from '../../../src/foundation/log/log.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(createLog('info', { write: (line: string) => void lines.push(line) }));
  expect(lines.length).toBe(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

describe('the log', () => {
  it('hides what is secret in a URL, whoever wrote it', () => {
    const cause = Object.assign(new TypeError('Invalid URL'), { input: 'wss://me:sesame@host?key=sesame' });
    const err = new Error('cannot connect to wss://me:sesame@host/calls?key=sesame', { cause });
    const line = logged((log) =>
      log.child({ app: 'ws://sesame@host' }).warn({ err, url: 'https://host/?token=sesame' }, 'tried ws://sesame@host'),
    );
    expect(JSON.stringify(line)).not.toContain('sesame');
    expect(line).toMatchObject({ app: 'ws://***@host', url: 'https://host/?token=***', msg: 'tried ws://***@host' });
  });
});

describe('the state of the log', () => {
  it('counts the lines that tell of trouble, whatever their format, and none that the level holds back', () => {
    const before = new Map(logState().lines);
    const grown = () => [...logState().lines].map(([level, count]) => [level, count - (before.get(level) ?? 0)]);
    for (const format of ['json', 'pretty'] as const) {
      const log = createLog('error', { write: () => undefined }, format);
      log.warn('held back');
      log.child({ callId: 'CA1' }).error('one');
      log.fatal('two');
    }
    expect(grown()).toEqual([
      ['warn', 0],
      ['error', 2],
      ['fatal', 2],
    ]);
  });
});

describe('an error with a code', () => {
  it('hides what is secret in a URL', () => {
    const error = new TrunklineError(
      'invalid_request',
      'no audio came from wss://me:sesame@host/media?key=sesame: gone',
    );
    expect(error.toBody().error.message).toBe('no audio came from wss://***@host/media?key=***: gone');
    expect(String(error.stack)).not.toContain('sesame');
  });

  it('repeats no more than a page of what came', () => {
    expect(new TrunklineError('invalid_request', 'x'.repeat(100_000)).message).toHaveLength(4000);
  });
});
