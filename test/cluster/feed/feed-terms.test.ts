import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ClusterSession } from '../../../src/cluster/cluster-session.ts';
import { insertGateway, registerAgain } from '../../../src/cluster/gateway-rows.ts';
import { ResumedCalls } from '../../../src/cluster/resumed-calls.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../../helpers/postgres.ts';
import { type PostgresProxy, startPostgresProxy } from '../../helpers/postgres-proxy.ts';
import { said, started } from '../../records/told-calls.ts';
import { type FeedGateway, hurried, openFeedGateway } from './feed-gateways.ts';

const POLL = { timeout: 30_000 };

describe.skipIf(whyNoPostgres !== '')(`a gateway that was declared dead${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  let session: ClusterSession;
  let proxy: PostgresProxy;
  let url: string;
  const opened: FeedGateway[] = [];

  beforeAll(async () => {
    postgres = await sharedPostgres();
  });
  afterEach(async () => {
    session.close();
    await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
    await proxy.close();
  });

  /** Two gateways that are registered; what the first has of the database can be cut. */
  async function openPair(): Promise<{ x: FeedGateway; y: FeedGateway; deaths: { ofX: number } }> {
    url = await postgres.createDatabase();
    proxy = await startPostgresProxy(url);
    const deaths = { ofX: 0 };
    const x = await openFeedGateway(proxy.url, { clock: hurried(20), onDeclaredDead: () => deaths.ofX++ });
    const y = await openFeedGateway(url);
    opened.push(x, y);
    session = new ClusterSession(url, () => undefined);
    for (const { id } of [x, y]) await insertGateway(session, rowOf(id));
    y.records.share(
      () => true,
      y.feed,
      () => [],
    );
    return { x, y, deaths };
  }

  const rowOf = (id: string) => ({ id, name: 'machine', address: 'http://a:1', state: 'serving' as const });

  async function endCallsOf(x: FeedGateway, y: FeedGateway): Promise<void> {
    await session.query(`UPDATE gateways SET state = 'ended' WHERE id = $1`, [x.id]);
    await y.records.endLostCalls(y.feed);
  }

  async function comeBack(x: FeedGateway, resumed: ResumedCalls): Promise<void> {
    const back = await registerAgain(session, rowOf(x.id), { held: x.records.recorder.held(), lastTerm: 1 });
    x.exchange.resume(back);
    x.records.recorder.resume(back.stored);
    resumed.resume(back.ended);
  }

  const storedOf = async ({ records }: FeedGateway, callId: string): Promise<string[]> =>
    (await records.calls.events(callId, { limit: 100 })).map(({ event }) => wordsOf(event));
  const wordsOf = (event: { type: string; text?: unknown; reason?: unknown; late?: boolean }): string =>
    [event.type, event.text, event.reason, event.late === true ? 'late' : undefined].filter(Boolean).join(' ');

  it('is back: what waited follows the end that others told and says that it is late, and the call goes on', async () => {
    const { x, y, deaths } = await openPair();
    const resumed = new ResumedCalls({ feed: x.feed, lastedMs: (callId) => (callId === 'CAx' ? 5000 : null) });
    const [atX, atY] = [x.read(), y.read()];
    x.publish(started('CAx'), said('CAx', 1, 'one'), started('CAover'));
    await x.records.recorder.settled();
    proxy.cut();
    x.publish(said('CAx', 2, 'two'), said('CAover', 1, 'bye'));
    x.publish({ type: 'call.ended', callId: 'CAover', reason: 'hangup', durationMs: 900, handoffData: null });
    await expect.poll(() => atX.texts(), POLL).toEqual(['one', 'two', 'bye']);
    await endCallsOf(x, y);
    expect((await y.records.calls.get('CAx'))?.endReason).toBe('server_lost');
    proxy.mend();
    await expect.poll(() => deaths.ofX, POLL).toBe(1);
    await comeBack(x, resumed);
    x.publish(said('CAx', 3, 'three'));
    await x.records.recorder.settled();
    const ofCall = ['call.started', 'caption one', 'call.ended server_lost', 'caption two late', 'call.resumed'];
    const ofOver = ['call.started', 'call.ended server_lost', 'caption bye late', 'call.ended hangup late'];
    const toldOf = (callId: string) =>
      atY.entries.filter(({ event }) => event.callId === callId).map(({ event }) => wordsOf(event));
    await expect.poll(() => toldOf('CAx'), POLL).toEqual([...ofCall, 'caption three']);
    expect(toldOf('CAover')).toEqual(ofOver);
    expect(await storedOf(y, 'CAx')).toEqual([...ofCall, 'caption three']);
    expect(await storedOf(y, 'CAover')).toEqual(ofOver);
    // Its own readers had them in time, and once.
    expect(atX.texts()).toEqual(['one', 'two', 'bye', 'three']);
    const rows = await Promise.all(['CAx', 'CAover'].map((id) => y.records.calls.get(id)));
    expect(rows.map((row) => [row?.state, row?.endReason, row?.counts.finals])).toEqual([
      ['live', null, 3],
      ['ended', 'hangup', 1],
    ]);
    const texts = y.records.database.db.selectFrom('texts').select('text').orderBy('text');
    expect((await texts.execute()).map(({ text }) => text)).toEqual(['bye', 'one', 'three', 'two']);
  });

  it('has nothing stored of a call that somebody deleted meanwhile', async () => {
    const { x, y } = await openPair();
    const resumed = new ResumedCalls({ feed: x.feed, lastedMs: () => 5000 });
    x.publish(started('CAx'), said('CAx', 1, 'one'));
    await x.records.recorder.settled();
    proxy.cut();
    x.publish(said('CAx', 2, 'two'));
    await endCallsOf(x, y);
    await y.records.database.db.deleteFrom('calls').where('id', '=', 'CAx').execute();
    proxy.mend();
    await comeBack(x, resumed);
    await x.records.recorder.settled();
    expect(await y.records.calls.get('CAx')).toBeUndefined();
  });

  it('and does not come back leaves nothing out that readers had: it is stored before the end is told', async () => {
    const { x, y } = await openPair();
    let mayWrite = true;
    x.records.share(
      () => mayWrite,
      x.feed,
      () => [],
    );
    const atY = y.read();
    x.publish(started('CAx'), said('CAx', 1, 'one'));
    await x.records.recorder.settled();
    mayWrite = false;
    x.publish(said('CAx', 2, 'two'), said('CAx', 3, 'part', { final: false }), said('CAx', 4, 'four'));
    x.publish(started('CAnew', { from: '+15550100' }), said('CAnew', 1, 'hello'));
    x.publish(started('CAover'));
    x.publish({ type: 'call.ended', callId: 'CAover', reason: 'hangup', durationMs: 900, handoffData: null });
    await expect.poll(() => atY.entries.length, POLL).toBe(9);
    await opened.shift()?.kill();
    await endCallsOf(x, y);
    const known = ['call.started', 'caption one', 'caption two', 'caption four', 'call.ended server_lost'];
    expect(await storedOf(y, 'CAx')).toEqual(known);
    expect(await storedOf(y, 'CAnew')).toEqual(['call.started', 'caption hello', 'call.ended server_lost']);
    expect(await storedOf(y, 'CAover')).toEqual(['call.started', 'call.ended hangup']);
    expect(await y.records.calls.get('CAx')).toMatchObject({ state: 'ended', counts: { finals: 3 } });
    expect(await y.records.calls.get('CAnew')).toMatchObject({
      state: 'ended',
      from: '+15550100',
      tracks: ['inbound'],
    });
    expect(await y.records.calls.get('CAover')).toMatchObject({ endReason: 'hangup' });
    const texts = y.records.database.db.selectFrom('texts').select('text').orderBy('text');
    expect((await texts.execute()).map(({ text }) => text)).toEqual(['four', 'hello', 'one', 'two']);
  });
});
