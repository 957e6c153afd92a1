/**
 * Recordings by SIPREC as an operator has them: a gateway of its own process with real models, and border controllers
 * that send calls over UDP and TCP; SIPp among them, where it is installed.
 */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { samplesToMs } from '../../src/foundation/units.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort, freeUdpPorts } from '../helpers/ports.ts';
import { RecordingClient, type SentRecording } from '../helpers/recording-client.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { errorRate, recording, textOf } from './understanding.ts';

const WER_MAX = 25;
const SPOKEN_TIMEOUT_MS = 120_000;
const AT_ONCE = 10;
const SCENARIOS = join(import.meta.dirname, 'sipp');
const run = promisify(execFile);

const hasSipp = ((): boolean => {
  try {
    execFileSync('which', ['sipp'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

let gateway: GatewayProcess | undefined;
let client: RecordingClient | undefined;
let port = 0;
afterEach(async () => {
  await client?.close();
  await gateway?.stop('SIGKILL');
  gateway = undefined;
  client = undefined;
});

async function start(environment: Record<string, string> = {}): Promise<GatewayProcess> {
  port = await freePort();
  const { first, last } = await freeUdpPorts(8 * AT_ONCE);
  gateway = await startGateway({ SIP_PORT: String(port), RTP_PORTS: `${first}-${last}`, ...environment });
  return gateway;
}

/** All that the longest side says was sent. */
async function spoken(sent: SentRecording, ...sides: Int16Array[]): Promise<void> {
  const ms = Math.max(...sides.map((side) => samplesToMs(side.length, LINE_RATE_HZ)));
  await expect
    .poll(() => Math.min(...sent.media.map(({ sentMs }) => sentMs)), { timeout: SPOKEN_TIMEOUT_MS })
    .toBeGreaterThan(ms + 1500);
}

describe('a recorded call', () => {
  it.each(['UDP', 'TCP'] as const)(
    'has both of its voices captioned, each on its track: over %s',
    async (transport) => {
      const { url } = await start();
      const feed = await readFeed(url);
      client = await RecordingClient.open({ transport, port });
      const [caller, agent] = [recording('demo-caller'), recording('demo-agent')];
      const voices = [
        { audio: caller, user: '+14155550199' },
        { audio: agent, user: 'agent7' },
      ];
      // Larger than what one packet carries whole: what TCP is for.
      const sent = await client.record(voices, { paddingBytes: transport === 'TCP' ? 20_000 : 1000 });
      await spoken(sent, caller, agent);
      await sent.hold(true);
      await feed.until((event) => event.type === 'call.state' && event.state === 'held');
      await sent.hold(false);
      await feed.until((event) => event.type === 'call.state' && event.state === 'live');
      await sent.end();
      await feed.until((event) => event.type === 'call.ended' && event.reason === 'hangup');
      const view = await (await fetch(`${url}/v1/calls/${sent.callId}`)).json();
      expect(view).toMatchObject({
        carrier: 'siprec',
        from: '+14155550199',
        to: 'agent7',
        tracks: ['inbound', 'outbound'],
      });
      for (const [track, name] of [
        ['inbound', 'demo-caller'],
        ['outbound', 'demo-agent'],
      ] as const) {
        const heard = feed.finals(sent.callId).filter((caption) => caption.track === track);
        expect(errorRate(textOf(name), heard.map(({ text }) => text).join(' '))).toBeLessThan(WER_MAX);
      }
      const say = await fetch(`${url}/v1/calls/${sent.callId}/say`, { method: 'POST' });
      expect(say.status).toBeGreaterThanOrEqual(400);
      feed.close();
    },
  );

  it(`is captioned beside ${AT_ONCE - 1} others of the same border controller`, async () => {
    const { url } = await start({ MAX_CALLS: String(AT_ONCE) });
    const feed = await readFeed(url);
    client = await RecordingClient.open({ transport: 'TCP', port });
    const audio = recording('short');
    const voices = [
      { audio, user: 'a' },
      { audio, user: 'b' },
    ];
    const sent = await Promise.all(Array.from({ length: AT_ONCE }, () => client?.record(voices)));
    for (const each of sent) if (each !== undefined) await spoken(each, audio);
    await expect(client.record(voices)).rejects.toThrow('503');
    for (const each of sent) await each?.end();
    let ended = 0;
    await feed.until((event) => event.type === 'call.ended' && ++ended === AT_ONCE);
    for (const each of sent)
      for (const track of ['inbound', 'outbound']) {
        const heard = feed.finals(each?.callId ?? '').filter((caption) => caption.track === track);
        expect(errorRate(textOf('short'), heard.map(({ text }) => text).join(' '))).toBeLessThan(WER_MAX);
      }
    feed.close();
  });
});

describe.skipIf(!hasSipp)(`SIPp${hasSipp ? '' : ' (not run: it is not installed)'}`, () => {
  it.each([
    ['u1', 'recording.xml'],
    ['t1', 'recording.xml'],
    ['u1', 'recording-late-offer.xml'],
    ['u1', 'recording-snapshot.xml'],
    ['t1', 'recording-snapshot.xml'],
  ])('plays its recordings to the end: -t %s %s', async (transport, scenario) => {
    const { url } = await start({ SIP_DIALOGS_MAX: '1000', MAX_CALLS: '20' });
    const feed = await readFeed(url);
    const own = await freePort();
    const options = ['-t', transport, '-sf', join(SCENARIOS, scenario), '-i', '127.0.0.1', '-p', String(own)];
    const calls = ['-m', '10', '-r', '5', '-l', '10', '-timeout', '60', '-timeout_error', '-nostdin'];
    await run('sipp', [...options, ...calls, `127.0.0.1:${port}`], { cwd: '/tmp' });
    let ended = 0;
    await feed.until((event) => event.type === 'call.ended' && event.reason === 'hangup' && ++ended === 10);
    const { data } = (await (await fetch(`${url}/v1/calls`)).json()) as { data: { from: string; carrier: string }[] };
    expect(data.map(({ from, carrier }) => `${carrier} ${from}`)).toEqual(Array(10).fill('siprec 6001'));
    feed.close();
  });
});
