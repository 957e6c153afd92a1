import { afterEach, expect, it } from 'vitest';
import { headerIn, OFFER, request, SipLine } from './line.ts';

let line: SipLine;
afterEach(() => line.close());

/** `To` of our answer to a call, with our tag. */
async function begin(): Promise<string> {
  await line.receive(request('INVITE', { body: OFFER, branch: 'z9hG4bKinvite' }));
  const to = headerIn(line.take().at(-1) ?? '', 'To');
  await line.receive(request('ACK', { to, uri: 'sip:trunkline@198.51.100.1:5060' }));
  return to;
}

it.each(['INVITE', 'UPDATE'] as const)('a call is held in every way that phones hold a call, by %s', async (method) => {
  line = new SipLine();
  const to = await begin();
  const states = () => line.gateway.events.flatMap((event) => (event.type === 'call.state' ? [event.state] : []));
  const nowhere = OFFER.replace(/^c=IN IP4 .*\r$/m, 'c=IN IP4 0.0.0.0\r');
  const ways = [`${OFFER}a=sendonly\r\n`, `${OFFER}a=inactive\r\n`, nowhere, `${nowhere}a=sendonly\r\n`];
  let cseq = 1;
  const offer = async (sdp: string): Promise<void> => {
    cseq++;
    const body = sdp.replace(' 7 1 ', ` 7 ${cseq} `);
    await line.receive(request(method, { to, cseq, body, branch: `z9hG4bKw${cseq}` }));
    expect(line.lines()).toContain('SIP/2.0 200 OK');
    if (method === 'INVITE') await line.receive(request('ACK', { to, cseq }));
  };
  for (const way of ways) {
    const before = states().length;
    await offer(way);
    // Repeated, as a refresh of the session does, it is no news.
    await offer(way);
    expect([states().slice(before), line.gateway.registry.list()[0]?.phase]).toEqual([['held'], 'held']);
    await offer(OFFER);
    expect([states().slice(before), line.gateway.registry.list()[0]?.phase]).toEqual([['held', 'live'], 'live']);
  }
  // Who only listens holds nothing.
  const before = states().length;
  await offer(`${OFFER}a=recvonly\r\n`);
  expect(states()).toHaveLength(before);
});
