/** Gateways that are cut off from the database that they share, and from each other, with calls that go on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { callsAt, speakAt } from '../e2e/cluster-harness.ts';
import { type CutProxy, startCutProxy } from '../helpers/cut-proxy.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort } from '../helpers/ports.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { type PostgresProxy, startPostgresProxy } from '../helpers/postgres-proxy.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
const CLUSTER_KEY = 'the-cluster-key-of-the-attack-by-cutting';
const WORDS = 20;
const POLL = { timeout: 60_000 };

let folder: string;
let postgres: TestPostgres;
const ends: (() => unknown)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'partition-'));
  postgres = await startPostgres();
});

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Cuttable {
  readonly gateway: GatewayProcess;
  /** Between it and the database, and between the others and it. */
  readonly database: PostgresProxy;
  readonly address: CutProxy;
  readonly feed: FeedReader;
}

async function start(name: string, databaseUrl: string): Promise<Cuttable> {
  const port = await freePort();
  const database = await startPostgresProxy(databaseUrl);
  const address = await startCutProxy(port);
  ends.push(
    () => database.close(),
    () => address.close(),
  );
  const shared = { DATABASE_URL: database.url, CLUSTER_KEY: CLUSTER_KEY, DATA_DIR: join(folder, name) };
  const gateway = await startGateway({ ...PRETEND, ...shared, PORT: String(port), GATEWAY_URL: address.url });
  ends.push(() => gateway.stop('SIGKILL'));
  const feed = await readFeed(gateway.url);
  ends.push(() => feed.close());
  return { gateway, database, address, feed };
}

async function storedOf({ url }: GatewayProcess, callId: string): Promise<readonly FeedEvent[]> {
  const response = await fetch(`${url}/v1/calls/${callId}/events?limit=1000`);
  const { data } = (await response.json()) as { data: readonly { readonly event: FeedEvent }[] };
  return data.map(({ event }) => event);
}

const finalsIn = (events: readonly FeedEvent[], callId: string): number[] =>
  events.flatMap((event) =>
    event.type === 'caption' && event.final && event.callId === callId ? [event.utterance] : [],
  );

describe.skipIf(whyNoPostgres !== '')(`a partition${whyNoPostgres}`, () => {
  it('costs no call and no final, and no end is told of a call whose gateway another one reaches', async () => {
    const url = await postgres.createDatabase();
    const [first, reached, lost] = await Promise.all(['first', 'reached', 'lost'].map((name) => start(name, url)));
    if (first === undefined || reached === undefined || lost === undefined) throw new Error('expected three');
    const calls = [speakAt(reached.gateway.url, 'CAreached', WORDS), speakAt(lost.gateway.url, 'CAlost', WORDS)];
    const live = async () => (await callsAt(first.gateway.url, '?state=live')).map(({ id }) => id).toSorted();
    await expect.poll(live, POLL).toEqual(['CAlost', 'CAreached']);
    for (const { database } of [reached, lost]) database.cut();
    lost.address.cut();
    await first.feed.until(({ type, callId }) => type === 'call.ended' && callId === 'CAlost');
    await expect.poll(live, POLL).toEqual(['CAreached']);
    // Requests are passed on to it: only it knows the phase.
    const passedOn = await fetch(`${first.gateway.url}/v1/calls/CAreached`);
    expect(await passedOn.json()).toMatchObject({ state: 'live', phase: 'live' });
    for (const { database } of [reached, lost]) database.mend();
    lost.address.mend();
    await expect.poll(live, POLL).toEqual(['CAlost', 'CAreached']);
    const reports = await Promise.all(calls.map(({ report }) => report));
    expect(reports.map((report) => report?.closeCode)).toEqual([1000, 1000]);
    for (const [callId, heard] of [
      ['CAreached', reached.feed],
      ['CAlost', lost.feed],
    ] as const) {
      await expect
        .poll(async () => (await storedOf(first.gateway, callId)).at(-1), POLL)
        .toMatchObject({
          type: 'call.ended',
          reason: expect.not.stringContaining('server_lost'),
        });
      const finals = finalsIn(await storedOf(first.gateway, callId), callId);
      expect(finals.length).toBeGreaterThanOrEqual(WORDS);
      expect(finals).toEqual(finalsIn(heard.events, callId));
      expect(finals).toEqual([...new Set(finals)]);
      expect(finalsIn(first.feed.events, callId)).toEqual(finals);
    }
    const ofLost = await storedOf(first.gateway, 'CAlost');
    const at = (type: string) => ofLost.findIndex((event) => event.type === type);
    expect(ofLost[at('call.ended')]).toMatchObject({ reason: 'server_lost' });
    expect(ofLost.slice(at('call.ended') + 1, at('call.resumed')).every(({ late }) => late === true)).toBe(true);
    expect(ofLost.filter(({ late }) => late === true).length).toBeGreaterThan(0);
    expect(ofLost.slice(at('call.resumed')).some(({ late }) => late === true)).toBe(false);
    const ofReached = first.feed.events.filter(({ callId }) => callId === 'CAreached');
    expect(ofReached.filter(({ type }) => type === 'call.ended' || type === 'call.resumed')).toHaveLength(1);
  });
});
