/** Which messages are one transaction (RFC 3261 §17.2.3): branch, sent-by and method, not the branch alone. */
import { afterEach, describe, expect, it } from 'vitest';
import { headerIn, OFFER, PEER, request, SipLine } from './line.ts';

const BRANCH = 'z9hG4bKsame';
const OTHER = { ...PEER, address: '192.0.2.8' };

let line: SipLine;
afterEach(() => line.close());

/** A request of the branch that all share here, from `sentBy`. */
function from(sentBy: string, method: string, options: Parameters<typeof request>[1] = {}): string {
  return request(method, { branch: BRANCH, ...options }).replace('192.0.2.7:5062;branch', `${sentBy};branch`);
}

const invite = (sentBy: string, callId: string): string => from(sentBy, 'INVITE', { body: OFFER, callId });
const liveCalls = () => line.gateway.registry.list().map(({ id }) => id);

/** Takes a call that is not answered as long as the promise is not kept. */
async function ringing(sentBy: string, callId: string): Promise<() => void> {
  let release = (): void => undefined;
  line.held = new Promise((resolve) => {
    release = resolve;
  });
  await line.receive(invite(sentBy, callId));
  expect(line.lines()).toEqual(['SIP/2.0 100 Trying']);
  return release;
}

describe('requests with the same branch', () => {
  it('of two senders are two calls', async () => {
    line = new SipLine();
    for (const [sentBy, callId, source] of [
      ['a.example.com', 'call-a', PEER] as const,
      ['b.example.com:5070', 'call-b', OTHER] as const,
    ]) {
      await line.receive(invite(sentBy, callId), source);
      const [trying = '', ok = ''] = line.take();
      expect([trying.slice(8, 11), ok.slice(8, 11)]).toEqual(['100', '200']);
      expect(headerIn(ok, 'Via')).toContain(sentBy);
      await line.receive(request('ACK', { to: headerIn(ok, 'To'), callId }), source);
    }
    expect(liveCalls().sort()).toEqual(['call-a', 'call-b']);
  });

  it('of two ports of one host are two calls', async () => {
    line = new SipLine();
    await line.receive(invite('a.example.com:5070', 'call-a'));
    await line.receive(invite('a.example.com:5071', 'call-b'));
    expect(line.lines().filter((first) => first.startsWith('SIP/2.0 200'))).toHaveLength(2);
  });

  it.each([
    ['other case', 'A.Example.COM'],
    ['its default port', 'a.example.com:5060'],
    ['space around the colon', 'a.example.com : 5060'],
  ])('of one sender, written with %s, are one call', async (_what, sentBy) => {
    line = new SipLine();
    await ringing('a.example.com', 'call-a');
    await line.receive(invite(sentBy, 'call-a'));
    expect(line.lines()).toEqual(['SIP/2.0 100 Trying']);
    await line.receive(from(sentBy, 'CANCEL', { callId: 'call-a' }));
    expect(line.lines()).toEqual(['SIP/2.0 200 OK', 'SIP/2.0 487 Request Terminated']);
  });

  it('of two senders by IPv6 are two calls, of one it is one', async () => {
    line = new SipLine();
    await ringing('[2001:db8::1]:5060', 'call-a');
    await line.receive(invite('[2001:DB8::1]', 'call-a'));
    expect(line.lines()).toEqual(['SIP/2.0 100 Trying']);
    await line.receive(from('[2001:db8::2]', 'CANCEL', { callId: 'call-a' }));
    expect(line.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 481/)]);
  });

  it('and the same names in all else, over two ways, are refused as one that came twice', async () => {
    line = new SipLine();
    await ringing('a.example.com', 'call-a');
    await line.receive(invite('b.example.com', 'call-a'));
    expect(line.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 482/)]);
  });

  it('but another method are not taken for each other', async () => {
    line = new SipLine();
    await line.receive(invite('a.example.com', 'call-a'));
    const to = headerIn(line.take().at(-1) ?? '', 'To');
    await line.receive(request('ACK', { to, callId: 'call-a' }));
    await line.receive(from('a.example.com', 'BYE', { to, callId: 'call-a', cseq: 2 }));
    expect(line.lines()).toEqual(['SIP/2.0 200 OK']);
    expect(line.gateway.registry.liveCount).toBe(0);
  });
});

describe('a CANCEL', () => {
  it('of another sender ends no call', async () => {
    line = new SipLine();
    const release = await ringing('a.example.com', 'call-a');
    await line.receive(from('b.example.com', 'CANCEL', { callId: 'call-a' }), OTHER);
    expect(line.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 481/)]);
    release();
    await line.receive('\r\n');
    expect(line.lines()).toEqual(['SIP/2.0 200 OK']);
  });

  it('of the same sender ends its call', async () => {
    line = new SipLine();
    await ringing('a.example.com', 'call-a');
    await line.receive(from('a.example.com', 'CANCEL', { callId: 'call-a' }));
    expect(line.lines()).toEqual(['SIP/2.0 200 OK', 'SIP/2.0 487 Request Terminated']);
  });
});

describe('an ACK', () => {
  const refused = (sentBy: string): string => from(sentBy, 'INVITE', { body: OFFER.replace('8 0 101', '18') });

  it('of another sender leaves a refusal to be repeated, that of its own ends it', async () => {
    line = new SipLine();
    await line.receive(refused('a.example.com'));
    expect(line.lines().at(-1)).toMatch(/^SIP\/2\.0 488/);
    await line.receive(from('b.example.com', 'ACK'));
    line.gateway.clock.advance(600);
    expect(line.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 488/)]);
    await line.receive(from('A.example.com:5060', 'ACK'));
    line.gateway.clock.advance(60_000);
    expect(line.lines()).toEqual([]);
  });

  it('of our 200 begins the call even where it has the branch of the INVITE', async () => {
    line = new SipLine();
    await line.receive(invite('a.example.com', 'call-a'));
    const to = headerIn(line.take().at(-1) ?? '', 'To');
    await line.receive(from('a.example.com', 'ACK', { to, callId: 'call-a' }));
    expect(liveCalls()).toEqual(['call-a']);
  });
});

describe.each([
  ['no branch', ''],
  ['a branch of old', ';branch=1'],
  ['the magic cookie alone', ';branch=z9hG4bK'],
])('with %s', (_what, branch) => {
  const old = (callId: string, sentBy = 'a.example.com'): string =>
    invite(sentBy, callId).replace(`;branch=${BRANCH}`, branch);

  it('two calls of one sender are two', async () => {
    line = new SipLine();
    for (const callId of ['call-a', 'call-b']) await line.receive(old(callId));
    expect(line.lines().filter((first) => first.startsWith('SIP/2.0 200'))).toHaveLength(2);
  });

  it('two senders are two, and what is repeated is one', async () => {
    line = new SipLine();
    await line.receive(old('call-a'));
    expect(line.lines()).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 200 OK']);
    await line.receive(old('call-a'));
    expect(line.lines()).toEqual([]);
    await line.receive(old('call-b', 'b.example.com'), OTHER);
    expect(line.lines()).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 200 OK']);
  });

  it('a refusal is repeated until its ACK', async () => {
    line = new SipLine();
    const refused = from('a.example.com', 'INVITE', { body: OFFER.replace('8 0 101', '18') }).replace(
      `;branch=${BRANCH}`,
      branch,
    );
    await line.receive(refused);
    line.gateway.clock.advance(600);
    expect(line.lines().slice(1)).toEqual(Array(2).fill(expect.stringMatching(/^SIP\/2\.0 488/)));
    await line.receive(from('a.example.com', 'ACK').replace(`;branch=${BRANCH}`, branch));
    line.gateway.clock.advance(60_000);
    expect(line.lines()).toEqual([]);
  });
});

describe('a request with many Vias', () => {
  const through = (proxies: number): string => {
    const vias = Array.from({ length: proxies }, (_, index) => `SIP/2.0/TCP p${index};branch=z9hG4bK${index}`);
    return request('OPTIONS').replace(/^(Via: .*)$/m, `$1, ${vias.join(',')}`);
  };

  it('is answered along all of them', async () => {
    line = new SipLine();
    await line.receive(through(100), { ...PEER, protocol: 'TCP' });
    const [answer = ''] = line.take();
    expect(answer).toMatch(/^SIP\/2\.0 200/);
    expect(answer.match(/^Via: /gm)).toHaveLength(101);
  });

  it('is refused where there are more than a request can have passed', async () => {
    line = new SipLine();
    await line.receive(through(900), { ...PEER, protocol: 'TCP' });
    expect(line.lines()).toEqual(['SIP/2.0 513 Message Too Large: got 901 values of Via, expected at most 128']);
  });
});
