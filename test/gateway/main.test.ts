import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { type Gateway, runGateway } from '../../src/gateway/main.ts';
import { eventually } from '../helpers/eventually.ts';
import { freePort } from '../helpers/ports.ts';
import { readSettings } from '../helpers/settings.ts';

const PRETEND = {
  PORT: '0',
  ENGINE_PRELOAD: 'false',
  ENGINE_WORKERS: '1',
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  MODELS_DIR: 'none',
  DATA_DIR: 'none',
};
const QUIET = { ...PRETEND, LOG_LEVEL: 'silent' };
const UNKNOWN_MODEL = /(ASR|VAD|TTS)_MODEL: got "nosuch", expected one of .+, tone\b/;

describe('runGateway', () => {
  let gateway: Gateway | null = null;
  afterEach(() => gateway?.close());

  async function run(environment: Record<string, string> = {}): Promise<Gateway> {
    gateway = await runGateway(readSettings({ ...QUIET, ...environment }));
    return gateway;
  }

  it('serves on a free port, without an engine until one is needed, until it is closed, twice if need be', async () => {
    const { url, close } = await run();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    const ready = await fetch(`${url}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { status: 'ready', engine: { state: 'stopped', ready: 0 } },
    ]);
    await Promise.all([close(), close()]);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  it('waits for sessions that are no calls, and ends them as their protocol has it', async () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    gateway = await runGateway(readSettings({ ...PRETEND, DRAIN_TIMEOUT_MS: '1' }), { log });
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/listen?encoding=linear16&sample_rate=16000`);
    const messages: string[] = [];
    socket.on('message', (data) => messages.push(JSON.parse(String(data)).type));
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await gateway.close();
    expect([await closed, messages.at(-1)]).toEqual([1012, 'Metadata']);
    const waiting = lines.map((line) => JSON.parse(line)).find(({ msg }) => /^waiting for/.test(msg));
    expect(waiting).toMatchObject({ calls: 0, sessions: 1, timeoutMs: 1 });
  });

  it('answers every request with the reason, and starts no engine again, when a model is unknown', async () => {
    const refusals: string[] = [];
    const settings = readSettings({ ...QUIET, ASR_MODEL: 'nosuch' });
    gateway = await runGateway(settings, { onRefused: (message) => refusals.push(message) });
    for (let request = 0; request < 3; request++) {
      const response = await speechRequest(gateway.url);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(UNKNOWN_MODEL) } });
    }
    expect(refusals).toEqual([expect.stringMatching(UNKNOWN_MODEL)]);
    const ready = await fetch(`${gateway.url}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { engine: { state: 'failed', ready: 0 } }]);
    expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(/^trunkline_engine_restarts_total 0$/m);
  });

  it('says in one log line where it listens and how many calls it takes', async () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    gateway = await runGateway(readSettings(QUIET), { log });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: 'listening', url: gateway.url, maxCalls: readSettings(QUIET).MAX_CALLS }),
    ]);
  });

  it('warns at the start of what lets strangers in', async () => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line: string) => void lines.push(line) });
    const settings = readSettings({ ...QUIET, PUBLIC_URL: 'https://bridge.example.com', ALLOW_ANONYMOUS: 'true' });
    gateway = await runGateway(settings, { log });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, msg: expect.stringContaining('ALLOW_ANONYMOUS=true') }),
    ]);
  });

  it('says where it listens, then how far the engines are', async () => {
    const told: unknown[] = [];
    const ready = new Promise<void>((resolve) => {
      const onReady = (ready: number, workers: number) => {
        told.push([ready, workers]);
        resolve();
      };
      const settings = readSettings({ ...QUIET, ENGINE_PRELOAD: 'true', TTS_MODEL: 'tone' });
      const engineWatcher = { onProgress: () => undefined, onReady };
      void runGateway(settings, { onListening: (url) => told.push(url), engineWatcher }).then((running) => {
        gateway = running;
      });
    });
    await ready;
    expect(told).toEqual([expect.stringMatching(/^http:/), [1, 1]]);
  });

  it('refuses a VOICE_MAP whose voices are not there, as soon as that is known', async () => {
    const refused = new Promise<string>((resolve) => {
      const settings = readSettings({
        ...QUIET,
        ENGINE_PRELOAD: 'true',
        TTS_MODEL: 'tone',
        VOICE_MAP: 'Joanna=nobody',
      });
      void runGateway(settings, { onRefused: resolve }).then((running) => {
        gateway = running;
      });
    });
    expect(await refused).toMatch(/^VOICE_MAP: got "nobody" for "joanna", expected one of rms, slt/);
  });

  it('opens the port for AudioSocket first, says where, and says what to do when it is in use', async () => {
    const port = String(await freePort());
    const lines: string[] = [];
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    gateway = await runGateway(readSettings({ ...QUIET, AUDIOSOCKET_PORT: port }), { log });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'listening for AudioSocket', address: `127.0.0.1:${port}` },
      { msg: 'listening' },
    ]);
    await expect(runGateway(readSettings({ ...QUIET, AUDIOSOCKET_PORT: port }))).rejects.toThrow(
      /port \d+ of .* in use.*AUDIOSOCKET_PORT/,
    );
  });

  it('says what to do when its port is in use', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    await expect(run({ PORT: String(port) })).rejects.toThrow(
      `port ${port} of 127.0.0.1 is in use: stop the program that listens there, or change PORT`,
    );
    other.close();
  });

  it('says so when its address is not one of this machine', async () => {
    await expect(run({ HOST: '192.0.2.1', API_KEYS: 'a-key-of-sixteen-characters' })).rejects.toThrow(
      'HOST=192.0.2.1 is not an address of this machine',
    );
  });

  it('lets a live call finish when it is closed, takes no other, and says so', async () => {
    const { url, close } = await run();
    const caller = await call(url, 'CA1');
    const closed = close();
    const ready = await fetch(`${url}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { status: 'not_ready', reasons: expect.arrayContaining(['the server is shutting down']) },
    ]);
    const refused = await new Promise((resolve) => {
      const late = new WebSocket(`${url.replace('http', 'ws')}/twilio/media`);
      late.on('unexpected-response', (_request, response) => resolve(response.statusCode)).on('error', () => undefined);
    });
    expect(refused).toBe(503);
    caller.send(
      JSON.stringify({
        event: 'stop',
        sequenceNumber: '2',
        streamSid: 'MZ1',
        stop: { accountSid: 'AC1', callSid: 'CA1' },
      }),
    );
    caller.close();
    await closed;
  });
});

describe('serve', () => {
  let child: ChildProcess;
  afterEach(() => void child.kill('SIGKILL'));

  /** A process of its own; its log lines and its end. */
  function start(environment: Record<string, string> = {}, ...args: readonly string[]) {
    child = spawn(process.execPath, [packagePath('test', 'fakes', 'gateway-process.mjs'), ...args], {
      cwd: packagePath(),
      env: { PATH: process.env['PATH'], ...PRETEND, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: Record<string, unknown>[] = [];
    let text = '';
    const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    const listening = new Promise<string>((resolve) => {
      if (child.stdout === null) return;
      createInterface({ input: child.stdout }).on('line', (line) => {
        text += `${line}\n`;
        if (!line.startsWith('{')) return;
        const entry = JSON.parse(line) as Record<string, unknown>;
        lines.push(entry);
        if (entry['msg'] === 'listening') resolve(String(entry['url']));
      });
    });
    return { lines, text: () => text, exited, listening };
  }

  it('ends with 0 on SIGTERM', async () => {
    const { lines, exited, listening } = start();
    await listening;
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    expect(lines.map(({ msg }) => msg)).toEqual(['listening', 'draining', 'ended']);
  });

  it('waits for a live call, and ends at once on a second signal', async () => {
    const { lines, exited, listening } = start();
    const caller = await call(await listening, 'CA1');
    const isDraining = new Promise<void>((resolve) => {
      const look = () => (lines.some(({ msg }) => msg === 'draining') ? resolve() : setImmediate(look));
      look();
    });
    child.kill('SIGINT');
    await isDraining;
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    await exited;
    // By the signal itself: a shell says 130, and no thread is waited for.
    expect(child.signalCode).toBe('SIGINT');
    caller.terminate();
  });

  it('ends with 1 and a fatal line when a promise is forgotten', async () => {
    const { lines, exited } = start({}, 'forgets');
    expect(await exited).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: 60, msg: 'unhandled rejection', err: { message: 'forgotten' } });
  });

  it('ends with 1 and a fatal line even when what was thrown cannot be written', async () => {
    const { lines, exited } = start({}, 'throws');
    expect(await exited).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: 60, msg: 'uncaught exception, and its value cannot be logged' });
  });

  it('ends with 78 and the voices that there are when the default voice is none', async () => {
    const { lines, exited } = start({ ENGINE_PRELOAD: 'true', TTS_MODEL: 'tone', DEFAULT_VOICE: 'nobody' });
    expect(await exited).toBe(78);
    expect(lines.at(-1)).toMatchObject({
      level: 60,
      msg: expect.stringMatching(/^DEFAULT_VOICE: got "nobody", expected one of rms, slt/),
    });
  });

  it.each(['ASR_MODEL', 'VAD_MODEL', 'TTS_MODEL'])(
    'ends with 78 and the models that there are when %s is none',
    async (name) => {
      const { lines, exited } = start({ ENGINE_PRELOAD: 'true', [name]: 'nosuch' });
      expect(await exited).toBe(78);
      expect(lines.at(-1)).toMatchObject({ level: 60, msg: expect.stringMatching(UNKNOWN_MODEL) });
    },
  );

  it('ends with 78 at the first request when a model is unknown and models are loaded on demand', async () => {
    const { lines, exited, listening } = start({ ASR_MODEL: 'nosuch' });
    await speechRequest(await listening).catch(() => undefined);
    expect(await exited).toBe(78);
    expect(lines.at(-1)).toMatchObject({ level: 60, msg: expect.stringMatching(UNKNOWN_MODEL) });
  });

  it('greets people who have asked for a log that they can read', async () => {
    const { text, exited } = start({ LOG_FORMAT: 'pretty', ENGINE_PRELOAD: 'true', TTS_MODEL: 'tone' });
    await eventually(() => expect(text()).toContain('Ready for calls: 1 of 1 engine, voice rms.'));
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    const [first = '', ...rest] = text().split('\n');
    expect(first).toMatch(/^Trunkline \d+\.\d+\.\d+ is at http:\/\/127\.0\.0\.1:\d+\/ \(for this machine alone\)$/);
    expect(rest.join('\n')).toMatch(/^\d\d:\d\d:\d\d INFO {2}listening url=http:.* maxCalls=\d+$/m);
    expect(rest.at(-2)).toMatch(/INFO {2}ended$/);
  });

  it('ends with 1 and a fatal line when it cannot listen', async () => {
    const { lines, exited } = start({ HOST: '192.0.2.1', API_KEYS: 'a-key-of-sixteen-characters' });
    expect(await exited).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: 60, msg: 'HOST=192.0.2.1 is not an address of this machine' });
  });
});

/** Asks for speech, for which an engine is started. */
function speechRequest(url: string): Promise<Response> {
  return fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ voice: 'slt', input: 'Hello.' }),
  });
}

/** A Media Streams caller whose stream has been accepted as a call. */
async function call(url: string, callSid: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/twilio/media`);
  await new Promise((resolve) => socket.once('open', resolve));
  const feed = await fetch(`${url}/v1/captions`);
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  const start = {
    streamSid: 'MZ1',
    accountSid: 'AC1',
    callSid,
    tracks: ['inbound'],
    customParameters: {},
    mediaFormat,
  };
  socket.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
  socket.send(JSON.stringify({ event: 'start', sequenceNumber: '1', streamSid: 'MZ1', start }));
  const reader = feed.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; !text.includes('call.started'); ) text += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  return socket;
}
