/**
 * What peers get who have not shown that they are where their messages say: over UDP, anybody can write any address
 * there.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { metricValue } from '../../calls/harness.ts';
import { settle } from '../../fakes/clock.ts';
import { headerIn, OFFER, PEER, request, SipLine } from './line.ts';

const OTHER = { ...PEER, address: '192.0.2.8' };
const OVER_TCP = { ...PEER, protocol: 'TCP' as const };
/** What one source may send at once outside calls, and in a second. */
const BURST = 100;
const PER_SECOND = 20;

let line: SipLine;
afterEach(async () => {
  await line.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const invite = (callId: string): string => request('INVITE', { body: OFFER, callId });

/** `To` of our answer, with our tag. */
async function answered(callId: string, source: Parameters<SipLine['receive']>[1] = PEER): Promise<string> {
  await line.receive(invite(callId), source);
  const ok = line.take().at(-1) ?? '';
  expect(ok).toMatch(/^SIP\/2\.0 200/);
  return headerIn(ok, 'To');
}

describe('an answer that is not acknowledged', () => {
  it('is no call yet, and nothing is sent to where its description says', async () => {
    line = new SipLine();
    const to = await answered('call-1');
    expect(line.media[0]?.remotes).toEqual([]);
    expect(line.gateway.registry.list()).toEqual([]);
    expect(line.gateway.registry.liveCount).toBe(0);
    await line.receive(request('ACK', { to, callId: 'call-1' }));
    expect(line.media[0]?.remotes).toMatchObject([{ address: '192.0.2.7', port: 4000 }]);
    expect(line.gateway.registry.list()).toMatchObject([{ id: 'call-1', state: 'live' }]);
  });

  it('is not acknowledged by a tag that is not ours', async () => {
    line = new SipLine();
    const to = await answered('call-1');
    const other = to.endsWith('_') ? '-' : '_';
    await line.receive(request('ACK', { to: `${to.slice(0, -1)}${other}`, callId: 'call-1' }));
    expect(line.media[0]?.remotes).toEqual([]);
  });

  it('has a tag that nobody can work out from earlier ones', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    line = new SipLine();
    const tags = [await answered('call-1'), await answered('call-2')].map((to) => to.split('tag=')[1]);
    expect(new Set(tags).size).toBe(2);
  });

  it('is given up after 32 s, its ports are given back and the log has a hint', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    line = new SipLine({ SIP_DIALOGS_MAX: '1' });
    await answered('call-1');
    vi.advanceTimersByTime(32_000);
    await settle();
    expect(line.lines().filter((first) => first.startsWith('BYE'))).toHaveLength(1);
    expect(line.media[0]?.closed).toBe(true);
    expect(line.gateway.logLines.join()).toContain('SIP_PUBLIC_ADDRESS');
    await answered('call-2');
  });

  it('is one of few: more are asked for in vain, by that source alone, until some are acknowledged', async () => {
    line = new SipLine();
    const tos = [
      await answered('call-1'),
      await answered('call-2'),
      await answered('call-3'),
      await answered('call-4'),
    ];
    const before = await metricValue('trunkline_sip_dropped_total', { reason: 'unacknowledged' });
    await line.receive(invite('call-5'));
    expect(line.take()).toEqual([]);
    expect(await metricValue('trunkline_sip_dropped_total', { reason: 'unacknowledged' })).toBe(before + 1);
    await answered('call-6', OTHER);
    await line.receive(request('ACK', { to: tos[0] ?? '', callId: 'call-1' }));
    await answered('call-5');
  });

  it('is one of few over TCP, too, where the next one is told to come again', async () => {
    line = new SipLine();
    for (const callId of ['call-1', 'call-2', 'call-3', 'call-4']) await answered(callId, OVER_TCP);
    await line.receive(invite('call-5'), OVER_TCP);
    expect(line.lines()).toEqual(['SIP/2.0 503 Service Unavailable']);
  });

  it('takes the room of a call from its own source, not from another', async () => {
    line = new SipLine({ MAX_CALLS: '1' });
    await answered('call-1');
    await line.receive(invite('call-2'));
    expect(line.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 503/)]);
    await answered('call-3', OTHER);
  });
});

describe('a refusal for want of room', () => {
  it('is said once, and again when it is asked for again', async () => {
    line = new SipLine({ SIP_DIALOGS_MAX: '1' });
    await answered('call-1');
    const again = invite('call-2');
    await line.receive(again);
    await line.gateway.clock.run(32_000, 500);
    expect(line.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 503/)]);
    await line.receive(again);
    expect(line.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 503/)]);
  });
});

describe('an answer outside a call', () => {
  it.each(['OPTIONS', 'REGISTER', 'MESSAGE', 'BYE', 'CANCEL', 'INFO', 'UPDATE'])(
    'to %s is no larger than the request',
    async (method) => {
      line = new SipLine();
      const text = request(method);
      await line.receive(text);
      const [reply = ''] = line.take();
      expect(reply).toMatch(/^SIP\/2\.0 \d{3} /);
      expect(reply.length).toBeLessThanOrEqual(text.length);
      for (const name of ['Call-ID|i', 'Via|v', 'From|f', 'To|t', 'CSeq'])
        expect(reply).toMatch(new RegExp(`^(?:${name}):`, 'im'));
    },
  );

  it.each([
    ['no codec', { body: OFFER.replace('8 0 101', '18') }],
    ['an extension', { body: OFFER, headers: ['Require: precondition'] }],
  ])('to an INVITE that is refused for %s is no larger than it', async (_, options) => {
    line = new SipLine();
    const text = request('INVITE', options);
    await line.receive(text);
    const replies = line.take();
    expect(replies.at(-1)).toMatch(/^SIP\/2\.0 4/);
    for (const reply of replies) expect(reply.length).toBeLessThanOrEqual(text.length);
  });

  it('is whole where there is room for it, and over TCP', async () => {
    line = new SipLine();
    const long = request('OPTIONS', { headers: [`Subject: ${'x'.repeat(300)}`] });
    await line.receive(long);
    await line.receive(request('OPTIONS'), OVER_TCP);
    expect(line.take().map((reply) => headerIn(reply, 'Allow'))).toEqual(
      Array(2).fill('INVITE, ACK, BYE, CANCEL, OPTIONS, INFO, UPDATE, NOTIFY'),
    );
  });

  it('is none where the request is shorter than any', async () => {
    line = new SipLine();
    const short =
      'OPTIONS sip:a SIP/2.0\r\nv:SIP/2.0/UDP ' +
      'a;rport;branch=z9hG4bK1\r\nf:<sip:a@b>;tag=1\r\nt:<sip:a@b>\r\ni:1\r\nCSeq:1 OPTIONS\r\n\r\n';
    await line.receive(short);
    expect(line.take()).toEqual([]);
    expect(line.dropped).toEqual(['short']);
  });
});

describe('a flood', () => {
  it('of one source is dropped beyond its limit; calls and other sources go on', async () => {
    line = new SipLine();
    const to = await answered('call-1');
    await line.receive(request('ACK', { to, callId: 'call-1' }));
    const flood = ['OPTIONS', 'REGISTER', 'INVITE', 'BYE', 'SUBSCRIBE'];
    for (let i = 0; i < 300; i++)
      line.stack.receive(Buffer.from(request(flood[i % 5] ?? '', { callId: `flood-${i}` })), PEER);
    await settle();
    expect(line.dropped.length).toBe(300 - (BURST - 1));
    expect(new Set(line.dropped)).toEqual(new Set(['rate']));
    line.take();
    await line.receive(request('INFO', { to, callId: 'call-1', cseq: 2 }));
    await line.receive(request('OPTIONS'), OTHER);
    expect(line.lines().map((first) => first.slice(0, 11))).toEqual(['SIP/2.0 200', 'SIP/2.0 200']);
    line.gateway.clock.advance(1000);
    for (let i = 0; i < 100; i++) line.stack.receive(Buffer.from(request('OPTIONS')), PEER);
    await settle();
    expect(line.take()).toHaveLength(PER_SECOND);
  });

  it('of messages that take long to read is dropped sooner, and one that takes too long is refused', async () => {
    line = new SipLine();
    const proxies = (chars: number): string => `Record-Route: <sip:p.example.com${';x'.repeat(chars / 2)}>`;
    await line.receive(request('OPTIONS', { headers: [proxies(8192)] }));
    const [refusal = ''] = line.lines();
    expect([refusal.slice(0, 11), line.refused]).toEqual(['SIP/2.0 513', [513]]);
    line.gateway.clock.advance(5000);
    for (let i = 0; i < 30; i++)
      line.stack.receive(Buffer.from(request('OPTIONS', { headers: [proxies(3072)] })), PEER);
    await settle();
    // Each of them counts as 13.
    expect(line.take()).toHaveLength(7);
  });

  it('within a call is dropped beyond a limit of its own; other calls go on', async () => {
    line = new SipLine();
    const [to, other] = [await answered('call-1'), await answered('call-2')];
    await line.receive(request('ACK', { to, callId: 'call-1' }));
    await line.receive(request('ACK', { to: other, callId: 'call-2' }));
    for (let cseq = 2; cseq < 302; cseq++)
      line.stack.receive(Buffer.from(request('INFO', { to, callId: 'call-1', cseq })), PEER);
    await settle();
    expect(line.take()).toHaveLength(BURST - 1);
    expect(line.dropped).toEqual(Array(300 - (BURST - 1)).fill('rate'));
    await line.receive(request('INFO', { to: other, callId: 'call-2', cseq: 2 }));
    expect(line.take()).toEqual([expect.stringMatching(/^SIP\/2\.0 200/)]);
  });

  it('of answers that nobody asked for is dropped, too', async () => {
    line = new SipLine();
    const forged = request('OPTIONS').replace(/^OPTIONS \S+ SIP\/2\.0/, 'SIP/2.0 200 OK');
    for (let i = 0; i < BURST + 10; i++) line.stack.receive(Buffer.from(forged), PEER);
    expect(line.dropped).toEqual([...Array(BURST).fill('stray'), ...Array(10).fill('rate')]);
  });
});
