/**
 * Session timers, message by message: what peers are given, and what becomes of a call whose peer does not show that it
 * still exists.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { headerIn, OFFER, request, SipLine } from './line.ts';
import { endReason, methodsIn, pass, ring, TIMER } from './timed-call.ts';

let line: SipLine;
afterEach(() => line.close());

describe('a peer that demands a session timer', () => {
  it('gets one, and is told that it refreshes', async () => {
    line = new SipLine();
    const { ok } = await ring(line, ['Require: timer', 'Session-Expires: 1800;refresher=uac']);
    expect(headerIn(ok, 'Session-Expires')).toBe('1800;refresher=uac');
    expect(headerIn(ok, 'Require')).toBe('timer');
    expect(headerIn(ok, 'Supported')).toBe('timer, siprec, replaces');
  });

  it('may have it shorter, and even if we ask for none ourselves', async () => {
    line = new SipLine({ SIP_SESSION_EXPIRES_SECONDS: '0' });
    const { ok } = await ring(line, [TIMER, 'x: 600']);
    expect(headerIn(ok, 'Session-Expires')).toBe('600;refresher=uac');
  });

  it('is told how short it may be', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', { body: OFFER, headers: [TIMER, 'Session-Expires: 60'] }));
    const refusal = line.take().at(-1) ?? '';
    expect(refusal).toMatch(/^SIP\/2\.0 422 /);
    expect(headerIn(refusal, 'Min-SE')).toBe('90');
    expect(line.media.every(({ closed }) => closed)).toBe(true);
    expect(line.gateway.registry.liveCount).toBe(0);
  });

  it('that can but does not ask is given one that is our work', async () => {
    line = new SipLine();
    const { ok } = await ring(line, [TIMER]);
    expect(headerIn(ok, 'Session-Expires')).toBe('1800;refresher=uas');
  });

  it.each([
    ['cannot', [], {}],
    ['need not', [TIMER], { SIP_SESSION_EXPIRES_SECONDS: '0' }],
  ])('is not asked for one where it %s', async (_what, headers, environment) => {
    line = new SipLine(environment);
    const { ok } = await ring(line, headers);
    expect(headerIn(ok, 'Session-Expires')).toBe('');
    await pass(line, 20_000);
    expect(endReason(line)).toBeNull();
  });

  it('finds that we know it when it asks what we know', async () => {
    line = new SipLine();
    // An answer over UDP is no longer than its request.
    await line.receive(request('OPTIONS', { headers: [`X-Long: ${'x'.repeat(200)}`] }));
    expect(headerIn(line.take().at(-1) ?? '', 'Supported')).toBe('timer, siprec, replaces');
  });
});

describe('a peer that refreshes', () => {
  it('and does not is hung up before the session expires', async () => {
    line = new SipLine();
    await ring(line, [TIMER, 'Session-Expires: 90;refresher=uac']);
    expect(await pass(line, 59)).toEqual([]);
    expect(methodsIn(await pass(line, 2))).toEqual(['BYE']);
    expect(endReason(line)).toBe('timeout');
    expect(line.refreshes).toEqual(['peer expired']);
    expect(line.gateway.logLines.join()).toContain('its session was not refreshed in time');
  });

  it('has 32 seconds of margin at most', async () => {
    line = new SipLine();
    await ring(line, [TIMER, 'Session-Expires: 1800;refresher=uac']);
    expect(await pass(line, 1767)).toEqual([]);
    expect(methodsIn(await pass(line, 2))).toEqual(['BYE']);
  });

  it.each(['UPDATE', 'INVITE'])('by %s is told the new session, and goes on', async (method) => {
    line = new SipLine();
    const { to } = await ring(line, [TIMER, 'Session-Expires: 90;refresher=uac']);
    await pass(line, 45);
    const headers = [TIMER, 'Session-Expires: 120;refresher=uac'];
    await line.receive(request(method, { to, cseq: 2, headers, body: method === 'INVITE' ? OFFER : '' }));
    if (method === 'INVITE') await line.receive(request('ACK', { to, cseq: 2 }));
    const ok = line.take().at(-1) ?? '';
    expect(ok).toMatch(/^SIP\/2\.0 200/);
    expect(headerIn(ok, 'Session-Expires')).toBe('120;refresher=uac');
    expect(headerIn(ok, 'Require')).toBe('timer');
    expect(await pass(line, 87)).toEqual([]);
    expect(methodsIn(await pass(line, 2))).toEqual(['BYE']);
    expect(line.refreshes).toEqual(['peer accepted', 'peer expired']);
  });

  it('too often is told so, and has not refreshed', async () => {
    line = new SipLine();
    const { to } = await ring(line, [TIMER, 'Session-Expires: 90;refresher=uac']);
    for (const [method, cseq] of [
      ['UPDATE', 2],
      ['INVITE', 3],
    ] as const) {
      await line.receive(
        request(method, { to, cseq, headers: [TIMER, 'Session-Expires: 5'], body: method === 'INVITE' ? OFFER : '' }),
      );
      const refusal = line.take().at(-1) ?? '';
      expect([refusal.slice(8, 11), headerIn(refusal, 'Min-SE')]).toEqual(['422', '90']);
    }
    expect(methodsIn(await pass(line, 61))).toContain('BYE');
  });

  it('with a description that was said before does not pass for one that sends sound', async () => {
    line = new SipLine();
    const { to } = await ring(line, [TIMER, 'Session-Expires: 90']);
    await line.receive(request('INVITE', { to, cseq: 2, headers: [TIMER, 'Session-Expires: 90'], body: OFFER }));
    expect(line.media[0]?.remotes).toHaveLength(1);
  });

  it('may end the session timer', async () => {
    line = new SipLine({ SIP_SESSION_EXPIRES_SECONDS: '0' });
    const { to } = await ring(line, [TIMER, 'Session-Expires: 90']);
    await line.receive(request('UPDATE', { to, cseq: 2, headers: [TIMER] }));
    expect(headerIn(line.take().at(-1) ?? '', 'Session-Expires')).toBe('');
    expect(await pass(line, 300)).toEqual([]);
  });

  it('leaves nothing behind when the call is over', async () => {
    line = new SipLine();
    const { to } = await ring(line, [TIMER, 'Session-Expires: 90']);
    await line.receive(request('BYE', { to, cseq: 2 }));
    line.take();
    expect(await pass(line, 300)).toEqual([]);
  });
});
