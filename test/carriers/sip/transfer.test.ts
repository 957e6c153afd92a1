/** Transfers by REFER, message by message. */
import { afterEach, describe, expect, it } from 'vitest';
import type { CallLeg, TransferOutcome, TransferRequest } from '../../../src/calls/leg.ts';
import { settle } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';
import { answer, headerIn, OFFER, request, SipLine } from './line.ts';

const TO_6002: TransferRequest = { to: '6002', from: null, timeoutMs: 30_000, handoffData: null };

let line: SipLine;
let legs: CallLeg[];
/** `To` of the peer's requests in the call, with our tag. */
let to: string;
afterEach(() => line.close());

/** A call of the peer that is live. */
async function begin(): Promise<CallLeg> {
  line = new SipLine();
  legs = [];
  const { registry } = line.gateway;
  const accept = registry.accept.bind(registry);
  registry.accept = (options) =>
    accept({
      ...options,
      connect: (handlers) => {
        const leg = options.connect(handlers);
        legs.push(leg);
        return leg;
      },
    });
  await line.receive(request('INVITE', { body: OFFER, branch: 'z9hG4bKinvite' }));
  to = headerIn(line.take().at(-1) ?? '', 'To');
  await line.receive(request('ACK', { to }));
  const [leg] = legs;
  if (leg === undefined) throw new Error('there is no call');
  return leg;
}

interface Asked {
  readonly refer: string;
  /** What became of it; null = nothing yet. */
  outcome: TransferOutcome | null;
}

/** Asks for a transfer, and what was sent. */
async function transfer(leg: CallLeg, wanted: Partial<TransferRequest> = {}): Promise<Asked> {
  const promise = leg.transfer?.({ ...TO_6002, ...wanted });
  await settle();
  const asked: Asked = { refer: line.take().at(-1) ?? '', outcome: null };
  void promise?.then((outcome) => {
    asked.outcome = outcome;
  });
  await settle();
  return asked;
}

let sequence = 1;
/** The first line of our answer to a NOTIFY of the peer. */
async function notify(
  body: string,
  {
    state = 'active;expires=60',
    event = 'refer',
    type = 'message/sipfrag;version=2.0',
  }: { state?: string; event?: string; type?: string } = {},
): Promise<string> {
  const headers = [`Event: ${event}`, `Subscription-State: ${state}`];
  await line.receive(request('NOTIFY', { to, cseq: ++sequence, body, type, headers }));
  return line.lines().at(-1) ?? '';
}

const OVER = { state: 'terminated;reason=noresource' };

describe('a transfer', () => {
  it('asks the peer to call somebody at the host that it calls from', async () => {
    const { refer } = await transfer(await begin());
    expect(refer).toMatch(/^REFER sip:caller@192\.0\.2\.7:5062 SIP\/2\.0/);
    expect(headerIn(refer, 'Refer-To')).toBe('<sip:6002@192.0.2.7>');
    expect(headerIn(refer, 'Referred-By')).toBe('<sip:+14155550100@198.51.100.1>');
    expect(headerIn(refer, 'Contact')).toContain('trunkline@198.51.100.1');
  });

  it('is done when the peer says that it was answered', async () => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, '202 Accepted'));
    expect(await notify('SIP/2.0 100 Trying')).toBe('SIP/2.0 200 OK');
    await notify('SIP/2.0 180 Ringing\r\n');
    expect(asked.outcome).toBeNull();
    await notify('SIP/2.0 200 OK\r\n', OVER);
    expect(asked.outcome).toBe('transferred');
  });

  it.each([
    ['486 Busy Here', 'busy'],
    ['600 Busy Everywhere', 'busy'],
    ['408 Request Timeout', 'unanswered'],
    ['480 Temporarily Unavailable', 'unanswered'],
    ['603 Decline', 'refused'],
    ['404 Not Found', 'refused'],
  ])('fails when the peer says %s', async (status, outcome) => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, '202 Accepted'));
    await notify(`SIP/2.0 ${status}`, OVER);
    expect(asked.outcome).toBe(outcome);
    expect(line.gateway.registry.liveCount).toBe(1);
  });

  it.each([
    ['405 Method Not Allowed', 'unsupported'],
    ['501 Not Implemented', 'unsupported'],
    ['603 Decline', 'refused'],
    ['302 Moved Temporarily', 'refused'],
    ['481 Call/Transaction Does Not Exist', 'refused'],
  ])('fails when the peer answers REFER with %s', async (status, outcome) => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, status));
    expect(asked.outcome).toBe(outcome);
  });

  it('fails when nobody has answered in time; news that come later change nothing', async () => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, '202 Accepted'));
    await notify('SIP/2.0 180 Ringing');
    line.gateway.clock.advance(30_000);
    await settle();
    expect(asked.outcome).toBe('unanswered');
    expect(await notify('SIP/2.0 200 OK', OVER)).toBe('SIP/2.0 200 OK');
    expect(asked.outcome).toBe('unanswered');
  });

  it('is done when the peer that took it hangs up, before the call is told', async () => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, '202 Accepted'));
    await line.receive(request('BYE', { to, cseq: ++sequence }));
    expect(asked.outcome).toBe('transferred');
    await eventually(() => expect(line.gateway.registry.liveCount).toBe(0));
  });

  it('fails when the peer hangs up without having taken it', async () => {
    const asked = await transfer(await begin());
    await line.receive(request('BYE', { to, cseq: ++sequence }));
    expect(asked.outcome).toBe('refused');
  });

  it('is done when a peer that took it will tell no more', async () => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, '202 Accepted'));
    await notify('SIP/2.0 100 Trying', OVER);
    expect(asked.outcome).toBe('transferred');
  });

  it('fails when the call ends here meanwhile, and the peer gets a BYE', async () => {
    const leg = await begin();
    const asked = await transfer(leg);
    leg.close(1000, 'over');
    await settle();
    expect(asked.outcome).toBe('refused');
    expect(line.lines()).toContainEqual(expect.stringMatching(/^BYE /));
  });

  it('can be asked for again after a failure, and not twice at once', async () => {
    const leg = await begin();
    const first = await transfer(leg);
    expect((await transfer(leg)).outcome).toBe('refused');
    await line.receive(answer(first.refer, '603 Decline'));
    const { refer } = await transfer(leg, { to: 'sip:sales@example.com;transport=tcp' });
    expect(headerIn(refer, 'Refer-To')).toBe('<sip:sales@example.com;transport=tcp>');
  });

  it.each(['', 'default/6002', 'sip:', '6002>\r\nX-Evil: 1', 'sip:a@b?Replaces=x', 'a b', 'x'.repeat(300)])(
    'to %j is not tried',
    async (target) => {
      const asked = await transfer(await begin(), { to: target });
      expect([asked.outcome, asked.refer]).toEqual(['unsupported', '']);
    },
  );
});

describe('a NOTIFY', () => {
  it('without a transfer is refused', async () => {
    await begin();
    expect(await notify('SIP/2.0 200 OK', OVER)).toMatch(/^SIP\/2\.0 481/);
    expect(line.gateway.registry.liveCount).toBe(1);
  });

  it('of another event is refused, during a transfer, too', async () => {
    const asked = await transfer(await begin());
    expect(await notify('Messages-Waiting: yes', { event: 'message-summary' })).toMatch(/^SIP\/2\.0 489/);
    expect(asked.outcome).toBeNull();
  });

  it.each([
    ['nothing', ''],
    ['no status', 'OK'],
    ['a status of four digits', 'SIP/2.0 2000 OK'],
    ['a status that is none', 'SIP/2.0 999 Odd'],
    ['a status in its second line', '\r\nSIP/2.0 200 OK'],
    ['a request', 'INVITE sip:a@b SIP/2.0'],
  ])('that says %s changes nothing', async (_, body) => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, '202 Accepted'));
    expect(await notify(body)).toBe('SIP/2.0 200 OK');
    expect(asked.outcome).toBeNull();
  });

  it('whose body is something else tells no status', async () => {
    const asked = await transfer(await begin());
    await line.receive(answer(asked.refer, '202 Accepted'));
    await notify('SIP/2.0 200 OK', { type: 'text/plain' });
    expect(asked.outcome).toBeNull();
  });

  it('from outside of the call is refused', async () => {
    const asked = await transfer(await begin());
    await line.receive(
      request('NOTIFY', {
        to: '<sip:+14155550100@198.51.100.1>;tag=guessed',
        cseq: 9,
        type: 'message/sipfrag',
        body: 'SIP/2.0 200 OK',
        headers: ['Event: refer', 'Subscription-State: terminated'],
      }),
    );
    expect(line.lines().at(-1)).toMatch(/^SIP\/2\.0 481/);
    expect(asked.outcome).toBeNull();
  });
});
