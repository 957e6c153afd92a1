import { describe, expect, it } from 'vitest';
import { readyLine, startLines } from '../../src/gateway/start-lines.ts';
import { readSettings } from '../helpers/settings.ts';

function linesFor(
  environment: Record<string, string> = {},
  url = 'http://127.0.0.1:8080',
  kept: Parameters<typeof startLines>[1]['kept'] = null,
  users = 0,
  departures: Parameters<typeof startLines>[1]['departures'] = [],
): string[] {
  return startLines(readSettings(environment, { users: 'unknown' }), {
    version: '1.2.3',
    url,
    workers: 2,
    kept,
    users,
    departures,
  });
}

describe('the first lines on a terminal', () => {
  it('say where it is, what it does, and how to place a call', () => {
    expect(linesFor()).toEqual([
      'Trunkline 1.2.3 is at http://127.0.0.1:8080/ (for this machine alone)',
      '  Loading the speech models in 2 engines. A line says when calls can be captioned.',
      '  Nothing is kept of calls (DATA_DIR).',
      '  To place a call: open that page and press Call, or type in another terminal',
      '    npm run trunkline -- call fixtures/audio/demo-caller.wav',
      '  To end it: Ctrl-C.',
      '',
    ]);
    expect(readyLine(1, 2, { finalModel: '', voice: null, turnModel: null })).toBe('Ready for calls: 1 of 2 engines.');
    expect(readyLine(1, 1, { finalModel: 'parakeet', voice: 'hibari:heart', turnModel: 'smart-turn' })).toBe(
      'Ready for calls: 1 of 1 engine, finals by parakeet, voice hibari:heart, turns by smart-turn.',
    );
  });

  it.each([
    [30, 'for 30 days'],
    [1, 'for 1 day'],
    [0, 'for ever'],
  ])('say where records are kept with RETENTION_DAYS=%i', (retentionDays, howLong) => {
    expect(
      linesFor({}, 'http://127.0.0.1:8080', { place: '/data/records.sqlite', retentionDays, isOpen: true }),
    ).toContain(`  What is said in calls is kept ${howLong} (RETENTION_DAYS) in /data/records.sqlite`);
  });

  it('name the file of the settings', () => {
    const file = { path: '/etc/trunkline/trunkline.yaml', values: new Map(), problems: [], notices: [] };
    const facts = { version: '1', url: 'http://[::1]:1', workers: 1, kept: null, users: 0, departures: [] };
    expect(startLines(readSettings({}, { file }), facts)[0]).toBe(
      'Trunkline 1 is at http://[::1]:1/ (for this machine alone), with the settings in /etc/trunkline/trunkline.yaml',
    );
  });

  it('name each server on another machine that is told what is said', () => {
    const departures = [
      { what: 'hints', to: 'https://llm.example.com', leavesMachine: true },
      { what: 'translation', to: 'http://127.0.0.1:8000', leavesMachine: false },
    ];
    expect(linesFor({}, undefined, null, 0, departures)).toContain(
      '  What is said leaves this machine: hints at https://llm.example.com.',
    );
  });

  it('name the port in the command where it is another one', () => {
    expect(linesFor({}, 'http://127.0.0.1:9090').join('\n')).toContain('PORT=9090 npm run trunkline -- call');
  });

  it.each([
    [{ HOST: '0.0.0.0', API_KEYS: 'a-key-of-sixteen-chars' }, '(requires one of API_KEYS)'],
    [{ HOST: '0.0.0.0', ALLOW_ANONYMOUS: 'true' }, '(open to everyone who can reach it)'],
    [
      { PUBLIC_URL: 'https://bridge.example.com', API_KEYS: 'a-key-of-sixteen-chars' },
      'and https://bridge.example.com/ (requires one of API_KEYS)',
    ],
  ])('say who may come in with %j', (environment, audience) => {
    expect(linesFor(environment)[0]).toBe(`Trunkline 1.2.3 is at http://127.0.0.1:8080/ ${audience}`);
  });

  it('say that users keep others out', () => {
    expect(linesFor({ HOST: '0.0.0.0' }, 'http://127.0.0.1:8080', null, 1)[0]).toContain(
      '(requires a password or a key)',
    );
  });

  it('promise neither models that are not loaded yet nor a call that would be refused', () => {
    const lines = linesFor({ ENGINE_PRELOAD: 'false', TWILIO_AUTH_TOKEN: 'secret' }).join('\n');
    expect(lines).toContain('loaded at the first call');
    expect(lines).toContain('call your Twilio number');
    expect(lines).not.toContain('secret');
  });
});
