/** Calls of ours whose first trunk does not take them. */
import { afterEach, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../src/carriers/sip/outgoing.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, headerIn, OFFER, SipLine } from './line.ts';
import { CONTACT, dial, ID } from './timed-call.ts';

const FIRST = '192.0.2.7';
const SECOND = '192.0.2.8';

let line: SipLine;
afterEach(() => line.close());

/** Dials over two trunks; returns the first INVITE. */
function begin(timeoutMs?: number): Promise<string> {
  line = new SipLine();
  return dial(line, { hosts: [FIRST, SECOND], ...(timeoutMs !== undefined && { timeoutMs }) });
}

const ended = () => {
  const { state, endReason, sip } = line.gateway.registry.get(ID) ?? {};
  return [state, endReason, sip];
};

/** The INVITE to the second trunk among what was sent since the last look. */
const toSecond = (): string => line.take().find((text) => text.startsWith(`INVITE sip:+14155550100@${SECOND}`)) ?? '';

describe('a trunk that does not take a call', () => {
  it.each(['408 Request Timeout', '500 Server Internal Error', '503 Service Unavailable', '504 Server Time-out'])(
    'and says %s is followed by the next one, which has the call',
    async (status) => {
      const invite = await begin();
      await line.receive(answer(invite, status));
      const second = toSecond();
      expect(headerIn(second, 'From')).toMatch(/^<sip:1001@192\.0\.2\.8>/);
      expect(headerIn(second, 'Call-ID')).not.toBe(headerIn(invite, 'Call-ID'));
      await line.receive(answer(second, '200 OK', [CONTACT], OFFER));
      expect(ended()).toEqual(['live', null, null]);
      expect(line.media.map(({ closed }) => closed)).toEqual([true, false]);
      const [entry] = line.gateway.logLines.filter((text) => text.includes('the next one is tried'));
      expect(JSON.parse(entry ?? '{}')).toMatchObject({ trunk: FIRST, next: SECOND, status: Number.parseInt(status) });
    },
  );

  it.each(['404 Not Found', '486 Busy Here', '603 Decline', '488 Not Acceptable Here'])(
    'because of whom it is for (%s) has the last word',
    async (status) => {
      const invite = await begin();
      await line.receive(answer(invite, status));
      expect(toSecond()).toBe('');
      expect(ended()[0]).toBe('ended');
    },
  );

  it('and gives no sign is given up after five seconds, and cancelled should it wake up', async () => {
    const invite = await begin();
    await line.gateway.clock.run(PATIENCE_MS, 500);
    const second = toSecond();
    expect(second).not.toBe('');
    await line.receive(answer(invite, '100 Trying'));
    expect(line.lines()).toEqual([expect.stringMatching(/^CANCEL sip:\+14155550100@192\.0\.2\.7/)]);
    await line.receive(answer(second, '200 OK', [CONTACT], OFFER));
    line.take();
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(line.lines().map((text) => text.split(' ')[0])).toEqual(['ACK', 'BYE']);
    expect(ended()).toEqual(['live', null, null]);
    expect(line.signs).toContain(`${FIRST} silent`);
  });

  it('is waited for where it has said that it tries', async () => {
    const invite = await begin();
    await line.receive(answer(invite, '100 Trying'));
    await line.gateway.clock.run(20_000, 500);
    expect(toSecond()).toBe('');
  });

  it('after somebody’s telephone has rung is not followed by another that rings it again', async () => {
    const invite = await begin();
    await line.receive(answer(invite, '180 Ringing', [CONTACT]));
    await line.receive(answer(invite, '408 Request Timeout'));
    expect(toSecond()).toBe('');
    expect(ended()).toEqual(['ended', 'unanswered', { status: 408, reason: 'Request Timeout' }]);
  });

  it('and was the last one ends the call with what it answered', async () => {
    const invite = await begin();
    await line.receive(answer(invite, '503 Service Unavailable'));
    await line.receive(answer(toSecond(), '500 Overload'));
    expect(ended()).toEqual(['ended', 'refused', { status: 500, reason: 'Overload' }]);
    expect(line.media.map(({ closed }) => closed)).toEqual([true, true]);
  });

  it('takes its time from that of the call', async () => {
    await begin(7000);
    await line.gateway.clock.run(PATIENCE_MS, 500);
    expect(toSecond()).not.toBe('');
    await line.gateway.clock.run(2000, 500);
    expect(ended()).toEqual(['ended', 'unanswered', { status: 408, reason: 'No answer' }]);
  });

  it('has no successor when the call is given up meanwhile', async () => {
    const invite = await begin();
    let open = (): void => undefined;
    line.held = new Promise((resolve) => {
      open = resolve;
    });
    await line.receive(answer(invite, '503 Service Unavailable'));
    line.gateway.registry.hangup(ID);
    open();
    await settle();
    expect(toSecond()).toBe('');
    expect(line.media.map(({ closed }) => closed)).toEqual([true, true]);
  });
});

describe('a call that nobody takes', () => {
  it('tells in its event what the trunk answered last', async () => {
    line = new SipLine();
    const invite = await dial(line);
    await line.receive(answer(invite, '404 No such number'));
    const sip = { status: 404, reason: 'No such number' };
    expect(line.gateway.events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'refused', sip });
    expect(line.gateway.logLines.join()).toContain('"sipStatus":404');
    expect(line.gateway.logLines.join()).not.toContain('No such number');
  });

  it('tells that it rang, where that is all that came', async () => {
    line = new SipLine();
    const invite = await dial(line, { timeoutMs: 9000 });
    await line.receive(answer(invite, '180 Ringing', [CONTACT]));
    await line.gateway.clock.run(8000, 500);
    expect(ended()[0]).toBe('dialing');
    await line.gateway.clock.run(1000, 500);
    expect(ended()).toEqual(['ended', 'unanswered', { status: 180, reason: 'Ringing' }]);
  });
});
