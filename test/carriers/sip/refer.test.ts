/** REFERs of peers, message by message: we call somebody else, and the call goes on with that one. */
import { afterEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, bodyIn, headerIn, OFFER, PEER, request, SipLine, TRUNK_ADDRESS } from './line.ts';
import { ID } from './timed-call.ts';

const CONTACT = 'Contact: <sip:target@192.0.2.20:5060>';
type Source = NonNullable<Parameters<SipLine['receive']>[1]>;
const TRUNK: Source = { address: TRUNK_ADDRESS, port: 5060, protocol: 'UDP' };
const SWITCHED = { SIP_TRANSFERS: 'peers' };

let line: SipLine;
/** `To` of the peer's requests in the call, with our tag. */
let to: string;
let events: FeedEvent[];
let sequence: number;
afterEach(() => line.close());

/** A call of the peer that is live. */
async function begin(environment: Record<string, string> = SWITCHED, source: Source = PEER): Promise<void> {
  line = new SipLine(environment);
  events = [];
  sequence = 1;
  line.gateway.context.feed.subscribeOwn({}, ({ event }) => void events.push(event));
  await line.receive(request('INVITE', { body: OFFER }), source);
  to = headerIn(line.take().at(-1) ?? '', 'To');
  await line.receive(request('ACK', { to }), source);
  line.take();
}

interface Referred {
  readonly reply: string;
  /** Bodies of the NOTIFYs, those that go on and the last one. */
  readonly notified: string[];
  readonly invite: string;
}

/** What was sent because of a REFER; NOTIFYs are answered. */
async function refer(target: string, headers: readonly string[] = [], source: Source = PEER): Promise<Referred> {
  const text = request('REFER', { to, cseq: ++sequence, headers: [`Refer-To: ${target}`, ...headers] });
  await line.receive(text, source);
  const sent = line.take();
  await settleNews(sent);
  return {
    reply: sent.find((text) => text.startsWith('SIP/2.0')) ?? '',
    notified: news(sent),
    invite: sent.find((text) => text.startsWith('INVITE')) ?? '',
  };
}

function news(sent: readonly string[]): string[] {
  return sent
    .filter((text) => text.startsWith('NOTIFY'))
    .map((text) => `${bodyIn(text).trim()}|${headerIn(text, 'Subscription-State')}`);
}

async function settleNews(sent: readonly string[]): Promise<void> {
  for (const text of sent.filter((each) => each.startsWith('NOTIFY'))) await line.receive(answer(text, '200 OK'));
}

/** What was sent after a message: methods or statuses, and the news. */
async function exchange(text: string): Promise<{ readonly methods: string[]; readonly notified: string[] }> {
  await line.receive(text);
  const sent = line.take();
  await settleNews(sent);
  const all = [...sent, ...line.take()];
  return { methods: all.map((each) => each.split(' ')[0] ?? ''), notified: news(all) };
}

const types = (): string[] => events.map(({ type }) => type);
const view = () => line.gateway.registry.get(ID);

describe('a REFER', () => {
  it('is accepted, told of, and makes us call its target in the name of whoever asked', async () => {
    await begin();
    const { reply, notified, invite } = await refer('<sip:6002@192.0.2.20>', [
      'Referred-By: <sip:+14155550199@192.0.2.7>',
    ]);
    expect(reply).toMatch(/^SIP\/2\.0 202 /);
    expect(notified).toEqual(['SIP/2.0 100 Trying|active;expires=90']);
    expect(invite).toMatch(/^INVITE sip:6002@192\.0\.2\.20 SIP\/2\.0/);
    expect(headerIn(invite, 'Referred-By')).toBe('<sip:+14155550199@192.0.2.7>');
    expect(headerIn(invite, 'Replaces')).toBe('');
    expect(headerIn(invite, 'Call-ID')).not.toBe(ID);
    expect(view()?.state).toBe('live');
  });

  it('gives the call on when the target answers: it stays the same call, and the first leg gets a BYE', async () => {
    await begin();
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    expect((await exchange(answer(invite, '180 Ringing', [CONTACT]))).notified).toEqual([
      'SIP/2.0 180 Ringing|active;expires=90',
    ]);
    const { methods, notified } = await exchange(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(notified).toEqual(['SIP/2.0 200 OK|terminated;reason=noresource']);
    expect(methods).toEqual(['ACK', 'NOTIFY', 'BYE']);
    expect(line.gateway.registry.liveCount).toBe(1);
    expect(types()).toEqual(['call.started', 'call.transferred']);
    const from = events.flatMap((event) => (event.type === 'call.started' ? [event.from] : []))[0];
    expect(events.at(-1)).toMatchObject({ callId: ID, by: 'refer', from, to: '6002', kind: 'blind' });
    expect(line.media.map(({ closed }) => closed)).toEqual([true, false]);
  });

  it('may name a dialog that the call is to replace', async () => {
    await begin();
    const embedded = 'Replaces=abc%40192.0.2.20%3Bto-tag%3D1%3Bfrom-tag%3D2&Require=replaces&Subject=x';
    const { invite } = await refer(`"B" <sip:b@192.0.2.20;user=phone?${embedded}>`);
    expect(headerIn(invite, 'Replaces')).toBe('abc@192.0.2.20;to-tag=1;from-tag=2');
    expect(headerIn(invite, 'Require')).toBe('replaces');
    expect(headerIn(invite, 'Subject')).toBe('');
    expect(invite).toMatch(/^INVITE sip:b@192\.0\.2\.20;user=phone SIP/);
  });

  it.each([
    ['486 Busy Here', 'SIP/2.0 486 Busy Here'],
    ['603 Decline', 'SIP/2.0 603 Decline'],
  ])('leaves the call with whoever asked when the target says %s', async (status, told) => {
    await begin();
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    const { notified, methods } = await exchange(answer(invite, status));
    expect(notified).toEqual([`${told}|terminated;reason=noresource`]);
    expect(methods).not.toContain('BYE');
    expect(view()?.state).toBe('live');
    expect(types()).toEqual(['call.started']);
    expect((await refer('<sip:6003@192.0.2.20>')).reply).toMatch(/^SIP\/2\.0 202 /);
  });

  it('is given up after a minute of ringing', async () => {
    await begin();
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    await exchange(answer(invite, '180 Ringing', [CONTACT]));
    await line.gateway.clock.run(60_000, 1000);
    const sent = line.take();
    expect(news(sent)[0]).toBe('SIP/2.0 408 Request Timeout|terminated;reason=noresource');
    expect(sent.some((text) => text.startsWith('CANCEL'))).toBe(true);
    expect(view()?.state).toBe('live');
  });

  it('tells nothing where nobody wants to hear of it', async () => {
    await begin();
    const { reply, notified, invite } = await refer('<sip:6002@192.0.2.20>', [
      'Refer-Sub: false',
      'Require: norefersub',
    ]);
    expect(headerIn(reply, 'Refer-Sub')).toBe('false');
    expect(notified).toEqual([]);
    expect((await exchange(answer(invite, '200 OK', [CONTACT], OFFER))).methods).toEqual(['ACK', 'BYE']);
  });

  it('is obeyed to the end when whoever asked hangs up meanwhile; the call is held until then', async () => {
    await begin();
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    await exchange(request('BYE', { to, cseq: ++sequence }));
    expect(view()?.phase).toBe('held');
    const { methods } = await exchange(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(methods).toEqual(['ACK']);
    expect(view()?.phase).toBe('live');
    expect(types()).toEqual(['call.started', 'call.state', 'call.transferred', 'call.state']);
  });

  it('ends the call when whoever asked has hung up and the target does not answer', async () => {
    await begin();
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    await exchange(request('BYE', { to, cseq: ++sequence }));
    await exchange(answer(invite, '486 Busy Here'));
    await settle();
    expect(view()?.endReason).toBe('hangup');
  });

  it('is given up when the call ends here; both legs are told', async () => {
    await begin();
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    await exchange(answer(invite, '180 Ringing', [CONTACT]));
    line.gateway.registry.hangup(ID);
    await settle();
    const sent = line.take();
    await settleNews(sent);
    expect([...sent, ...line.take()].map((text) => text.split(' ')[0]).sort()).toEqual(['BYE', 'CANCEL', 'NOTIFY']);
    await exchange(answer(invite, '487 Request Terminated'));
    expect(line.media.every(({ closed }) => closed)).toBe(true);
  });

  it('of the next leg is obeyed, too', async () => {
    await begin();
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    await exchange(answer(invite, '200 OK', [CONTACT], OFFER));
    const own = headerIn(invite, 'From');
    await line.receive(
      [
        'REFER sip:trunkline@198.51.100.1:5060 SIP/2.0',
        'Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKsecond',
        `From: <sip:6002@192.0.2.20>;tag=far`,
        `To: ${own}`,
        `Call-ID: ${headerIn(invite, 'Call-ID')}`,
        'CSeq: 1 REFER',
        'Refer-To: sip:6004@192.0.2.21',
        'Content-Length: 0',
        '\r\n',
      ].join('\r\n'),
      { address: '192.0.2.20', port: 5060, protocol: 'UDP' },
    );
    const sent = line.take();
    await settleNews(sent);
    const next = sent.find((text) => text.startsWith('INVITE')) ?? '';
    expect(next).toMatch(/^INVITE sip:6004@192\.0\.2\.21 /);
    await exchange(answer(next, '200 OK', [CONTACT], OFFER));
    expect(line.gateway.registry.liveCount).toBe(1);
    expect(events.filter(({ type }) => type === 'call.transferred')).toHaveLength(2);
  });

  it('gets 491 while another one is under way', async () => {
    await begin();
    await refer('<sip:6002@192.0.2.20>');
    expect((await refer('<sip:6003@192.0.2.20>')).reply).toMatch(/^SIP\/2\.0 491 /);
  });
});

describe('the BYE of a leg that gave its call on', () => {
  const asked = async (): Promise<string> => {
    await begin();
    await line.receive(request('REFER', { to, cseq: ++sequence, headers: ['Refer-To: <sip:6002@192.0.2.20>'] }));
    const sent = line.take();
    const invite = sent.find((text) => text.startsWith('INVITE')) ?? '';
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    return sent.find((text) => text.startsWith('NOTIFY')) ?? '';
  };
  const byes = (): string[] => line.take().filter((text) => text.startsWith('BYE'));

  it('waits for the answer to the last NOTIFY, but not for long', async () => {
    await asked();
    expect(byes()).toEqual([]);
    await line.gateway.clock.run(2000, 250);
    expect(byes().map((text) => headerIn(text, 'Call-ID'))).toEqual([ID]);
    expect(view()?.state).toBe('live');
  });

  it('is not sent where the peer sends its own meanwhile', async () => {
    await asked();
    line.take();
    await line.receive(request('BYE', { to, cseq: ++sequence }));
    await line.gateway.clock.run(5000, 500);
    expect(byes()).toEqual([]);
    expect(view()?.state).toBe('live');
  });

  it('and the call go on where the peer refuses NOTIFY', async () => {
    const first = await asked();
    const last = line.take().find((text) => text.startsWith('NOTIFY')) ?? '';
    for (const notify of [first, last]) await line.receive(answer(notify, '481 Subscription Does Not Exist'));
    await line.gateway.clock.run(2000, 500);
    expect(line.dropped).toEqual([]);
    expect(view()?.state).toBe('live');
    line.gateway.registry.hangup(ID);
    await settle();
    expect(line.gateway.registry.liveCount).toBe(0);
  });
});

describe('a REFER is refused', () => {
  it('where transfers are off: Allow does not have it', async () => {
    await begin({});
    const { reply, invite } = await refer('<sip:6002@192.0.2.20>');
    expect(reply).toMatch(/^SIP\/2\.0 405 /);
    expect(headerIn(reply, 'Allow')).toBe('INVITE, ACK, BYE, CANCEL, OPTIONS, INFO, UPDATE, NOTIFY');
    expect(invite).toBe('');
  });

  it('of a peer that is no trunk where only trunks may ask, whatever address it writes', async () => {
    await begin({ SIP_TRANSFERS: 'trunk' });
    expect((await refer('<sip:6002@192.0.2.20>')).reply).toMatch(/^SIP\/2\.0 603 /);
    expect((await refer('<sip:6002@192.0.2.20>', [], TRUNK)).reply).toMatch(/^SIP\/2\.0 603 /);
    await line.close();
    await begin({ SIP_TRANSFERS: 'trunk' }, TRUNK);
    expect((await refer('<sip:6002@192.0.2.20>', [], TRUNK)).reply).toMatch(/^SIP\/2\.0 202 /);
  });

  it.each([
    ['<sip:6002@203.0.113.5>', 403],
    ['<sip:6002@192.0.2.20;transport=tcp>', 403],
    ['<sips:6002@192.0.2.20>', 403],
    ['<sip:bridge@198.51.100.1>', 403],
    ['<mailto:a@b>', 416],
    ['<tel:abc>;x', 416],
    ['<sip:6002@192.0.2.20;method=BYE>', 501],
    ['<sip:6002@192.0.2.20?Replaces=x>', 400],
    ['<sip:6002@192.0.2.20?Replaces=a%3Bto-tag%3D1%3Bfrom-tag%3D2%0D%0AX-Evil:1>', 400],
    ['<sip:6002@192.0.2.20>, <sip:6003@192.0.2.20>', 400],
    ['<sip:>', 416],
  ])('to %s', async (target, status) => {
    await begin();
    const { reply, invite } = await refer(target);
    expect([reply.slice(8, 11), invite]).toEqual([String(status), '']);
    expect(view()?.state).toBe('live');
  });

  it('without a target, or outside of a call', async () => {
    await begin();
    await line.receive(request('REFER', { to, cseq: ++sequence }));
    expect(line.lines()[0]).toMatch(/^SIP\/2\.0 400 /);
    await line.receive(request('REFER', { callId: 'other', headers: ['Refer-To: <sip:6002@192.0.2.20>'] }));
    expect(line.lines()[0]).toMatch(/^SIP\/2\.0 403 /);
  });
});

describe('the sound of a call that goes on with another leg', () => {
  it('goes on where that of the first one ended, and the app is heard by the next one', async () => {
    await begin();
    const [first] = line.media;
    const frame = { bytes: new Uint8Array(160), atMs: 0, sequence: 1 };
    for (let index = 0; index < 100; index++)
      first?.listener?.receiveAudio({ ...frame, atMs: index * 20, sequence: index + 1 });
    expect(view()?.durationMs).toBe(2000);
    const { invite } = await refer('<sip:6002@192.0.2.20>');
    await exchange(answer(invite, '200 OK', [CONTACT], OFFER));
    const second = line.media[1];
    first?.listener?.receiveAudio({ ...frame, atMs: 2000, sequence: 101 });
    expect(view()?.durationMs).toBe(2000);
    for (let index = 0; index < 50; index++)
      second?.listener?.receiveAudio({ ...frame, atMs: index * 20, sequence: index + 1 });
    expect(view()?.durationMs).toBe(3000);
    expect(events.filter(({ type }) => type === 'gap')).toEqual([]);
  });
});
