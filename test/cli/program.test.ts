import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { isEveryday, SETTINGS, type SettingName } from '../../src/foundation/settings/settings.ts';
import { captureTerminal } from '../helpers/terminal.ts';

afterEach(() => vi.unstubAllEnvs());

async function run(...args: string[]) {
  const { terminal, out, err } = captureTerminal();
  const code = await runCli(args, terminal);
  return { code, out: out.text, err: err.text };
}

describe('the command line', () => {
  it.each([
    [['bogus'], /unknown command 'bogus'/],
    [['call'], /missing required argument 'wav'/],
    [['call', 'a.wav', '--loss', '3'], /--loss <share>.*Expected a number from 0 to 1/],
    [['call', 'a.wav', '--both', 'b.wav', '--dtmf', '1@5'], /no DTMF on a stream of both tracks/],
    [['call', 'a.wav', '--carrier', 'asterisk', '--jitter-ms', '5'], /--jitter-ms does not apply to calls of Asterisk/],
    [['call', 'a.wav', '--plain-text'], /--plain-text does not apply to calls of Twilio/],
    [['call', 'a.wav', '--url', 'tcp://127.0.0.1:9019'], /--url: expected one such as ws:/],
    [['transcribe'], /missing required argument 'file'/],
    [['transcribe', 'a.wav', '--format', 'doc'], /Allowed choices are json, text, srt, vtt/],
    [['transcribe', 'a.wav', '--hot-words', 'x'.repeat(65)], /got a hot word of 65 characters, expected at most 64/],
    [['transcribe', 'a.wav', 'b.wav', '--format', 'srt'], /srt takes only one file/],
    [['config', '--yaml'], /unknown option '--yaml'/],
  ])('ends with 2 and says what is wrong: %j', async (args, message) => {
    const { code, out, err } = await run(...args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toMatch(message);
  });

  it('shows help with examples and exit codes and ends with 0', async () => {
    const { code, out } = await run('--help');
    expect(code).toBe(0);
    for (const word of ['serve', 'demo', 'call', 'transcribe', 'config', 'doctor', 'Examples:', 'Exit codes:', '78'])
      expect(out).toContain(word);
  });

  it('names every wrong setting on standard error and ends with 78', async () => {
    vi.stubEnv('CHUNK_MS', 'foo');
    vi.stubEnv('PORT', '99999');
    for (const command of [['config'], ['serve'], ['demo'], ['call', 'a.wav'], ['transcribe', 'a.wav']]) {
      const { code, err } = await run(...command);
      expect(code).toBe(78);
      expect(err).toMatch(/CHUNK_MS: got "foo", expected a whole number from 100 to 5000/);
      expect(err).toMatch(/PORT: got "99999"/);
    }
  });
});

describe('settings that would open the server to strangers', () => {
  it('stop what opens it, and not the commands that only use some of them', async () => {
    vi.stubEnv('PUBLIC_URL', 'https://bridge.example.com');
    vi.stubEnv('DATA_DIR', 'none');
    for (const command of ['serve', 'config'])
      expect(await run(command)).toMatchObject({ code: 78, err: expect.stringContaining('API_KEYS') });
    for (const command of ['call', 'transcribe']) expect((await run(command, '/nonexistent.wav')).code).toBe(1);
  });
});

describe('trunkline config', () => {
  it('lists every setting with its meaning and marks what was changed', async () => {
    vi.stubEnv('CHUNK_MS', '500');
    const { code, out } = await run('config', '--all');
    expect(code).toBe(0);
    for (const [name, { meaning }] of Object.entries(SETTINGS))
      expect(out).toMatch(new RegExp(`^[ *] ${name}=.*\n    ${escapePattern(meaning)}$`, 'm'));
    expect(out).toMatch(/^\* CHUNK_MS=500\n.*\n {4}ms; default 400; from the environment$/m);
  });

  it('lists the everyday settings and those that were changed, and says that there are more', async () => {
    vi.stubEnv('CHUNK_MS', '500');
    const { out } = await run('config');
    const listed = [...out.matchAll(/^[ *] ([A-Z0-9_]+)=/gm)].map(([, name]) => name);
    const everyday = (Object.keys(SETTINGS) as SettingName[]).filter(isEveryday);
    expect(listed).toEqual([...everyday, 'CHUNK_MS']);
    const others = Object.keys(SETTINGS).length - listed.length;
    expect(out).toMatch(new RegExp(`^${others} more settings .*config --all`, 'm'));
    expect((await run('config', '--all')).out).not.toContain('more settings');
  });

  it('shows what a default that follows the machine comes to, as no change', async () => {
    const { out } = await run('config');
    expect(out).toMatch(new RegExp(`^  MAX_CALLS=${readSettings({}).MAX_CALLS}$`, 'm'));
    vi.stubEnv('MAX_CALLS', '3');
    expect((await run('config')).out).toMatch(/^\* MAX_CALLS=3\n.*\n {4}calls; default 0; from the environment$/m);
  });

  it('never shows a secret', async () => {
    vi.stubEnv('API_KEYS', 'sesame,opensesame');
    vi.stubEnv('TWILIO_AUTH_TOKEN', 'sesame');
    for (const args of [['config'], ['config', '--json']]) {
      const { out } = await run(...args);
      expect(out).not.toContain('sesame');
      expect(out).toMatch(/API_KEYS[^\n]*=?\(set\)|"\(set\)"/);
    }
  });

  it('never shows what is secret in a URL', async () => {
    vi.stubEnv('APP_URL', 'wss://me:sesame@app.example.com/calls?token=sesame');
    vi.stubEnv('LLM_BASE_URL', 'https://sesame@chat.example.com/v1');
    for (const args of [['config'], ['config', '--json']]) {
      const { out } = await run(...args);
      expect(out).not.toContain('sesame');
      expect(out).toContain('wss://***@app.example.com/calls?token=***');
    }
  });

  it('speaks JSON to scripts', async () => {
    const { out } = await run('config', '--json');
    const rows = JSON.parse(out) as Record<string, string>[];
    expect(rows.map((row) => row['name'])).toEqual(Object.keys(SETTINGS));
    expect(rows.find((row) => row['name'] === 'CHUNK_MS')).toEqual({
      name: 'CHUNK_MS',
      value: '400',
      default: '400',
      unit: 'ms',
      meaning: SETTINGS.CHUNK_MS.meaning,
      key: 'recognition.chunkMs',
      from: 'default',
    });
  });
});

describe('trunkline.yaml on the command line', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function fileWith(text: string): string {
    const path = join(folder, 'mine.yaml');
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  it('is checked, shown and explained, with the place of each value', async () => {
    const path = fileWith('recognition:\n  chunkMs: 500\nsecurity:\n  apiKeys: [sesame]\n');
    vi.stubEnv('TRUNKLINE_CONFIG', path);
    vi.stubEnv('CHUNK_MS', '600');
    expect((await run('config')).out).toContain(`what they do not set is in ${path}.`);
    expect((await run('config')).out).toMatch(/^\* API_KEYS=\(set\)\n.*\n.*from .*mine\.yaml:4:12$/m);
    const { out } = await run('config', 'explain', 'recognition.chunkMs');
    expect(out).toMatch(/^CHUNK_MS=600\n(?:.*\n)+ {2}Now: {6}from the environment\n {12}.*mine\.yaml:2:12 sets it too/);
    const checked = await run('config', 'check');
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining(`${path}: 2 settings, all can be used.`) });
    expect(checked.out).toContain('and wins: CHUNK_MS.');
    expect(checked.out).not.toContain('sesame');
  });

  it('stops every command with 78 where it is wrong', async () => {
    const path = fileWith('server:\n  prot: 5060\n');
    vi.stubEnv('TRUNKLINE_CONFIG', path);
    for (const command of [['config'], ['config', 'check'], ['serve'], ['call', 'a.wav']])
      expect(await run(...command)).toMatchObject({
        code: 78,
        err: expect.stringContaining(`${path}:2:3: server.prot: is unknown, did you mean port?`),
      });
    vi.stubEnv('TRUNKLINE_CONFIG', 'none');
    expect((await run('config', 'check', path)).code).toBe(78);
    expect((await run('config', 'check')).code).toBe(0);
  });

  it('is begun from what is set, and never overwritten', async () => {
    vi.stubEnv('CHUNK_MS', '500');
    vi.stubEnv('API_KEYS', 'sesame');
    const path = join(folder, 'new.yaml');
    expect((await run('config', 'init', path)).out).toContain(`${path} has `);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('\n  chunkMs: 500\n');
    expect(text).toContain('\n  apiKeys: ${API_KEYS}\n');
    expect(await run('config', 'init', path)).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
    vi.stubEnv('CHUNK_MS', '');
    vi.stubEnv('TRUNKLINE_CONFIG', path);
    expect((await run('config')).out).toMatch(/^\* CHUNK_MS=500\n.*\n.*; from .*new\.yaml:/m);
  });

  it('has settings that can be asked for by either name', async () => {
    expect((await run('config', 'explain', 'sip_port')).out).toContain('File:     sip.port in trunkline.yaml');
    expect(await run('config', 'explain', 'SIP_PROT')).toMatchObject({
      code: 2,
      err: expect.stringContaining('SIP_PROT is no setting, did you mean SIP_PORT?'),
    });
  });
});

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
