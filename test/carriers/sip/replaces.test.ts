/** INVITEs of peers with Replaces (RFC 3891), message by message: they take a call over. */
import { afterEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { settle } from '../../fakes/clock.ts';
import { bodyIn, headerIn, OFFER, request, SipLine, TRUNK_ADDRESS } from './line.ts';
import { dialled, ID } from './timed-call.ts';

const ELSEWHERE = { address: '192.0.2.20', port: 5060, protocol: 'UDP' } as const;
const TRUNK = { address: TRUNK_ADDRESS, port: 5060, protocol: 'UDP' } as const;
const G722_OFFER = OFFER.replace('RTP/AVP 8 0 101', 'RTP/AVP 9 101');

let line: SipLine;
/** `To` of the first peer's requests, with our tag. */
let to: string;
let events: FeedEvent[];
afterEach(() => line.close());

/** A call of the peer that is live. */
async function begin(environment: Record<string, string> = {}): Promise<void> {
  line = new SipLine(environment);
  events = [];
  line.gateway.context.feed.subscribeOwn({}, ({ event }) => void events.push(event));
  await line.receive(request('INVITE', { body: OFFER }));
  to = headerIn(line.take().at(-1) ?? '', 'To');
  await line.receive(request('ACK', { to }));
  line.take();
}

const ourTag = (): string => /;tag=(\S+)/.exec(to)?.[1] ?? '';
const replaces = (extra = ''): string => `Replaces: ${ID};to-tag=${ourTag()};from-tag=peer${extra}`;
const SECOND = 'second@192.0.2.7';

interface Asked {
  readonly header?: string;
  readonly source?: Parameters<SipLine['receive']>[1];
  readonly body?: string;
  readonly headers?: readonly string[];
}

/** The final answer to an INVITE with Replaces. */
async function replace({ header = replaces(), source, body = OFFER, headers = [] }: Asked = {}): Promise<string> {
  await line.receive(request('INVITE', { callId: SECOND, body, headers: [header, ...headers] }), source);
  return line.take().at(-1) ?? '';
}

async function acknowledge(ok: string, source?: Parameters<SipLine['receive']>[1]): Promise<string[]> {
  await line.receive(request('ACK', { callId: SECOND, to: headerIn(ok, 'To') }), source);
  await settle();
  return line.take().map((text) => `${text.split(' ')[0]} ${headerIn(text, 'Call-ID')}`);
}

const view = () => line.gateway.registry.get(ID);

describe('an INVITE with Replaces', () => {
  it('takes the call over when it is acknowledged; the leg before gets a BYE', async () => {
    await begin();
    const ok = await replace({ headers: ['Require: replaces'] });
    expect(ok).toMatch(/^SIP\/2\.0 200 /);
    expect(headerIn(ok, 'Supported')).toContain('replaces');
    expect(line.gateway.registry.liveCount).toBe(1);
    expect(await acknowledge(ok)).toEqual([`BYE ${ID}`]);
    expect(line.gateway.registry.liveCount).toBe(1);
    expect(events.map(({ type }) => type)).toEqual(['call.started', 'call.transferred']);
    const from = events.flatMap((event) => (event.type === 'call.started' ? [event.from] : []))[0];
    expect(events.at(-1)).toMatchObject({ callId: ID, by: 'replaces', from, to: '+14155550199', kind: 'attended' });
    const told = line.gateway.logLines.filter((text) => text.includes('call transferred'));
    expect(told).toEqual([expect.stringContaining('"by":"replaces"')]);
    expect(told[0]).not.toContain('4155550199');
    expect(line.media.map(({ closed }) => closed)).toEqual([true, false]);
  });

  it('ends the call when the one who took it over hangs up', async () => {
    await begin();
    const ok = await replace();
    await acknowledge(ok);
    await line.receive(request('BYE', { callId: SECOND, cseq: 2, to: headerIn(ok, 'To') }));
    await settle();
    expect(view()?.endReason).toBe('hangup');
    expect(line.media.every(({ closed }) => closed)).toBe(true);
  });

  it('may have another codec: the call keeps its own', async () => {
    await begin();
    const ok = await replace({ body: G722_OFFER });
    expect(bodyIn(ok)).toContain('RTP/AVP 9 ');
    await acknowledge(ok);
    const bytes = new Uint8Array(160);
    line.media[1]?.listener?.receiveAudio({ bytes, atMs: 0, sequence: 1 });
    expect(view()?.durationMs).toBe(20);
    expect(line.media[1]?.codec?.name).toBe('alaw');
  });

  it('takes over a call of ours, too', async () => {
    line = new SipLine();
    events = [];
    const invite = await dialled(line, []);
    const tag = /;tag=(\S+)/.exec(headerIn(invite, 'From'))?.[1];
    const ok = await replace({ header: `Replaces: ${ID};from-tag=far;to-tag=${tag}` });
    expect(await acknowledge(ok)).toEqual([`BYE ${ID}`]);
    expect(view()?.state).toBe('live');
  });

  it('takes the call back from its hold', async () => {
    await begin();
    const held = OFFER.replace('m=audio', 'a=sendonly\r\nm=audio');
    await line.receive(request('INVITE', { to, cseq: 2, body: held }));
    await line.receive(request('ACK', { to, cseq: 2 }));
    line.take();
    expect(view()?.phase).toBe('held');
    await acknowledge(await replace());
    expect(view()?.phase).toBe('live');
  });

  it('needs no room where there is none for another call', async () => {
    await begin({ MAX_CALLS: '1' });
    expect(await replace()).toMatch(/^SIP\/2\.0 200 /);
  });

  it('changes nothing before its ACK', async () => {
    await begin();
    const ok = await replace();
    await line.receive(request('BYE', { callId: SECOND, cseq: 2, to: headerIn(ok, 'To') }));
    await settle();
    expect(view()?.state).toBe('live');
    expect(line.media.map(({ closed }) => closed)).toEqual([false, true]);
  });

  it('is hung up again when the call has ended before its ACK', async () => {
    await begin();
    const ok = await replace();
    await line.receive(request('BYE', { to, cseq: 2 }));
    line.take();
    expect(await acknowledge(ok)).toEqual([`BYE ${SECOND}`]);
    expect(line.gateway.registry.liveCount).toBe(0);
    expect(line.media.every(({ closed }) => closed)).toBe(true);
  });
});

describe('an INVITE with Replaces is refused', () => {
  it.each([
    ['of no call', () => `Replaces: x@y;to-tag=1;from-tag=2`, '481'],
    ['with exchanged tags', () => `Replaces: ${ID};to-tag=peer;from-tag=${ourTag()}`, '481'],
    ['that cannot be read', () => 'Replaces: x@y;to-tag=1', '400'],
    ['for early dialogs only, of an answered call', () => replaces(';early-only'), '486'],
  ])('%s', async (_, header, status) => {
    await begin();
    expect((await replace({ header: header() })).slice(8, 11)).toBe(status);
    expect(line.media).toHaveLength(1);
  });

  it('twice in one INVITE', async () => {
    await begin();
    expect(await replace({ headers: [replaces()] })).toMatch(/^SIP\/2\.0 400 /);
  });

  it('from elsewhere, unless it is a trunk, or every peer may have calls transferred', async () => {
    await begin();
    expect(await replace({ source: ELSEWHERE })).toMatch(/^SIP\/2\.0 403 /);
    expect(await replace({ source: TRUNK })).toMatch(/^SIP\/2\.0 200 /);
    await line.close();
    await begin({ SIP_TRANSFERS: 'peers' });
    expect(await replace({ source: ELSEWHERE })).toMatch(/^SIP\/2\.0 200 /);
  });

  it('of a call that is over', async () => {
    await begin();
    await line.receive(request('BYE', { to, cseq: 2 }));
    line.take();
    expect(await replace()).toMatch(/^SIP\/2\.0 481 /);
  });
});
