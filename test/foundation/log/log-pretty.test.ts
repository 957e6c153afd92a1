import { describe, expect, it } from 'vitest';
import { createLog, logFormatOf } from '../../../src/foundation/log/log.ts';
import { prettyLine } from '../../../src/foundation/log/log-pretty.ts';

const PLAIN = { colours: false };
const TIME = /^\d\d:\d\d:\d\d /;

function pretty(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('info', { write: (line: string) => void lines.push(line) }, 'pretty'));
  return lines.join('').replace(TIME, '');
}

describe('a log line for people', () => {
  it('has the time, the level, what happened, and the fields behind it', () => {
    const line = pretty((log) =>
      log.info({ url: 'http://127.0.0.1:8080', maxCalls: 40, reason: 'was ended by SIGKILL' }, 'listening'),
    );
    expect(line).toBe('INFO  listening url=http://127.0.0.1:8080 maxCalls=40 reason="was ended by SIGKILL"\n');
    expect(prettyLine('{"level":30,"time":0,"msg":"x"}\n', PLAIN)).toMatch(TIME);
  });

  it('says of an error what it is, and where it came from when it is bad', () => {
    const err = new TypeError('no such thing');
    expect(pretty((log) => log.warn({ err }, 'tried'))).toBe('WARN  tried err="no such thing"\n');
    expect(pretty((log) => log.error({ err }, 'failed'))).toMatch(/^ERROR failed err="no such thing"\n( {9}at .*\n)+$/);
  });

  it('takes anything but a number for no level and no time', () => {
    expect(prettyLine('{"level":{"toString":1,"valueOf":2},"time":{"valueOf":[]},"msg":"x"}\n', PLAIN)).toBe(
      '--:--:-- NaN x\n',
    );
  });

  it('shows a value that is nested too deeply as such', () => {
    const depth = 100_000;
    const line = prettyLine(`{"level":30,"time":"","deep":${'['.repeat(depth)}${']'.repeat(depth)}}\n`, PLAIN);
    expect(line).toBe('--:--:-- INFO  deep="[nested too deeply]"\n'.replaceAll('"', ''));
  });

  it('hides what the other format hides', () => {
    const line = pretty((log) =>
      log.warn(
        { text: 'sesame', token: 'sesame', call: { from: 'sesame' }, url: 'ws://me:sesame@host/?key=sesame' },
        'at wss://sesame@host',
      ),
    );
    expect(line).not.toContain('sesame');
    expect(line).toContain('[private]');
    expect(line).toContain('ws://***@host/?key=***');
  });

  it('lets no stranger write over the terminal or feign a line', () => {
    const evil = 'CA1\u001b[2J\r\n07:00:00 FATAL all is lost\u202e\u0085\u2028';
    const line = pretty((log) => log.info({ callId: evil, [evil]: 1, err: { message: evil } }, evil));
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(line).toContain('CA1\\u001b[2J');
  });

  it('shows warnings and errors in colour where the terminal has it', () => {
    expect(prettyLine('{"level":30,"time":0,"msg":"x"}\n', { colours: true })).not.toContain('\u001b[3');
    expect(prettyLine('{"level":40,"time":0,"msg":"x"}\n', { colours: true })).toContain('\u001b[33mWARN ');
    expect(prettyLine('{"level":60,"time":0,"msg":"x"}\n', { colours: true })).toContain('\u001b[31mFATAL');
  });

  it.each(['not JSON\n', '[1]\n', 'null\n'])('leaves %j as it is', (line) => {
    expect(prettyLine(line, PLAIN)).toBe(line);
  });

  it('is written where standard output is a terminal, unless LOG_FORMAT says otherwise', () => {
    const formats = (['auto', 'json', 'pretty'] as const).map((LOG_FORMAT) =>
      [true, false].map((tty) => logFormatOf({ LOG_FORMAT }, tty)),
    );
    expect(formats).toEqual([
      ['pretty', 'json'],
      ['json', 'json'],
      ['pretty', 'pretty'],
    ]);
  });
});
