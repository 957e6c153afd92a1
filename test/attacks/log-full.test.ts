/**
 * A log that cannot be written: a full disk, a reader who is gone, a reader who does not read. Calls go on as if
 * nothing were.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { metricValue } from '../helpers/gateway.ts';
import { freePort } from '../helpers/ports.ts';
import { toneSpeech } from '../helpers/tones.ts';

const PRETEND = {
  HOST: '127.0.0.1',
  ENGINE_WORKERS: '1',
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  TTS_MODEL: 'tone',
  MODELS_DIR: 'none',
  DATA_DIR: 'none',
  LOG_LEVEL: 'trace',
};
/** Requests at once, each of which is a line at this level. */
const AT_ONCE = 20;

let folder: string;
let child: ChildProcess | null = null;
let url: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-log-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Starts a gateway whose log goes to `stdout`. */
async function start(stdout: number | 'pipe'): Promise<ChildProcess> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  child = spawn(process.execPath, [packagePath('dist', 'src', 'cli.js'), 'serve'], {
    env: { PATH: process.env['PATH'], PORT: String(port), ...PRETEND },
    stdio: ['ignore', stdout, 'ignore'],
  });
  if (typeof stdout === 'number') closeSync(stdout);
  await expect
    .poll(() =>
      fetch(`${url}/ready`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  return child;
}

async function lostLines(): Promise<number> {
  return metricValue(await (await fetch(`${url}/metrics`)).text(), 'trunkline_log_lines_lost_total');
}

/** Asks for so little and so often that the log is what grows. */
async function chatter(requests: number): Promise<void> {
  for (let sent = 0; sent < requests; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => (await fetch(`${url}/health`)).arrayBuffer()));
  }
}

/** The transcript of a call of one word. */
async function call(callSid: string): Promise<string> {
  const inbound = toneSpeech(1, 400).filter((_, index) => index % 2 === 0);
  const media = `${url.replace('http', 'ws')}/twilio/media`;
  const report = await placeCall({ url: media, tracks: { inbound }, pace: 'realtime', clock: systemClock, callSid });
  expect(report.closeCode).toBe(1000);
  const transcript = () => fetch(`${url}/v1/calls/${callSid}/transcript?format=text`).then((answer) => answer.text());
  await expect.poll(transcript).toMatch(/alpha/);
  return transcript();
}

async function exitCodeOf(gateway: ChildProcess): Promise<number | null> {
  const exited = new Promise<number | null>((resolve) => gateway.once('exit', (code) => resolve(code)));
  gateway.kill('SIGTERM');
  return exited;
}

describe('a call goes through to its transcript, and the gateway to its end, while the log', () => {
  it('lies on a full disk', async () => {
    const gateway = await start(openSync('/dev/full', 'w'));
    expect(await call('CAfull')).toContain('alpha');
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^trunkline_log_errors_total\{code="ENOSPC"\} [1-9]/m);
    expect(await exitCodeOf(gateway)).toBe(0);
  });

  it('goes into a pipe whose reader is gone', async () => {
    const reader = openSync(join(folder, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(join(folder, 'pipe'), constants.O_WRONLY);
    closeSync(reader);
    const gateway = await start(writer);
    expect(await call('CAgone')).toContain('alpha');
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^trunkline_log_errors_total\{code="EPIPE"\} [1-9]/m);
    expect(await exitCodeOf(gateway)).toBe(0);
  });

  it('goes into a pipe that nobody reads, and says what it lost once somebody does', async () => {
    const reader = openSync(join(folder, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
    const gateway = await start(openSync(join(folder, 'pipe'), constants.O_WRONLY));
    while ((await lostLines()) === 0) await chatter(500);
    expect(await call('CAunread')).toContain('alpha');
    const lost = await lostLines();
    const stream = createReadStream('', { fd: openSync(`/proc/self/fd/${reader}`, 'r'), autoClose: true });
    closeSync(reader);
    let count: unknown = null;
    createInterface({ input: stream }).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      if (String(entry['msg']).startsWith('log lines were lost here')) count = entry['lines'];
    });
    await expect.poll(() => count).toBeGreaterThanOrEqual(lost);
    expect(await exitCodeOf(gateway)).toBe(0);
  });

  it('goes into a socket that nobody reads, as that of a service manager', async () => {
    const gateway = await start('pipe');
    gateway.stdout?.pause();
    await chatter(2500);
    expect(await call('CAsocket')).toContain('alpha');
    expect(await exitCodeOf(gateway)).toBe(0);
  });
});
