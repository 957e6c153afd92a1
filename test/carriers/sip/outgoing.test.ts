/** Calls that we make, message by message. */
import { afterEach, describe, expect, it } from 'vitest';
import { OutgoingCall, RING_TIMEOUT_MS } from '../../../src/carriers/sip/outgoing.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, bodyIn, headerIn, OFFER, request, SipLine } from './line.ts';
import { CONTACT, dial as dialOn } from './timed-call.ts';

const ID = 'out-1';

let line: SipLine;
afterEach(() => line.close());

/** Dials; returns the INVITE. */
async function dial(environment: Record<string, string> = {}): Promise<string> {
  line = new SipLine(environment);
  return dialOn(line, { callId: ID, parameters: { campaign: 'x' } });
}

const state = () => {
  const { state, endReason } = line.gateway.registry.get(ID) ?? {};
  return [state, endReason];
};

describe('an outgoing call', () => {
  it('rings, then begins with the answer', async () => {
    const invite = await dial();
    expect(invite).toMatch(/^INVITE sip:\+14155550100@192\.0\.2\.7 SIP\/2\.0/);
    expect(headerIn(invite, 'From')).toMatch(/^<sip:1001@192\.0\.2\.7>;tag=/);
    expect(headerIn(invite, 'Call-ID')).toBe(ID);
    expect(bodyIn(invite)).toContain('m=audio 20000 RTP/AVP 111 9 0 8 101 110');
    expect(state()).toEqual(['dialing', null]);
    await line.receive(answer(invite, '100 Trying'));
    await line.receive(answer(invite, '180 Ringing', [CONTACT]));
    expect(state()).toEqual(['dialing', null]);
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(line.lines()).toEqual([expect.stringMatching(/^ACK sip:far@192\.0\.2\.7:5070 /)]);
    expect(line.gateway.registry.get(ID)).toMatchObject({
      state: 'live',
      from: '1001',
      to: '+14155550100',
      tracks: ['inbound'],
    });
    expect(line.media[0]?.remotes[0]).toMatchObject({ port: 4000 });
    expect(line.media[0]?.peers).toEqual(['192.0.2.7']);
  });

  it('is not answered by whoever hit upon its branch and does not know its Call-ID', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER).replace(/^Call-ID: .*$/m, 'Call-ID: guessed'));
    expect(line.lines()).toEqual([]);
    expect(state()).toEqual(['dialing', null]);
  });

  it('takes the description of early media where the answer repeats none', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '183 Session Progress', [CONTACT], OFFER));
    await line.receive(answer(invite, '200 OK', [CONTACT]));
    expect(state()).toEqual(['live', null]);
  });

  it.each([
    ['486 Busy Here', 'busy'],
    ['600 Busy Everywhere', 'busy'],
    ['480 Temporarily Unavailable', 'unanswered'],
    ['408 Request Timeout', 'unanswered'],
    ['404 Not Found', 'refused'],
    ['603 Decline', 'refused'],
    ['302 Moved Temporarily', 'refused'],
  ])('that is answered with %s ends as %s', async (status, reason) => {
    const invite = await dial();
    await line.receive(answer(invite, status));
    expect(line.lines()).toEqual([expect.stringMatching(/^ACK /)]);
    expect(state()).toEqual(['ended', reason]);
    expect(line.media[0]?.closed).toBe(true);
    expect(line.gateway.registry.liveCount).toBe(0);
  });

  it('is cancelled by a hang-up while it rings', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '180 Ringing', [CONTACT]));
    line.gateway.registry.hangup(ID);
    await settle();
    const [cancel = ''] = line.take();
    expect(cancel).toMatch(/^CANCEL sip:\+14155550100@192\.0\.2\.7 /);
    expect(headerIn(cancel, 'Via')).toBe(headerIn(invite, 'Via'));
    await line.receive(answer(cancel, '200 OK'));
    await line.receive(answer(invite, '487 Request Terminated'));
    expect(line.lines()).toEqual([expect.stringMatching(/^ACK /)]);
    expect(state()).toEqual(['ended', 'api']);
  });

  it('is cancelled only when the other side has shown that it got the INVITE', async () => {
    const invite = await dial();
    line.gateway.registry.hangup(ID);
    await settle();
    expect(line.lines()).toEqual([]);
    await line.receive(answer(invite, '100 Trying'));
    expect(line.lines()).toEqual([expect.stringMatching(/^CANCEL /)]);
  });

  it('that is answered after it was given up is hung up', async () => {
    const invite = await dial();
    line.gateway.registry.hangup(ID);
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(line.lines().map((first) => first.split(' ')[0])).toEqual(['ACK', 'BYE']);
    expect(state()).toEqual(['ended', 'api']);
  });

  it('is given up when nobody answers, and forgotten when not even that is answered', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '180 Ringing', [CONTACT]));
    await line.gateway.clock.run(RING_TIMEOUT_MS, 1000);
    expect(line.lines().at(0)).toMatch(/^CANCEL /);
    expect(state()).toEqual(['ended', 'unanswered']);
    await line.gateway.clock.run(32_000, 1000);
    expect(line.stack.core.userAgentClients.size).toBeLessThanOrEqual(1);
  });

  it('has its INVITE sent again until there is an answer', async () => {
    const invite = await dial();
    await line.gateway.clock.run(1600, 100);
    expect(line.take()).toEqual([invite, invite]);
    await line.receive(answer(invite, '100 Trying'));
    await line.gateway.clock.run(20_000, 1000);
    expect(line.take()).toEqual([]);
  });

  it('shows its credentials when it is asked for them', async () => {
    const invite = await dial();
    await line.receive(
      answer(invite, '407 Proxy Authentication Required', [
        'Proxy-Authenticate: Digest realm="pbx", nonce="n", qop="auth"',
      ]),
    );
    const [ack = '', again = ''] = line.take();
    expect(ack).toMatch(/^ACK /);
    expect(headerIn(again, 'Proxy-Authorization')).toMatch(
      /^Digest username="bridge", realm="pbx", nonce="n", uri="sip:\+14155550100@192/,
    );
    expect(headerIn(again, 'CSeq')).toBe('2 INVITE');
    await line.receive(
      answer(invite, '407 Proxy Authentication Required', [
        'Proxy-Authenticate: Digest realm="pbx", nonce="n", qop="auth"',
      ]),
    );
    expect(state()).toEqual(['dialing', null]);
    await line.receive(
      answer(again, '407 Proxy Authentication Required', [
        'Proxy-Authenticate: Digest realm="pbx", nonce="m", qop="auth"',
      ]),
    );
    expect(state()).toEqual(['ended', 'refused']);
  });

  it('ends when what was answered cannot be spoken', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER.replace('8 0 101', '18')));
    expect(line.lines().map((first) => first.split(' ')[0])).toEqual(['ACK', 'BYE']);
    expect(state()).toEqual(['ended', 'error']);
  });

  it('ends with the BYE of the other side', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    line.take();
    const bye = request('BYE', { to: headerIn(invite, 'From'), callId: ID }).replace(';tag=peer', ';tag=far');
    await line.receive(bye);
    expect(line.lines()).toEqual(['SIP/2.0 200 OK']);
    expect(state()).toEqual(['ended', 'hangup']);
  });

  it('is answered by one telephone alone: a second one is hung up', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    line.take();
    await line.receive(
      answer(invite, '200 OK', ['Contact: <sip:other@192.0.2.7:5071>'], OFFER).replace('tag=far', 'tag=other'),
    );
    expect(line.lines()).toEqual([
      expect.stringMatching(/^ACK sip:other@192\.0\.2\.7:5071 /),
      expect.stringMatching(/^BYE sip:other@192\.0\.2\.7:5071 /),
    ]);
    expect(state()).toEqual(['live', null]);
  });

  it('is not begun when there is no room', async () => {
    line = new SipLine({ MAX_CALLS: '1' });
    await line.receive(request('INVITE', { body: OFFER }));
    await line.receive(request('ACK', { to: headerIn(line.take().at(-1) ?? '', 'To') }));
    const call = new OutgoingCall({
      ...line.services,
      request: { callId: ID, to: '1', from: null, parameters: {} },
      ways: [line.way('192.0.2.7', { to: '1', from: '' })],
      mayCall: line.mayCall,
      transfer: null,
      clock: line.gateway.clock,
      onEarly: (id, early) => line.switchboard.setEarly(id, early),
      onDialog: () => undefined,
      onGone: () => undefined,
    });
    await expect(call.dial()).rejects.toThrow(TrunklineError);
    expect(line.media.at(-1)?.closed).toBe(true);
    expect(line.lines().filter((first) => first.startsWith('INVITE'))).toEqual([]);
  });
});
