import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { startBridge, type TestBridge } from '../helpers/bridge.ts';
import { runBuiltCli } from '../helpers/cli.ts';

const SHORT = packagePath('fixtures', 'audio', 'short.wav');
const folder = mkdtempSync(join(tmpdir(), 'trunkline-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** One second of a tone that the pretend recogniser hears as its word, between half seconds of silence. */
function tone(frequencyHz: number): Int16Array {
  const RATE_HZ = 16_000;
  const samples = new Int16Array(2 * RATE_HZ);
  for (let i = 0; i < RATE_HZ; i++)
    samples[RATE_HZ / 2 + i] = Math.round(8000 * Math.sin((2 * Math.PI * frequencyHz * i) / RATE_HZ));
  return samples;
}

function writeFile(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

describe('trunkline transcribe', () => {
  it('prints one JSON object a line, goes on after a file that fails, and ends with 1', async () => {
    const good = writeFile('good.wav', writeWav([tone(400)], 16_000));
    const bad = writeFile('bad.wav', 'no audio at all');
    const { code, out, err } = await runBuiltCli(['transcribe', '--json', bad, good]);
    const [failed, done] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(1);
    expect(failed).toEqual({ file: bad, error: expect.stringMatching(/expected audio/) });
    expect(done).toMatchObject({
      file: good,
      durationMs: 2000,
      captions: [{ text: expect.stringMatching(/^alpha( alpha)+$/) }],
    });
    expect(err).toMatch(/^trunkline: .*bad\.wav: .*expected audio/);
  });

  it('hears each side of a stereo recording by itself', async () => {
    const stereo = writeFile('stereo.wav', writeWav([tone(400), tone(800)], 16_000));
    const { code, out } = await runBuiltCli(['transcribe', '--channels', 'split', stereo]);
    expect(code).toBe(0);
    expect(out).toMatch(/^\[00:00\.\d+\] channel 1: alpha/m);
    expect(out).toMatch(/^\[00:00\.\d+\] channel 2: charlie/m);
  });

  it('refuses a language that the recogniser does not understand', async () => {
    const { code, out, err } = await runBuiltCli(['transcribe', SHORT, '--language', 'German']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('--language: got "German", which is not understood here');
  });

  it('ends with 78 and the remedy when the engine refuses the settings', async () => {
    const { code, err } = await runBuiltCli(['transcribe', SHORT], {
      ASR_MODEL: 'moonshine-tiny',
      EXECUTION_PROVIDER: 'cuda',
    });
    expect(code).toBe(78);
    expect(err).toContain('npm run gpu:install');
  });

  it('ends with 78 and the models that there are when one is unknown', async () => {
    const { code, err } = await runBuiltCli(['transcribe', SHORT], { ASR_MODEL: 'nosuch' });
    expect(code).toBe(78);
    expect(err).toContain('ASR_MODEL: got "nosuch", expected one of moonshine-tiny, tone');
  });
});

describe('trunkline call', () => {
  let bridge: TestBridge | undefined;
  afterEach(() => bridge?.close());

  it('places the call it was told to place and reports on it', async () => {
    bridge = await startBridge();
    const options = [
      '--fast',
      '--json',
      '--url',
      bridge.url,
      '--dtmf',
      '5@100',
      '--from',
      '+15550123',
      '--param',
      'a=b',
    ];
    const { code, out } = await runBuiltCli(['call', SHORT, ...options]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ closeCode: 1000, warnings: [] });
    expect(bridge.events('start')[0]).toMatchObject({ start: { customParameters: { from: '+15550123', a: 'b' } } });
    expect(bridge.events('dtmf').length).toBe(1);
    expect(bridge.events('media').length).toBeGreaterThan(100);
  });

  it('ends with 1 when the server ends the call, and says how', async () => {
    bridge = await startBridge((message, { socket }) => {
      if (message.event === 'start') socket.close(4403, 'call_token_invalid');
    });
    const { code, out, err } = await runBuiltCli(['call', SHORT, '--url', bridge.url]);
    expect(code).toBe(1);
    expect(out).toMatch(/^Closed +4403 call_token_invalid$/m);
    expect(err).toMatch(/the server ended the call, not the caller: 4403 call_token_invalid$/m);
  });

  it.each([
    ['twilio', [], '403 anonymous_refused: nobody may'],
    ['asterisk', ['--carrier', 'asterisk'], '403 anonymous_refused: nobody may'],
  ])('says with which code a server refuses it over %s', async (_carrier, options, reason) => {
    const server = createServer().on('upgrade', (_request, socket) => {
      const body = JSON.stringify({ error: { code: 'anonymous_refused', message: 'nobody may' } });
      socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { code, err } = await runBuiltCli(['call', SHORT, ...options, '--url', `ws://127.0.0.1:${port}/`]);
    server.close();
    expect(code).toBe(1);
    expect(err).toBe(`trunkline: the server did not accept the call: ${reason}\n`);
  });

  it('ends with 1 when nobody answers', async () => {
    const { code, err } = await runBuiltCli(['call', SHORT, '--url', 'ws://127.0.0.1:9/']);
    expect(code).toBe(1);
    expect(err).toMatch(/did not accept the call: nothing listens there \(.*ECONNREFUSED/);
  });
});

describe('trunkline demo', () => {
  it('captions both sides of a call, prints what was said once and how fast it was, and ends with 0', async () => {
    const { code, out, err } = await runBuiltCli(['demo', '--fast'], {
      HOST: '0.0.0.0',
      API_KEYS: 'sesame',
      PORT: '1',
    });
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(/running at http:\/\/127\.0\.0\.1:\d+\//);
    const said = out.split('\n').filter((line) => / {2}(Agent|Caller) /.test(line));
    expect(said).toHaveLength(8);
    expect(said).toEqual(said.toSorted());
    expect(said[0]).toMatch(/^ +0:0\d {2}Agent +\w/);
    expect(out).toMatch(/34 s of call in [\d.]+ s/);
  });

  it('ends with 78 and the voices there are when the default voice is none', async () => {
    const { code, err } = await runBuiltCli(['demo', '--fast'], { DEFAULT_VOICE: 'nosuch', TTS_MODEL: 'tone' });
    expect([code, err]).toEqual([78, expect.stringMatching(/DEFAULT_VOICE: got "nosuch", expected one of rms, slt/)]);
  });
});

describe('trunkline doctor', () => {
  it('looks at everything and tells scripts in JSON', async () => {
    const { code, out } = await runBuiltCli(['doctor', '--json'], { PORT: '0' });
    const { healthy, findings } = JSON.parse(out) as { healthy: boolean; findings: { name: string; status: string }[] };
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
    expect(healthy).toBe(true);
    expect(code).toBe(0);
    const names = [
      'node',
      'settings',
      'cores',
      'port',
      'onnxruntime',
      'cuda',
      'vad model',
      'asr model',
      'tts model',
      'models',
      'records',
      'ffmpeg',
    ];
    expect(findings.map(({ name }) => name)).toEqual(names);
  });

  it('ends with 1 when something is wrong', async () => {
    const { code, out } = await runBuiltCli(['doctor'], { CHUNK_MS: 'foo' });
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}settings +CHUNK_MS: got "foo"/m);
  });
});
