/** Calls of ours that are answered with 301 or 302, message by message. */
import { afterEach, describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { answer, headerIn, OFFER, SipLine } from './line.ts';
import { CONTACT, dial as dialOn, endReason, ID } from './timed-call.ts';

const MOVED = '302 Moved Temporarily';
const CHALLENGE = 'Proxy-Authenticate: Digest realm="pbx", nonce="n", qop="auth"';

let line: SipLine;
afterEach(() => line.close());

async function dial(): Promise<string> {
  line = new SipLine();
  return dialOn(line);
}

/** Answers an INVITE; returns what is sent then, without the ACK. */
async function reply(invite: string, status: string, ...headers: readonly string[]): Promise<string> {
  await line.receive(answer(invite, status, headers));
  const [ack = '', next = ''] = line.take();
  expect(ack).toMatch(/^ACK /);
  return next;
}

const target = (invite: string) => /^INVITE (\S+) /.exec(invite)?.[1];

describe('a call of ours that is redirected', () => {
  it('goes on in the same call, and begins there', async () => {
    const invite = await dial();
    const next = await reply(invite, MOVED, 'Contact: <sip:200@192.0.2.9:5080>');
    expect(target(next)).toBe('sip:200@192.0.2.9:5080');
    for (const name of ['To', 'From', 'Call-ID']) expect(headerIn(next, name)).toBe(headerIn(invite, name));
    expect(headerIn(next, 'CSeq')).toBe('2 INVITE');
    expect(headerIn(next, 'Via')).not.toBe(headerIn(invite, 'Via'));
    expect(line.sent.at(-1)).toMatchObject({ host: '192.0.2.9', port: 5080 });
    await line.receive(answer(next, '200 OK', [CONTACT], OFFER));
    expect(line.gateway.registry.get(ID)).toMatchObject({ state: 'live', to: '+14155550100' });
  });

  it('tries the places in the order in which they are wanted, and the next one after a failure', async () => {
    const invite = await dial();
    const contacts = 'Contact: <sip:a@192.0.2.9>;q=0.2, <sip:b@192.0.2.9>;q=0.9, <sip:c@192.0.2.9>;q=0.5';
    const first = await reply(invite, '300 Multiple Choices', contacts);
    expect(target(first)).toBe('sip:b@192.0.2.9');
    const second = await reply(first, '486 Busy Here');
    expect(target(second)).toBe('sip:c@192.0.2.9');
    const third = await reply(second, MOVED, 'Contact: <sip:d@192.0.2.9>');
    expect(target(third)).toBe('sip:d@192.0.2.9');
    const fourth = await reply(third, '480 Temporarily Unavailable');
    expect(target(fourth)).toBe('sip:a@192.0.2.9');
    expect(await reply(fourth, '404 Not Found')).toBe('');
    expect(endReason(line)).toBe('refused');
  });

  it('tries no other place after a refusal that holds for all', async () => {
    const invite = await dial();
    const first = await reply(invite, MOVED, 'Contact: <sip:a@192.0.2.9>, <sip:b@192.0.2.9>;q=0.5');
    expect(await reply(first, '600 Busy Everywhere')).toBe('');
    expect(endReason(line)).toBe('busy');
  });

  it('is not led in a circle, nor further than five places', async () => {
    let invite = await dial();
    invite = await reply(invite, MOVED, 'Contact: <sip:a@192.0.2.9>');
    expect(await reply(invite, MOVED, 'Contact: <sip:+14155550100@192.0.2.7:5060>')).toBe('');
    expect(endReason(line)).toBe('refused');
    await line.close();
    invite = await dial();
    for (const user of ['a', 'b', 'c', 'd', 'e']) {
      invite = await reply(invite, MOVED, `Contact: <sip:${user}@192.0.2.9>`);
      expect(target(invite)).toBe(`sip:${user}@192.0.2.9`);
    }
    expect(await reply(invite, MOVED, 'Contact: <sip:f@192.0.2.9>')).toBe('');
    expect(endReason(line)).toBe('refused');
  });

  it.each([
    ['an address that is no peer', '302 Moved Temporarily', 'sip:a@203.0.113.5'],
    ['a private address', '302 Moved Temporarily', 'sip:a@10.0.0.5'],
    ['another transport', '302 Moved Temporarily', 'sip:a@192.0.2.9;transport=tcp'],
    ['TLS', '302 Moved Temporarily', 'sips:a@192.0.2.9'],
    ['another method', '302 Moved Temporarily', 'sip:a@192.0.2.9;method=BYE'],
    ['a proxy', '305 Use Proxy', 'sip:192.0.2.9'],
  ])('does not go to %s', async (_, status, uri) => {
    const invite = await dial();
    expect(await reply(invite, status, `Contact: <${uri}>`)).toBe('');
    expect(endReason(line)).toBe('refused');
    expect(line.media[0]?.closed).toBe(true);
  });

  it('calls a telephone number at the trunk', async () => {
    const next = await reply(await dial(), MOVED, 'Contact: <tel:+14155550111>');
    expect(target(next)).toBe('sip:+14155550111@192.0.2.7');
  });

  it('takes no headers from the place', async () => {
    const next = await reply(await dial(), MOVED, 'Contact: <sip:a@192.0.2.9?Route=%3Csip:evil%3E>');
    expect(target(next)).toBe('sip:a@192.0.2.9');
  });

  it('shows its credentials to the trunk, also at where that answered from, and to nobody else', async () => {
    const invite = await dial();
    const own = await reply(invite, MOVED, 'Contact: <sip:200@192.0.2.7>');
    const proven = await reply(own, '407 Proxy Authentication Required', CHALLENGE);
    expect(headerIn(proven, 'Proxy-Authorization')).toContain('username="bridge"');
    const elsewhere = await reply(proven, MOVED, 'Contact: <sip:200@192.0.2.9>');
    expect(target(elsewhere)).toBe('sip:200@192.0.2.9');
    expect(headerIn(elsewhere, 'Proxy-Authorization')).toBe('');
    // From elsewhere there is no way back to the trunk's account.
    expect(await reply(elsewhere, '407 Proxy Authentication Required', CHALLENGE)).toBe('');
    expect(endReason(line)).toBe('refused');
  });

  it('is cancelled where it rings', async () => {
    const next = await reply(await dial(), MOVED, 'Contact: <sip:200@192.0.2.9>');
    await line.receive(answer(next, '180 Ringing', [CONTACT]));
    line.gateway.registry.hangup(ID);
    await settle();
    expect(line.lines()).toEqual(['CANCEL sip:200@192.0.2.9 SIP/2.0']);
  });

  it('goes nowhere when it was given up meanwhile', async () => {
    const invite = await dial();
    line.gateway.registry.hangup(ID);
    expect(await reply(invite, MOVED, 'Contact: <sip:200@192.0.2.9>')).toBe('');
  });
});
