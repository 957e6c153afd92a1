/** The bundle as a whole: secrets, words and numbers are planted wherever it reads, and none is in it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { freePort } from '../../helpers/ports.ts';
import { captureTerminal } from '../../helpers/terminal.ts';

const KEY = 'the-key-of-the-operator';
const PLANTED = {
  API_KEYS: 'first-planted-key-000,second-planted-key-00',
  TWILIO_AUTH_TOKEN: 'planted-twilio-token',
  SIP_TRUNKS: '[{name: a, server: "sip:pbx.example.com", user: bridge, password: planted-trunk-password}]',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20planted-trace-token',
  APP_URL: 'wss://shop:planted-app-password@shop.example.com/call?token=planted-app-token',
  SIP_USER: '+49 30 7654321',
} as const;
const SAID = 'my grandmother lives in Bremen';
const FROM = '+14155550123';
const OPEN = [
  ...PLANTED.API_KEYS.split(','),
  'planted-',
  KEY,
  'grandmother',
  'Bremen',
  'Marguerite',
  '7654321',
  '5550123',
  '555-0123',
  'from-an-older-log',
];

const EVENTS = [
  { type: 'call.started', callId: 'CA1', carrier: 'twilio', from: FROM, to: 'sip:Marguerite@example.com' },
  { type: 'caption', callId: 'CA1', track: 'inbound', utterance: 1, text: SAID, final: true, startMs: 20, endMs: 900 },
  { type: 'spoken', callId: 'CA1', utterance: 'u1', text: SAID, heardText: SAID, interrupted: false, atMs: 1200 },
  { type: 'dtmf', callId: 'CA1', digit: '5', atMs: 1300 },
  { type: 'flow.input', callId: 'CA1', kind: 'keys', outcome: 'match', text: '4155550123', value: 4155550123 },
  { type: 'note', callId: 'CA1', author: 'Marguerite', text: SAID },
  { type: 'invented.later', callId: 'CA1', saying: SAID, deep: [{ whom: FROM, count: 4155550123 }] },
  { type: 'call.ended', callId: 'CA1', reason: 'hangup', durationMs: 2000, handoffData: SAID },
];
const LOG = [
  { level: 30, time: 1_790_000_000_000, msg: 'call', callId: 'CA1', from: FROM, text: SAID, durationMs: 12_345_678 },
  { level: 20, time: 1_790_000_000_001, msg: `heard ${SAID}` },
  {
    level: 40,
    time: 1_790_000_000_002,
    msg: `the key ${KEY} of sip:Marguerite@10.1.2.3 at ${FROM}`,
    number: 4155550123,
  },
];
const SYSTEM = { version: '0.1.0', startedAt: '2026-11-24T10:00:00.000Z', calls: { max: 12_345_678 }, note: FROM };
const METRICS = `trunkline_calls_max 40\ntrunkline_sip_trunk_up{trunk="a ${FROM}"} 1\n`;

const folder = mkdtempSync(join(tmpdir(), 'trunkline-'));
let server: Server;
let askedWith: (string | undefined)[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    askedWith.push(request.headers.authorization);
    const path = request.url?.split('?')[0];
    const calls: Record<string, unknown> = {
      '/v1/system': SYSTEM,
      '/v1/calls/CA1/events': { data: EVENTS.map((event, at) => ({ id: String(at), event })), next: null },
      '/metrics': METRICS,
    };
    const body = calls[path ?? ''];
    response.statusCode = body === undefined ? 404 : 200;
    response.end(
      typeof body === 'string' ? body : JSON.stringify(body ?? { error: { code: 'not_found', message: 'no' } }),
    );
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  askedWith = [];
  vi.stubEnv('SIP_PORT', String(await freePort()));
  const engines = { ENGINE_WORKERS: '1', ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', MODELS_DIR: 'none' };
  const places = { TRUNKLINE_CONFIG: 'none', DATA_DIR: join(folder, 'data'), PORT: '0', TRUNKLINE_URL: '' };
  for (const [name, value] of Object.entries({ ...engines, ...places, ...PLANTED })) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

async function run(...args: string[]) {
  const { terminal, out, err } = captureTerminal();
  const code = await runCli(['support', ...args], terminal);
  return { code, out: out.text, err: err.text };
}

function unpack(path: string): ReadonlyMap<string, string> {
  const names = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' }).trim().split('\n');
  return new Map(
    names.map((name) => [
      name.replace(/^[^/]*\//, ''),
      execFileSync('tar', ['-xzOf', path, name], { encoding: 'utf8' }),
    ]),
  );
}

describe('trunkline support', () => {
  it('writes what helps, and no secret, word or number that was planted', async () => {
    const log = join(folder, 'log');
    const older = '{"level":30,"time":1,"msg":"x","key":"from-an-older-log"}';
    const lines = [...LOG.map((line) => JSON.stringify(line)), older, `10:00:00 INFO  at ${FROM}`, SAID];
    writeFileSync(log, `${lines.join('\n')}\n`);
    const path = join(folder, 'bundle.tar.gz');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const told = await run('--log', log, '--call', 'CA1', '--out', path, '--url', url, '--key', KEY);
    expect(told).toMatchObject({ code: 0, err: '' });
    expect(told.out).toContain(path);
    expect(told.out).toContain('Nothing was sent.');
    expect(askedWith).toContain(`Bearer ${KEY}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const files = unpack(path);
    const names = ['README.txt', 'versions.json', 'machine.json', 'settings.json', 'doctor.json'];
    expect([...files.keys()]).toEqual([...names, 'log.txt', 'system.json', 'metrics.txt', 'call.jsonl']);
    const all = [...files.values()].join('\n') + told.out;
    expect(OPEN.filter((planted) => all.includes(planted))).toEqual([]);

    const settings = JSON.parse(files.get('settings.json') ?? '') as { name: string; value: string }[];
    const settingOf = (name: string) => settings.find((each) => each.name === name)?.value;
    expect(settingOf('API_KEYS')).toBe('(set)');
    expect(settingOf('APP_URL')).toBe('wss://[user]@shop.example.com/call?token=***');
    const findings = JSON.parse(files.get('doctor.json') ?? '') as { name: string; status: string }[];
    expect(findings.filter(({ name }) => name === 'settings')).toMatchObject([{ status: 'ok' }]);
    expect(JSON.parse(files.get('system.json') ?? '')).toEqual({ ...SYSTEM, note: '[number]' });
    expect(files.get('metrics.txt')).toBe(METRICS.replace(FROM, '[number]'));
    const [counted, first, second] = files.get('log.txt')?.split('\n') ?? [];
    expect(counted).toMatch(/^2 lines/);
    expect(JSON.parse(first ?? '')).toMatchObject({ time: 1_790_000_000_000, msg: 'call', durationMs: 12_345_678 });
    expect(JSON.parse(second ?? '')).toMatchObject({ msg: 'the key [secret] of sip:[user]@10.1.2.3 at [number]' });
    const events = (files.get('call.jsonl') ?? '').trim().split('\n');
    expect(events.map((line) => JSON.parse(line) as unknown)).toEqual([
      { ...EVENTS[0], from: '+•••••••••••', to: 'xxx:xxxxxxxxxx@xxxxxxx.xxx' },
      { ...EVENTS[1], text: '[30 characters]' },
      { ...EVENTS[2], utterance: '[2 characters]', text: '[30 characters]', heardText: '[30 characters]' },
      { ...EVENTS[3], digit: '[1 characters]' },
      { ...EVENTS[4], text: '[10 characters]', value: '[hidden]' },
      { ...EVENTS[5], author: '[10 characters]', text: '[30 characters]' },
      { ...EVENTS[6], saying: '[30 characters]', deep: [{ whom: '[12 characters]', count: '[hidden]' }] },
      { ...EVENTS[7], handoffData: '[30 characters]' },
    ]);
  }, 60_000);

  it('leaves a file that is there as it is', async () => {
    const path = join(folder, 'mine');
    writeFileSync(path, 'mine');
    expect(await run('--out', path)).toMatchObject({
      code: 1,
      err: `trunkline: ${path} exists already: name another file\n`,
    });
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it('says what could not be had, and writes the rest, also where the settings cannot be used', async () => {
    vi.stubEnv('SIP_PORT', '');
    const path = join(folder, 'rest.tar.gz');
    const { port } = server.address() as AddressInfo;
    const told = await run(
      '--call',
      'CA2',
      '--log',
      join(folder, 'none'),
      '--out',
      path,
      '--url',
      `http://127.0.0.1:${port}`,
    );
    expect(told.code).toBe(1);
    expect(told.err).toContain('not in it: the log: ENOENT');
    expect(told.err).toContain('not in it: the call CA2: no (not_found)');
    const files = unpack(path);
    expect([...files.keys()]).toContain('system.json');
    const all = [...files.values()].join('\n');
    expect(OPEN.filter((planted) => all.includes(planted))).toEqual([]);
    const set = { name: 'TWILIO_AUTH_TOKEN', value: '(set)', from: 'environment', isUsed: false };
    expect(JSON.parse(files.get('settings.json') ?? '')).toContainEqual(set);
    expect(files.get('doctor.json')).toContain('set SIP_PORT or SIP_TLS_PORT');
  }, 60_000);
});
