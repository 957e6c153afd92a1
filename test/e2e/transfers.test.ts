/** Transfers that peers ask for, played by SIPp where it is installed, against a gateway of its own process. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort, freeUdpPorts } from '../helpers/ports.ts';

const CALLS = 5;
const SCENARIOS = join(import.meta.dirname, 'sipp');
const play = promisify(execFile);

const hasSipp = ((): boolean => {
  try {
    execFileSync('which', ['sipp'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

let gateway: GatewayProcess | undefined;
let port = 0;
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  gateway = undefined;
});

async function start(): Promise<GatewayProcess> {
  port = await freePort();
  const { first, last } = await freeUdpPorts(8 * CALLS);
  const ports = { SIP_PORT: String(port), RTP_PORTS: `${first}-${last}` };
  gateway = await startGateway({ ...ports, SIP_TRANSFERS: 'peers', MAX_CALLS: '20' });
  return gateway;
}

/** Plays a scenario to its end; rejects when a message is another than it says. */
async function sipp(transport: string, scenario: string, options: readonly string[]): Promise<void> {
  const common = ['-t', transport, '-sf', join(SCENARIOS, scenario), '-i', '127.0.0.1', '-m', String(CALLS)];
  await play('sipp', [...common, '-timeout', '90', '-timeout_error', '-nostdin', ...options], { cwd: '/tmp' });
}

describe.skipIf(!hasSipp)(`SIPp${hasSipp ? '' : ' (not run: it is not installed)'}`, () => {
  it.each([
    ['u1', 'refer'],
    ['t1', 'refer'],
    ['u1', 'refer-attended'],
  ])('gives its calls to somebody else, who ends them: -t %s %s', async (transport, scenario) => {
    const { url } = await start();
    const feed = await readFeed(url);
    const [own, target] = [await freePort(), await freePort()];
    const answering = sipp(transport, `${scenario}-target.xml`, ['-p', String(target)]);
    const transport3261 = transport === 't1' ? ';transport=tcp' : '';
    const key = ['-key', 'target', `${target}${transport3261}`];
    await sipp(transport, `${scenario}.xml`, ['-p', String(own), ...key, '-r', '5', `127.0.0.1:${port}`]);
    await answering;
    await ended(feed, url, 'refer', 'target');
    feed.close();
  });

  it.each(['u1', 't1'])('takes its own calls over by Replaces: -t %s', async (transport) => {
    const { url } = await start();
    const feed = await readFeed(url);
    await sipp(transport, 'replaces.xml', ['-p', String(await freePort()), '-r', '5', `127.0.0.1:${port}`]);
    await ended(feed, url, 'replaces', 'two');
    feed.close();
  });
});

/** Each call went on with somebody else, and none of them is another call. */
async function ended(feed: Awaited<ReturnType<typeof readFeed>>, url: string, by: string, to: string): Promise<void> {
  let calls = 0;
  let transfers = 0;
  await feed.until((event) => {
    if (event.type === 'call.transferred' && event.by === by && event.to === to) transfers++;
    return event.type === 'call.ended' && event.reason === 'hangup' && ++calls === CALLS;
  });
  expect(transfers).toBe(CALLS);
  const { data } = (await (await fetch(`${url}/v1/calls`)).json()) as { data: { from: string }[] };
  expect(data.map(({ from }) => from)).toEqual(Array(CALLS).fill('one'));
}
