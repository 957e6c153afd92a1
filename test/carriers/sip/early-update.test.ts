/** UPDATE before the answer to a call of ours (RFC 3311). */
import { afterEach, describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { answer, bodyIn, headerIn, OFFER, request, SipLine } from './line.ts';
import { CONTACT, dial, endReason, ID } from './timed-call.ts';

const MOVED = OFFER.replace('m=audio 4000', 'm=audio 4444');

let line: SipLine;
/** `From` of our INVITE. */
let own: string;
afterEach(() => line.close());

/** A call of ours that rings; with `early`, its ringing is heard. */
async function ring(early: boolean): Promise<string> {
  line = new SipLine();
  const invite = await dial(line);
  own = headerIn(invite, 'From');
  await line.receive(answer(invite, '183 Session Progress', [CONTACT], early ? OFFER : ''));
  line.take();
  return invite;
}

/** Our answer to an UPDATE of the telephone that rings. */
async function update(cseq: number, body: string, tag = 'far', place = '192.0.2.7:5070'): Promise<string> {
  const text = request('UPDATE', { to: own, cseq, body, callId: ID });
  const from = `From: <sip:+14155550100@192.0.2.7>;tag=${tag}`;
  await line.receive(text.replace(/^From: .*$/m, from).replace(/^Contact: .*$/m, `Contact: <sip:far@${place}>`));
  return line.take().at(-1) ?? '';
}

describe('an UPDATE before the answer', () => {
  it('may have an offer, which counts from then on, also after the answer', async () => {
    const invite = await ring(true);
    const reply = await update(1, MOVED);
    expect(reply).toMatch(/^SIP\/2\.0 200 /);
    expect(bodyIn(reply)).toContain('m=audio 20000 RTP/AVP');
    expect(headerIn(reply, 'Contact')).toContain('trunkline@198.51.100.1');
    expect(line.media[0]?.remotes.at(-1)?.port).toBe(4444);
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(line.gateway.registry.get(ID)?.state).toBe('live');
    expect(line.media[0]?.remotes.at(-1)?.port).toBe(4444);
  });

  it('that comes again gets the same answer again, and one that was overtaken 500', async () => {
    await ring(true);
    const reply = await update(2, MOVED);
    const again = await update(2, MOVED);
    expect(bodyIn(again)).toBe(bodyIn(reply));
    expect(await update(1, OFFER)).toMatch(/^SIP\/2\.0 500 /);
    expect(line.media[0]?.remotes.at(-1)?.port).toBe(4444);
  });

  it('says where our requests go from then on, if it is accepted', async () => {
    const invite = await ring(true);
    await update(1, '', 'far', '192.0.2.7:5099');
    await update(2, OFFER.replace('8 0 101', '3'), 'far', '192.0.2.7:5098');
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    line.gateway.registry.hangup(ID);
    await settle();
    const [ack = '', bye = ''] = line.lines();
    expect([ack, bye]).toEqual(['ACK sip:far@192.0.2.7:5099 SIP/2.0', 'BYE sip:far@192.0.2.7:5099 SIP/2.0']);
  });

  it('may be a sign of life', async () => {
    await ring(false);
    const reply = await update(1, '');
    expect(reply).toMatch(/^SIP\/2\.0 200 /);
    expect(bodyIn(reply)).toBe('');
  });

  it('gets 491 for an offer while ours has no answer, and 488 for one that cannot be taken', async () => {
    await ring(false);
    expect(await update(1, MOVED)).toMatch(/^SIP\/2\.0 491 /);
    await line.close();
    await ring(true);
    expect(await update(1, OFFER.replace('8 0 101', '3'))).toMatch(/^SIP\/2\.0 488 /);
    expect(line.media[0]?.remotes.at(-1)?.port).toBe(4000);
  });

  it('of a telephone that does not ring gets 481, as after the end of the call', async () => {
    const invite = await ring(true);
    expect(await update(1, MOVED, 'other')).toMatch(/^SIP\/2\.0 481 /);
    await line.receive(answer(invite, '486 Busy Here'));
    line.take();
    expect(endReason(line)).toBe('busy');
    expect(await update(1, MOVED)).toMatch(/^SIP\/2\.0 481 /);
  });

  it('between our answer to a call of the peer and its ACK is answered', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', { body: OFFER }));
    own = headerIn(line.take().at(-1) ?? '', 'To');
    const reply = await update(2, MOVED, 'peer');
    expect(reply).toMatch(/^SIP\/2\.0 200 /);
    await line.receive(request('ACK', { to: own }));
    expect(line.media[0]?.remotes.at(-1)?.port).toBe(4444);
  });
});
