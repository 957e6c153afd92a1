/** Calls that peers make, message by message. */
import { afterEach, describe, expect, it } from 'vitest';
import { metricValue } from '../../calls/harness.ts';
import { settle } from '../../fakes/clock.ts';
import { bodyIn, headerIn, OFFER, PEER, request, SipLine } from './line.ts';

let line: SipLine;
afterEach(() => line.close());

/** `To` of our answer to a call, with our tag. */
async function begin(options: Parameters<typeof request>[1] = {}): Promise<string> {
  return beginWith(request('INVITE', { body: OFFER, branch: 'z9hG4bKinvite', ...options }));
}

/** The same for an INVITE that is there, from `source`. */
async function beginWith(invite: string, source: Parameters<SipLine['receive']>[1] = PEER): Promise<string> {
  await line.receive(invite, source);
  const ok = line.take().at(-1) ?? '';
  expect(ok).toMatch(/^SIP\/2\.0 200/);
  const ack = request('ACK', {
    to: headerIn(ok, 'To'),
    uri: 'sip:trunkline@198.51.100.1:5060',
    callId: headerIn(ok, 'Call-ID'),
  });
  await line.receive(ack, source);
  return headerIn(ok, 'To');
}

const calls = () => line.gateway.registry.list().map(({ id, state, endReason }) => [id, state, endReason]);

describe('an INVITE', () => {
  it('is answered at once, with the codec that its offer names first', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', { body: OFFER }));
    const [trying = '', ok = ''] = line.take();
    expect(trying).toMatch(/^SIP\/2\.0 100/);
    expect(ok).toMatch(
      /^SIP\/2\.0 200 OK\r\nVia: SIP\/2\.0\/UDP 192\.0\.2\.7:5062;branch=\S+;received=192\.0\.2\.7;rport=5062\r\n/,
    );
    expect(headerIn(ok, 'Contact')).toBe('<sip:trunkline@198.51.100.1:5060>');
    expect(headerIn(ok, 'Allow')).toBe('INVITE, ACK, BYE, CANCEL, OPTIONS, INFO, UPDATE, NOTIFY');
    expect(bodyIn(ok)).toContain('c=IN IP4 198.51.100.1\r\n');
    expect(bodyIn(ok)).toContain('m=audio 20000 RTP/AVP 8 101\r\n');
    expect(line.sent[1]).toMatchObject({ host: '192.0.2.7', port: 5062 });
    await line.receive(request('ACK', { to: headerIn(ok, 'To') }));
    expect(line.media[0]?.remotes).toMatchObject([{ address: '192.0.2.7', port: 4000, format: { name: 'alaw' } }]);
    expect(line.media[0]?.peers).toEqual(['192.0.2.7']);
  });

  it('leaves no call behind when its media cannot begin', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', { body: OFFER }));
    const ok = line.take().at(-1) ?? '';
    const [media] = line.media;
    if (media !== undefined)
      media.setRemote = () => {
        throw new Error('no media');
      };
    await line.receive(request('ACK', { to: headerIn(ok, 'To') }));
    expect([line.gateway.registry.liveCount, media?.closed]).toEqual([0, true]);
    expect(line.take().at(-1)).toMatch(/^BYE /);
  });

  it('becomes a call with its parties and parameters, not trusted', async () => {
    line = new SipLine({ APP_URL: '' });
    await begin({
      headers: ['X-Trunkline-Campaign-Id: spring', 'X-Trunkline-App: wss://evil.example.com', 'X-Other: 1'],
    });
    expect(line.gateway.registry.list()).toMatchObject([
      { id: 'call-1@192.0.2.7', carrier: 'sip', from: '+14155550199', to: '+14155550100', state: 'live' },
    ]);
    expect(line.gateway.logLines.join()).toContain('APP_ALLOWED_ORIGINS');
    expect(line.gateway.logLines.join()).not.toContain('evil');
  });

  it.each([
    ['sips:+14155550100@host', '+14155550100'],
    ['tel:+14155550100;phone-context=x', '+14155550100'],
    ['sip:%2B1@host;user=phone', '+1'],
    ['sip:bridge@host', '+14155550123'],
    ['sip:host', '+14155550123'],
  ])('for %s is for %s', async (uri, to) => {
    line = new SipLine();
    await begin({ uri, to: '<tel:+14155550123>' });
    expect(line.gateway.registry.list()).toMatchObject([{ to }]);
  });

  it.each([
    ['"Anonymous" <sip:anonymous@anonymous.invalid>', null],
    ['sip:Anonymous@192.0.2.7', null],
    ['"sip:anonymous@x" <sip:+14155550199@h>', '+14155550199'],
  ])('from %s is from %s', async (caller, from) => {
    line = new SipLine();
    const invite = request('INVITE', { body: OFFER });
    await beginWith(invite.replace(/^From: [^;]*/m, `From: ${caller}`));
    expect(line.gateway.registry.list()).toMatchObject([{ from }]);
  });

  it('goes by the hash of a Call-ID that would not do in a URL', async () => {
    line = new SipLine();
    await begin({ callId: '<a/b?c>' });
    expect(calls()).toEqual([[expect.stringMatching(/^sip-[0-9a-f]{32}$/), 'live', null]]);
  });

  it('without an offer gets one, and the call begins with the answer', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', {}));
    const ok = line.take().at(-1) ?? '';
    expect(bodyIn(ok)).toContain('m=audio 20000 RTP/AVP 111 9 0 8 101 110');
    expect(calls()).toEqual([]);
    await line.receive(request('ACK', { to: headerIn(ok, 'To'), body: OFFER }));
    expect(calls()).toEqual([['call-1@192.0.2.7', 'live', null]]);
  });

  it('whose ACK brings no answer is hung up', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', {}));
    await line.receive(request('ACK', { to: headerIn(line.take().at(-1) ?? '', 'To') }));
    expect(line.lines()).toEqual([expect.stringMatching(/^BYE sip:caller@192\.0\.2\.7:5062 /)]);
    expect(line.media[0]?.closed).toBe(true);
    expect(line.gateway.registry.liveCount).toBe(0);
  });

  it.each([
    ['no codec of ours', { body: OFFER.replace('8 0 101', '18') }, 488],
    ['secured media', { body: OFFER.replace('RTP/AVP', 'RTP/SAVP') }, 488],
    ['no SDP but something else', { body: 'hello', type: 'text/plain' }, 415],
    ['SDP that is none', { body: 'hello' }, 400],
    ['a demand for what we cannot do', { body: OFFER, headers: ['Require: precondition, timer'] }, 420],
  ])('with %s is refused', async (_what, options, status) => {
    line = new SipLine();
    await line.receive(request('INVITE', options));
    const refusal = line.take().at(-1) ?? '';
    expect(refusal.slice(0, 11)).toBe(`SIP/2.0 ${status}`);
    if (status === 420) expect(headerIn(refusal, 'Unsupported')).toBe('precondition');
    expect(line.gateway.registry.liveCount).toBe(0);
    expect(line.media.every(({ closed }) => closed)).toBe(true);
  });

  it('that demands a session timer is taken', async () => {
    line = new SipLine();
    await line.receive(
      request('INVITE', { body: OFFER, headers: ['Require: timer', 'Session-Expires: 1800;refresher=uac'] }),
    );
    expect(line.lines().at(-1)).toBe('SIP/2.0 200 OK');
  });

  it('is refused with the time to come again when there is no room', async () => {
    line = new SipLine({ MAX_CALLS: '1' });
    await begin();
    await line.receive(request('INVITE', { body: OFFER, callId: 'call-2' }));
    const [refusal = ''] = line.take();
    expect(refusal).toMatch(/^SIP\/2\.0 503/);
    expect(headerIn(refusal, 'Retry-After')).toBe('10');
    expect(await metricValue('trunkline_refused_total', { code: 'too_many_calls' })).toBeGreaterThan(0);
  });

  it('is refused when its source has too many calls, and others are not', async () => {
    line = new SipLine({ SIP_DIALOGS_MAX: '1' });
    await begin();
    await line.receive(request('INVITE', { body: OFFER, callId: 'call-2' }));
    expect(line.lines()).toEqual(['SIP/2.0 503 Service Unavailable']);
    await line.receive(request('INVITE', { body: OFFER, callId: 'call-3' }), { ...PEER, address: '192.0.2.8' });
    expect(line.lines().at(-1)).toBe('SIP/2.0 200 OK');
  });

  it('makes room for the next when it is over', async () => {
    line = new SipLine({ SIP_DIALOGS_MAX: '1' });
    const to = await begin();
    await line.receive(request('BYE', { to, cseq: 2 }));
    await line.receive(request('INVITE', { body: OFFER, callId: 'call-2' }));
    expect(line.lines().at(-1)).toBe('SIP/2.0 200 OK');
  });

  it('is cancelled while it is being answered', async () => {
    line = new SipLine();
    let go: () => void = () => undefined;
    line.held = new Promise((resolve) => {
      go = resolve;
    });
    await line.receive(request('INVITE', { body: OFFER, branch: 'z9hG4bKc' }));
    await line.receive(request('CANCEL', { branch: 'z9hG4bKc' }));
    expect(line.lines()).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 200 OK', 'SIP/2.0 487 Request Terminated']);
    go();
    await settle();
    expect(line.media[0]?.closed).toBe(true);
    expect(calls()).toEqual([]);
    expect(line.lines()).toEqual([]);
  });

  it('is not cancelled any more when it has been answered', async () => {
    line = new SipLine();
    await begin({ branch: 'z9hG4bKc' });
    await line.receive(request('CANCEL', { branch: 'z9hG4bKc' }));
    expect(line.lines()).toEqual(['SIP/2.0 200 OK']);
    expect(calls()).toEqual([['call-1@192.0.2.7', 'live', null]]);
  });

  it('has its refusal repeated until that is acknowledged', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', { body: OFFER.replace('8 0 101', '18'), branch: 'z9hG4bKr' }));
    const refusals = () => line.lines().filter((first) => first.includes('488')).length;
    expect(refusals()).toBe(1);
    await line.gateway.clock.run(1600, 100);
    expect(refusals()).toBe(2);
    await line.receive(request('ACK', { branch: 'z9hG4bKr' }));
    await line.gateway.clock.run(10_000, 1000);
    expect(refusals()).toBe(0);
  });
});

describe('a call', () => {
  it('ends with the BYE of its peer', async () => {
    line = new SipLine();
    const to = await begin();
    await line.receive(request('BYE', { to, cseq: 2 }));
    expect(line.lines()).toEqual(['SIP/2.0 200 OK']);
    expect(calls()).toEqual([['call-1@192.0.2.7', 'ended', 'hangup']]);
    expect(line.media[0]?.closed).toBe(true);
    await line.receive(request('BYE', { to, cseq: 3 }));
    expect(line.lines()).toEqual(['SIP/2.0 481 Call/Transaction Does Not Exist']);
  });

  it('is ended by us with a BYE to where its peer said', async () => {
    line = new SipLine();
    await begin();
    line.gateway.registry.hangup('call-1@192.0.2.7');
    await settle();
    const [bye = ''] = line.take();
    expect(bye).toMatch(/^BYE sip:caller@192\.0\.2\.7:5062 SIP\/2\.0/);
    expect(line.sent.at(-1)).toMatchObject({ host: '192.0.2.7', port: 5062 });
    expect(calls()).toEqual([['call-1@192.0.2.7', 'ended', 'api']]);
  });

  it.each([
    ['203.0.113.66', []],
    ['198.18.0.9', ['198.18.0.9']],
    ['8.8.8.8', ['8.8.8.8']],
  ])(
    'is ended over the proxy that asked for it, unless that is a neighbour of ours that is no peer: %s',
    async (proxy, reached) => {
      line = new SipLine();
      await line.receive(request('INVITE', { body: OFFER, headers: [`Record-Route: <sip:${proxy};lr>`] }));
      const to = headerIn(line.take().at(-1) ?? '', 'To');
      await line.receive(request('ACK', { to }));
      line.gateway.registry.hangup('call-1@192.0.2.7');
      await settle();
      expect(line.sent.filter(({ text }) => text.startsWith('BYE ')).map(({ host }) => host)).toEqual(reached);
      expect(calls()).toEqual([['call-1@192.0.2.7', 'ended', 'api']]);
    },
  );

  it('is not hung up before its peer has acknowledged the answer', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', { body: OFFER }));
    const to = headerIn(line.take().at(-1) ?? '', 'To');
    void line.gateway.registry.drain(0);
    line.switchboard.close();
    await settle();
    expect(line.media[0]?.closed).toBe(true);
    expect(line.lines()).toEqual([]);
    await line.receive(request('ACK', { to }));
    expect(line.lines()).toEqual([expect.stringMatching(/^BYE /)]);
  });

  it('has its BYE sent again until it is answered', async () => {
    line = new SipLine();
    await begin();
    line.gateway.registry.hangup('call-1@192.0.2.7');
    await line.gateway.clock.run(1600, 100);
    const byes = line.take();
    expect(byes).toHaveLength(3);
    expect(new Set(byes).size).toBe(1);
  });

  it('carries sound and keys both ways', async () => {
    line = new SipLine();
    const to = await begin();
    const [media] = line.media;
    media?.listener?.receiveDigit('7');
    await line.receive(
      request('INFO', { to, cseq: 2, type: 'application/dtmf-relay', body: 'Signal=#\r\nDuration=160\r\n' }),
    );
    await line.receive(request('INFO', { to, cseq: 3, type: 'application/dtmf', body: '5' }));
    await line.receive(request('INFO', { to, cseq: 4, type: 'application/dtmf-relay', body: 'Signal=hello' }));
    await line.receive(request('INFO', { to, cseq: 5 }));
    await line.receive(request('INFO', { to, cseq: 6, type: 'application/media_control+xml', body: '<x/>' }));
    expect(line.gateway.events.flatMap((event) => (event.type === 'dtmf' ? [event.digit] : []))).toEqual([
      '7',
      '#',
      '5',
    ]);
    expect(line.lines()).toEqual([
      ...Array.from({ length: 4 }, () => 'SIP/2.0 200 OK'),
      'SIP/2.0 415 Unsupported Media Type',
    ]);
    line.gateway.registry.voice('call-1@192.0.2.7')?.sendDigits('9');
    await settle();
    expect(media?.pressed).toEqual(['9']);
    for (let i = 0; i < 50; i++)
      media?.listener?.receiveAudio({ bytes: new Uint8Array(160).fill(0xd5), atMs: i * 20, sequence: i + 1 });
    expect(line.gateway.registry.get('call-1@192.0.2.7')).toMatchObject({ durationMs: 1000 });
  });

  it('is held and resumed by its peer, and its description counts the changes', async () => {
    line = new SipLine();
    const to = await begin();
    const offer = (direction: string, version: number) =>
      `${OFFER.replace(' 7 1 ', ` 7 ${version} `)}a=${direction}\r\n`;
    await line.receive(request('INVITE', { to, cseq: 2, body: offer('sendonly', 2), branch: 'z9hG4bKh' }));
    const held = line.take().at(-1) ?? '';
    expect(bodyIn(held)).toMatch(/^o=- \d+ 2 IN/m);
    expect(bodyIn(held)).toContain('a=recvonly');
    expect(headerIn(held, 'Contact')).toBe('<sip:trunkline@198.51.100.1:5060>');
    await line.receive(request('ACK', { to, cseq: 2 }));
    await line.receive(request('INVITE', { to, cseq: 3, body: offer('sendrecv', 3) }));
    expect(bodyIn(line.take().at(-1) ?? '')).toMatch(/^o=- \d+ 3 IN/m);
    expect(line.media[0]?.remotes.map(({ receives }) => receives)).toEqual([true, false, true]);
    const states = line.gateway.events.flatMap((event) => (event.type === 'call.state' ? [event.state] : []));
    expect(states).toEqual(['held', 'live']);
    expect(line.gateway.registry.list()[0]?.phase).toBe('live');
  });

  it('goes on as it was when a new offer cannot be taken', async () => {
    line = new SipLine();
    const to = await begin();
    await line.receive(request('INVITE', { to, cseq: 2, body: OFFER.replace('8 0 101', '18') }));
    expect(line.lines().at(-1)).toBe('SIP/2.0 488 Not Acceptable Here');
    expect(line.media[0]?.remotes).toHaveLength(1);
    expect(calls()).toEqual([['call-1@192.0.2.7', 'live', null]]);
  });

  it('offers anew when it is asked to, all streams that it had, and takes no other offer meanwhile', async () => {
    line = new SipLine();
    const to = await begin({ body: OFFER.replace('m=audio', 'm=video 4100 RTP/AVP 31\r\nm=audio') });
    await line.receive(request('INVITE', { to, cseq: 2 }));
    expect(bodyIn(line.take().at(-1) ?? '').match(/^m=\S+ \d+/gm)).toEqual(['m=video 0', 'm=audio 20000']);
    await line.receive(request('UPDATE', { to, cseq: 3, body: OFFER }));
    expect(line.lines()).toEqual(['SIP/2.0 491 Request Pending']);
    await line.receive(request('ACK', { to, cseq: 2, body: OFFER.replace('4000', '4002') }));
    expect(line.media[0]?.remotes.at(-1)).toMatchObject({ port: 4002 });
  });

  it('may be refreshed and changed by UPDATE, repeated ones being answered alike', async () => {
    line = new SipLine();
    const to = await begin();
    await line.receive(request('UPDATE', { to, cseq: 2 }));
    const moved = request('UPDATE', { to, cseq: 3, body: OFFER.replace('4000', '4004') });
    await line.receive(moved);
    await line.receive(moved);
    await line.receive(request('UPDATE', { to, cseq: 2 }));
    const answers = line.take();
    expect(answers.map((text) => text.slice(8, 11))).toEqual(['200', '200', '200', '500']);
    expect(bodyIn(answers[2] ?? '')).toBe(bodyIn(answers[1] ?? ''));
    expect(line.media[0]?.remotes).toHaveLength(2);
    await line.receive(request('UPDATE', { to: `${to}x`, cseq: 4 }));
    expect(line.lines()).toEqual(['SIP/2.0 481 Call/Transaction Does Not Exist']);
  });

  it('ends when no media come any more, and its peer is told', async () => {
    line = new SipLine();
    await begin();
    line.media[0]?.timeOut();
    await settle();
    expect(line.lines()).toEqual([expect.stringMatching(/^BYE /)]);
    expect(calls()).toEqual([['call-1@192.0.2.7', 'ended', 'timeout']]);
  });

  it('ends when the gateway shuts down, and new ones are refused', async () => {
    line = new SipLine();
    await begin();
    void line.gateway.registry.drain(0);
    await line.gateway.clock.run(20, 10);
    expect(line.lines()).toEqual([expect.stringMatching(/^BYE /)]);
    await line.receive(request('INVITE', { body: OFFER, callId: 'call-2' }));
    await line.receive(request('OPTIONS', { callId: 'call-3' }));
    expect(line.lines().filter((first) => !first.startsWith('BYE'))).toEqual([
      'SIP/2.0 503 Service Unavailable',
      'SIP/2.0 503 Service Unavailable',
    ]);
  });

  it('of a peer behind a NAT is told where it spoke from', async () => {
    line = new SipLine();
    const source = { ...PEER, address: '192.0.2.99', port: 40_000 };
    await line.receive(request('INVITE', { body: OFFER }).replace('caller@192.0.2.7', 'caller@10.0.0.5'), source);
    await line.receive(request('ACK', { to: headerIn(line.take().at(-1) ?? '', 'To') }), source);
    line.gateway.registry.hangup('call-1@192.0.2.7');
    await settle();
    expect(line.lines()).toEqual(['BYE sip:caller@192.0.2.99:40000 SIP/2.0']);
    expect(line.sent.at(-1)).toMatchObject({ host: '192.0.2.99', port: 40_000 });
  });
});
