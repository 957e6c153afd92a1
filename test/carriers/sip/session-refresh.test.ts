/** Session timers where we are to refresh, message by message. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { answer, bodyIn, headerIn, OFFER, request, SipLine } from './line.ts';
import { ALLOW, CONTACT, dial, dialled, endReason, ID, methodsIn, pass, ring, TIMER } from './timed-call.ts';

let line: SipLine;
afterEach(async () => {
  vi.restoreAllMocks();
  await line.close();
});

describe('a call of ours', () => {
  it('asks for a session timer, and says that it knows them', async () => {
    line = new SipLine();
    const invite = await dial(line);
    expect(headerIn(invite, 'Session-Expires')).toBe('1800');
    expect(invite).toMatch(/^Supported: timer, replaces\r$/m);
    expect(headerIn(invite, 'Allow')).toContain('UPDATE');
  });

  it('does not ask for one where that is not wanted', async () => {
    line = new SipLine({ SIP_SESSION_EXPIRES_SECONDS: '0' });
    const invite = await dial(line);
    expect(headerIn(invite, 'Session-Expires')).toBe('');
    expect(invite).toMatch(/^Supported: timer, replaces\r$/m);
  });

  it('that asks for too little asks again for as much as it may, with a number of its own', async () => {
    line = new SipLine();
    const invite = await dial(line);
    await line.receive(answer(invite, '422 Session Interval Too Small', ['Min-SE: 3600']));
    const [ack = '', again = ''] = line.take();
    expect(ack).toMatch(/^ACK /);
    expect([headerIn(again, 'Session-Expires'), headerIn(again, 'Min-SE'), headerIn(again, 'CSeq')]).toEqual([
      '3600',
      '3600',
      '2 INVITE',
    ]);
    expect([headerIn(again, 'Call-ID'), headerIn(again, 'From')]).toEqual([
      headerIn(invite, 'Call-ID'),
      headerIn(invite, 'From'),
    ]);
    expect(bodyIn(again)).toBe(bodyIn(invite));
    await line.receive(answer(again, '200 OK', [CONTACT, 'Session-Expires: 3600;refresher=uas'], OFFER));
    expect(line.gateway.registry.get(ID)).toMatchObject({ state: 'live' });
  });

  it.each(['', '90', '999999'])('gives up where 422 says nothing that helps: Min-SE %s', async (minimum) => {
    line = new SipLine();
    const invite = await dial(line);
    await line.receive(answer(invite, '422 Session Interval Too Small', minimum === '' ? [] : [`Min-SE: ${minimum}`]));
    expect(methodsIn(line.take())).toEqual(['ACK']);
    expect(endReason(line)).toBe('refused');
  });

  it('gives up where it is to ask for more again and again', async () => {
    line = new SipLine();
    let invite = await dial(line);
    for (let i = 1; i <= 6; i++) {
      await line.receive(answer(invite, '422 Session Interval Too Small', [`Min-SE: ${1800 + i}`]));
      invite = line.take().at(-1) ?? '';
    }
    expect(endReason(line)).toBe('refused');
  });

  it('is kept up by UPDATE, at half the interval, for as long as the peer answers', async () => {
    line = new SipLine();
    await dialled(line, ['Session-Expires: 600;refresher=uac', ALLOW]);
    for (let i = 0; i < 3; i++) {
      expect(await pass(line, 299)).toEqual([]);
      const [update = ''] = await pass(line, 1);
      expect(update).toMatch(/^UPDATE sip:far@192\.0\.2\.7:5070 /);
      expect(headerIn(update, 'Session-Expires')).toBe('600;refresher=uac');
      expect(headerIn(update, 'Supported')).toBe('timer, replaces');
      expect(headerIn(update, 'Contact')).toBe('<sip:trunkline@198.51.100.1:5060>');
      expect(headerIn(update, 'Content-Type')).toBe('');
      await line.receive(answer(update, '200 OK', ['Session-Expires: 600;refresher=uac']));
    }
    expect(line.refreshes).toEqual(Array.from({ length: 3 }, () => 'us accepted'));
    expect(endReason(line)).toBeNull();
  });

  it.each([
    ['does not say that it knows UPDATE', ['Allow: INVITE, ACK, BYE'], null],
    ['says nothing of what it knows', [], null],
    ['refuses UPDATE', [ALLOW], '405 Method Not Allowed'],
  ])('is kept up by an INVITE with the same description where the peer %s', async (_what, headers, refusal) => {
    line = new SipLine();
    const first = await dialled(line, ['Session-Expires: 600;refresher=uac', ...headers]);
    let [refresh = ''] = await pass(line, 300);
    if (refusal !== null) {
      await line.receive(answer(refresh, refusal));
      [refresh = ''] = await pass(line, 1);
    }
    expect(refresh).toMatch(/^INVITE sip:far@/);
    expect(headerIn(refresh, 'To')).toContain('tag=far');
    expect(bodyIn(refresh)).toBe(bodyIn(first));
    await line.receive(answer(refresh, '200 OK', [CONTACT, 'Session-Expires: 600;refresher=uac'], OFFER));
    expect(methodsIn(line.take())).toEqual(['ACK']);
    expect(line.media[0]?.remotes).toHaveLength(1);
    expect(methodsIn(await pass(line, 300))).toEqual(['INVITE']);
    expect(endReason(line)).toBeNull();
  });

  it('takes another description in the answer', async () => {
    line = new SipLine();
    await dialled(line, ['Session-Expires: 600;refresher=uac']);
    const [refresh = ''] = await pass(line, 300);
    await line.receive(answer(refresh, '200 OK', [CONTACT], OFFER.replace('4000', '4008')));
    expect(line.media[0]?.remotes.map(({ port }) => port)).toEqual([4000, 4008]);
    expect(methodsIn(await pass(line, 300))).toContain('INVITE');
  });

  it.each(['481 Call/Transaction Does Not Exist', '408 Request Timeout'])(
    'ends where its refresh is answered with %s',
    async (status) => {
      line = new SipLine();
      await dialled(line, ['Session-Expires: 600;refresher=uac', ALLOW]);
      const [update = ''] = await pass(line, 300);
      await line.receive(answer(update, status));
      expect(methodsIn(line.take())).toEqual(['BYE']);
      expect(endReason(line)).toBe('lost');
      expect(line.refreshes).toEqual(['us gone']);
    },
  );

  it('ends where its refresh is not answered at all', async () => {
    line = new SipLine();
    await dialled(line, ['Session-Expires: 600;refresher=uac', ALLOW]);
    expect(methodsIn(await pass(line, 331))).toEqual(['UPDATE']);
    expect(methodsIn(await pass(line, 2))).toContain('BYE');
    expect(endReason(line)).toBe('lost');
    expect(line.gateway.logLines.join()).toContain('did not answer the session refresh');
  });

  it.each([
    [0, 2000, 2500],
    [0.99, 3500, 4500],
  ])('asks again after a while where both ask at once (random %d)', async (random, notBeforeMs, byMs) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    line = new SipLine();
    await dialled(line, ['Session-Expires: 600;refresher=uac', ALLOW]);
    const [update = ''] = await pass(line, 300);
    await line.receive(answer(update, '491 Request Pending'));
    expect(await pass(line, notBeforeMs / 1000)).toEqual([]);
    expect(methodsIn(await pass(line, (byMs - notBeforeMs) / 1000))).toEqual(['UPDATE']);
  });

  it('asks for a longer interval where the peer wants that', async () => {
    line = new SipLine();
    await dialled(line, ['Session-Expires: 600;refresher=uac', ALLOW]);
    const [update = ''] = await pass(line, 300);
    await line.receive(answer(update, '422 Session Interval Too Small', ['Min-SE: 900']));
    const [again = ''] = await pass(line, 1);
    expect([headerIn(again, 'Session-Expires'), headerIn(again, 'Min-SE')]).toEqual(['900;refresher=uac', '900']);
    await line.receive(answer(again, '200 OK', ['Session-Expires: 900;refresher=uac']));
    expect(await pass(line, 449)).toEqual([]);
    expect(methodsIn(await pass(line, 1))).toEqual(['UPDATE']);
  });

  it('that is refused its refresh tries on, and ends when the session does', async () => {
    line = new SipLine();
    await dialled(line, ['Session-Expires: 90;refresher=uac', ALLOW]);
    const [update = ''] = await pass(line, 45);
    await line.receive(answer(update, '500 Server Internal Error', ['Retry-After: 3']));
    const [again = ''] = await pass(line, 3);
    expect(again).toMatch(/^UPDATE /);
    await line.receive(answer(again, '503 Service Unavailable'));
    expect(methodsIn(await pass(line, 11))).toEqual(['UPDATE']);
    expect(methodsIn(await pass(line, 2))).toContain('BYE');
    expect(endReason(line)).toBe('timeout');
    expect(line.refreshes).toEqual(['us failed', 'us failed', 'us expired']);
  });

  it('shows its credentials for a refresh, once', async () => {
    line = new SipLine();
    await dialled(line, ['Session-Expires: 600;refresher=uac', ALLOW]);
    const [update = ''] = await pass(line, 300);
    const challenge = 'Proxy-Authenticate: Digest realm="pbx", nonce="n", qop="auth"';
    await line.receive(answer(update, '407 Proxy Authentication Required', [challenge]));
    const [again = ''] = line.take();
    expect(again).toMatch(/^UPDATE /);
    expect(headerIn(again, 'Proxy-Authorization')).toMatch(/^Digest username="bridge", realm="pbx"/);
    expect(headerIn(again, 'CSeq')).toBe('3 UPDATE');
    await line.receive(answer(again, '407 Proxy Authentication Required', [challenge]));
    expect(line.take()).toEqual([]);
    expect(line.refreshes).toEqual(['us failed']);
  });

  it('is hung up where the peer was to refresh and did not', async () => {
    line = new SipLine();
    await dialled(line, ['Require: timer', 'Session-Expires: 90;refresher=uas', ALLOW]);
    expect(await pass(line, 59)).toEqual([]);
    expect(methodsIn(await pass(line, 2))).toEqual(['BYE']);
    expect(endReason(line)).toBe('timeout');
  });

  it('has no session timer where the peer agrees to none', async () => {
    line = new SipLine();
    await dialled(line, [ALLOW]);
    expect(await pass(line, 20_000)).toEqual([]);
    expect(endReason(line)).toBeNull();
  });

  it('is over without a refresh or a timer left', async () => {
    line = new SipLine();
    await dialled(line, ['Session-Expires: 600;refresher=uac', ALLOW]);
    const [update = ''] = await pass(line, 300);
    line.gateway.registry.hangup(ID);
    await settle();
    expect(methodsIn(line.take())).toEqual(['BYE']);
    await line.receive(answer(update, '481 Call/Transaction Does Not Exist'));
    expect(line.refreshes).toEqual([]);
    expect(endReason(line)).toBe('api');
  });
});

describe('a call that came, where we are to refresh', () => {
  it('is kept up by UPDATE where its INVITE said that the peer knows it', async () => {
    line = new SipLine();
    const { ok } = await ring(line, [TIMER, 'Session-Expires: 600;refresher=uas', ALLOW]);
    expect(headerIn(ok, 'Session-Expires')).toBe('600;refresher=uas');
    const [update = ''] = await pass(line, 300);
    expect(update).toMatch(/^UPDATE sip:caller@192\.0\.2\.7:5062 /);
    expect(headerIn(update, 'CSeq')).toBe('1 UPDATE');
  });

  it('answers no challenge: the peer has no business asking', async () => {
    line = new SipLine();
    await ring(line, [TIMER, 'Session-Expires: 600;refresher=uas', ALLOW]);
    const [update = ''] = await pass(line, 300);
    await line.receive(answer(update, '401 Unauthorized', ['WWW-Authenticate: Digest realm="x", nonce="n"']));
    expect(line.take()).toEqual([]);
    expect(line.refreshes).toEqual(['us failed']);
  });

  it('refreshes by INVITE with what was answered, and takes no other offer meanwhile', async () => {
    line = new SipLine();
    const { ok, to } = await ring(line, [TIMER, 'Session-Expires: 600;refresher=uas']);
    const [refresh = ''] = await pass(line, 300);
    expect(refresh).toMatch(/^INVITE sip:caller@/);
    expect(bodyIn(refresh)).toBe(bodyIn(ok));
    await line.receive(request('UPDATE', { to, cseq: 2, body: OFFER.replace('4000', '4004') }));
    await line.receive(request('INVITE', { to, cseq: 3, body: OFFER }));
    expect(line.lines().map((first) => first.slice(8, 11))).toEqual(['491', '491']);
    await line.receive(answer(refresh, '200 OK', [CONTACT], OFFER));
    expect(methodsIn(line.take())).toEqual(['ACK']);
  });

  it('is not asked for while an INVITE of the peer is under way', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    line = new SipLine();
    const { to } = await ring(line, [TIMER, 'Session-Expires: 600;refresher=uas']);
    await pass(line, 299);
    await line.receive(
      request('INVITE', { to, cseq: 2, body: OFFER, headers: [TIMER, 'Session-Expires: 600;refresher=uas'] }),
    );
    line.take();
    // Its ACK is missing for five minutes.
    expect((await pass(line, 300)).filter((text) => text.startsWith('INVITE'))).toEqual([]);
    await line.receive(request('ACK', { to, cseq: 2 }));
    expect(methodsIn(await pass(line, 2))).toContain('INVITE');
  });

  it('does not ask at a private address that is not a peer', async () => {
    line = new SipLine();
    const headers = [TIMER, 'Session-Expires: 600;refresher=uas', ALLOW, 'Record-Route: <sip:203.0.113.66;lr>'];
    await line.receive(request('INVITE', { body: OFFER, headers }));
    await line.receive(request('ACK', { to: headerIn(line.take().at(-1) ?? '', 'To') }));
    await pass(line, 330);
    expect(line.sent.filter(({ text }) => /^(UPDATE|INVITE) /.test(text))).toEqual([]);
  });
});
