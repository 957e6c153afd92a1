/** A gateway with the real models, in folders of its own: what it leaves there, and whom it talks to. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { recording } from './understanding.ts';

/** onnxruntime's telemetry asks DNS for its collector two seconds after it was loaded; the call goes on for longer. */
const CALL_SECONDS = 5;
const RATE_HZ = 8000;

let root: string;
let gateway: GatewayProcess | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'nothing-sent-'));
  for (const name of ['home', 'cache', 'tmp']) mkdirSync(join(root, name));
});

afterEach(async () => {
  await gateway?.stop('SIGKILL');
  gateway = undefined;
  rmSync(root, { recursive: true });
});

/** Folders of its own, and an operator who asks for telemetry. */
const environment = () => ({
  HOME: join(root, 'home'),
  XDG_CACHE_HOME: join(root, 'cache'),
  TMPDIR: join(root, 'tmp'),
  ORT_DISABLE_TELEMETRY: '0',
});

async function holdCall(running: GatewayProcess): Promise<void> {
  const feed = await readFeed(running.url);
  const inbound = recording('long-speech').subarray(0, CALL_SECONDS * RATE_HZ);
  const url = `${running.url.replace(/^http/, 'ws')}/twilio/media`;
  await placeCall({ url, tracks: { inbound }, pace: 'realtime', clock: systemClock, callSid: 'CAquiet' });
  await feed.until((event) => event.type === 'call.ended');
  expect(feed.finals('CAquiet')).not.toEqual([]);
  feed.close();
}

/** Lines of /proc/net whose socket the processes hold and whose other end (third field) is not this machine. */
function foreignSockets(pids: readonly number[]): string[] {
  const held = new Set(pids.flatMap(socketsOf));
  const lines = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((table) =>
    readFileSync(`/proc/self/net/${table}`, 'utf8').split('\n').slice(1),
  );
  return lines.filter((line) => {
    const fields = line.trim().split(/\s+/);
    return held.has(fields[9] ?? '') && !/^(0100007F|0+:)/.test(fields[2] ?? '');
  });
}

/** The inodes of a process's sockets. */
function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      // It was closed between the two looks.
      return [];
    }
  });
}

/** Whether strace is installed and may trace. */
function canTrace(): boolean {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a gateway in folders of its own', () => {
  it('leaves nothing there but its graphs, and has no socket to another machine', async () => {
    gateway = await startGateway(environment());
    const running = gateway;
    const calling = holdCall(running);
    const foreign: string[] = [];
    const watch = systemClock.every(10, () => foreign.push(...foreignSockets([running.pid, ...running.enginePids()])));
    await calling.finally(() => watch.cancel());
    expect(await running.stop('SIGTERM')).toBe(0);
    gateway = undefined;

    expect(foreign).toEqual([]);
    expect(readdirSync(join(root, 'home'))).toEqual([]);
    expect(readdirSync(join(root, 'cache'))).toEqual(['trunkline']);
    expect(readdirSync(join(root, 'tmp'))).toEqual([]);
  });

  it.runIf(canTrace())('asks the system for no other machine, and for nothing that names this one', async () => {
    const trace = join(root, 'trace');
    gateway = await startGateway(environment(), [
      'strace',
      '-D',
      '-f',
      '-qq',
      '-e',
      'trace=connect,sendto,sendmsg,openat',
      '-o',
      trace,
    ]);
    await holdCall(gateway);
    expect(await gateway.stop('SIGTERM')).toBe(0);
    gateway = undefined;

    const calls = readFileSync(trace, 'utf8').split('\n');
    const toMachines = calls.filter((call) => /sin6?_addr/.test(call));
    expect(toMachines.filter((call) => !/inet_addr\("127\.|inet_pton\(AF_INET6, "::(1|ffff:127\.)/.test(call))).toEqual(
      [],
    );
    expect(calls.filter((call) => /machine-id|mat-debug/.test(call))).toEqual([]);
    expect(calls.some((call) => call.includes('libonnxruntime'))).toBe(true);
  });
});
