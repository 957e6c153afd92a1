/** Gateways whose disk gets stuck, full or broken in the middle of calls. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', ENGINE_WORKERS: '1' };
const CALLS = 5;
const RATE_HZ = 8000;
/** A final caption every two seconds: a second of sound, a second of silence. */
const BEEPS = Int16Array.from({ length: 20 * RATE_HZ }, (_, i) =>
  Math.floor(i / RATE_HZ) % 2 === 0 ? 9000 * Math.sin((i * 2 * Math.PI * 440) / RATE_HZ) : 0,
);

function hasCompiler(): boolean {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
}

const isThere = hasCompiler();

describe.runIf(isThere)(`a disk${isThere ? '' : ' (not run: there is no C compiler)'}`, () => {
  let folder: string;
  let library: string;
  let gateway: GatewayProcess | undefined;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-disk-'));
    library = join(folder, 'faults.so');
    const source = packagePath('test', 'fakes', 'disk-faults.c');
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  });
  afterEach(() => gateway?.stop('SIGKILL'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const disk = (is: 'fine' | 'hang' | 'ENOSPC' | 'EIO'): void => writeFileSync(join(folder, 'mode'), is);

  async function inCalls(name: string, environment: Record<string, string> = {}) {
    disk('fine');
    const DATA_DIR = join(folder, `data-${name}`);
    const faults = { LD_PRELOAD: library, FAULT_FILE: join(folder, 'mode'), FAULT_PREFIX: DATA_DIR };
    gateway = await startGateway({ ...PRETEND, DATA_DIR, DRAIN_TIMEOUT_MS: '0', ...faults, ...environment });
    const feed = await readFeed(gateway.url);
    const media = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
    const tracks = { inbound: BEEPS };
    const calls = Array.from({ length: CALLS }, (_, i) =>
      placeCall({ url: media, tracks, pace: 'realtime', clock: systemClock, callSid: `CA${i}` }).catch(() => null),
    );
    await expect.poll(() => feed.events.filter(({ type }) => type === 'call.started').length).toBe(CALLS);
    return { gateway, feed, calls };
  }

  it('that is stuck hides no live call, and the gateway ends in half a minute all the same', async () => {
    const { gateway: stuck, feed, calls } = await inCalls('stuck', { RECORD: 'both' });
    await sleep(systemClock, 1500);
    disk('hang');
    const backlog = async () => metricValue(await stuck.metrics(), 'trunkline_records_backlog');
    await expect.poll(backlog, { interval: 500 }).toBeGreaterThan(10);
    const live = (await (await fetch(`${stuck.url}/v1/calls?state=live`)).json()) as { data: unknown[] };
    expect(live.data).toHaveLength(CALLS);
    const system = (await (await fetch(`${stuck.url}/v1/system`)).json()) as Record<string, unknown>;
    expect(system).toMatchObject({ calls: { live: CALLS } });
    const stored = await fetch(`${stuck.url}/v1/calls`);
    expect(stored.status).toBe(503);
    expect(await stored.json()).toMatchObject({ error: { code: 'records_unavailable' } });
    const beganMs = systemClock.nowMs();
    feed.close();
    await stuck.stop();
    expect(systemClock.nowMs() - beganMs).toBeLessThan(35_000);
    expect(stuck.logLines.at(-1)).toMatchObject({ msg: 'ended' });
    expect(stuck.logLines).toContainEqual(expect.objectContaining({ level: 50, part: 'records' }));
    disk('fine');
    await Promise.all(calls);
  }, 120_000);

  it.each(['ENOSPC', 'EIO'] as const)(
    'that fails with %s for a while loses no event',
    async (fault) => {
      const { gateway: running, feed, calls } = await inCalls(fault);
      await sleep(systemClock, 1500);
      disk(fault);
      const isTold = () => running.logLines.some(({ msg }) => String(msg).startsWith('the records cannot be written'));
      await expect.poll(isTold).toBe(true);
      disk('fine');
      await Promise.all(calls);
      await expect.poll(() => feed.events.filter(({ type }) => type === 'call.ended').length).toBe(CALLS);
      for (let i = 0; i < CALLS; i++) {
        const told = feed.events.filter((event) => event.callId === `CA${i}`).filter(isStored);
        const answer = await fetch(`${running.url}/v1/calls/CA${i}/events?limit=1000`);
        const { data } = (await answer.json()) as { data: { event: unknown }[] };
        expect(data.map(({ event }) => event)).toEqual(told);
      }
      feed.close();
      expect(await running.stop()).toBe(0);
    },
    120_000,
  );
});

function isStored(event: { readonly type: string; readonly final?: boolean }): boolean {
  return !event.type.startsWith('speech.') && (event.type !== 'caption' || event.final === true);
}
