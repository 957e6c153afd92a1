/** Where our requests within a call go after the peer has moved (RFC 3261 §12.2, RFC 3311 §5.2). */
import { afterEach, describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { headerIn, OFFER, request, SipLine } from './line.ts';

const ID = 'call-1@192.0.2.7';
const PROXY = 'Record-Route: <sip:8.8.8.8;lr>';

let line: SipLine;
afterEach(() => line.close());

/** `To` of our answer to a call with these headers. */
async function begin(headers: readonly string[] = []): Promise<string> {
  line = new SipLine();
  await line.receive(request('INVITE', { body: OFFER, headers }));
  const to = headerIn(line.take().at(-1) ?? '', 'To');
  await line.receive(request('ACK', { to }));
  return to;
}

/** The peer says within its call that it is at `place`; null = nothing. */
async function move(method: string, to: string, cseq: number, place: string | null, body = OFFER): Promise<void> {
  const text = request(method, { to, cseq, body });
  const contact = place === null ? '' : `Contact: <sip:caller@${place}>\r\n`;
  await line.receive(text.replace(/^Contact: .*\r\n/m, contact));
  if (method === 'INVITE') await line.receive(request('ACK', { to, cseq }));
  line.take();
}

/** What our BYE asks for, and where it goes. */
async function goodbye(): Promise<[string, string]> {
  line.gateway.registry.hangup(ID);
  await settle();
  const { text, host, port } = line.sent.at(-1) ?? { text: '', host: '', port: 0 };
  return [text.split(' ', 2).join(' '), `${host}:${port}`];
}

describe.each(['INVITE', 'UPDATE'])('an %s within a call', (method) => {
  it('says where our requests go from then on', async () => {
    const to = await begin();
    await move(method, to, 2, '192.0.2.7:5099');
    expect(await goodbye()).toEqual(['BYE sip:caller@192.0.2.7:5099', '192.0.2.7:5099']);
  });

  it('that names an address of its own network is answered where it came from', async () => {
    const to = await begin();
    await move(method, to, 2, '10.0.0.5:5099');
    expect(await goodbye()).toEqual(['BYE sip:caller@192.0.2.7:5062', '192.0.2.7:5062']);
  });

  it('may name such an address where a proxy has asked for our requests', async () => {
    const to = await begin([PROXY]);
    await move(method, to, 2, '10.0.0.5:5099');
    expect(await goodbye()).toEqual(['BYE sip:caller@10.0.0.5:5099', '8.8.8.8:5060']);
  });
});

describe('an UPDATE within a call', () => {
  it('moves nothing if it is refused, came before, was overtaken or has no Contact', async () => {
    const to = await begin();
    await move('UPDATE', to, 2, '192.0.2.7:5091');
    await move('UPDATE', to, 4, '192.0.2.7:5099');
    await move('UPDATE', to, 4, '192.0.2.7:5092');
    await move('UPDATE', to, 3, '192.0.2.7:5093');
    await move('UPDATE', to, 5, '192.0.2.7:5094', OFFER.replace('8 0 101', '3'));
    await move('UPDATE', to, 6, null, '');
    expect((await goodbye())[0]).toBe('BYE sip:caller@192.0.2.7:5099');
  });

  it('that a re-INVITE has overtaken moves nothing', async () => {
    const to = await begin();
    await move('INVITE', to, 3, '192.0.2.7:5099');
    await move('UPDATE', to, 2, '192.0.2.7:5091');
    expect((await goodbye())[0]).toBe('BYE sip:caller@192.0.2.7:5099');
  });
});
