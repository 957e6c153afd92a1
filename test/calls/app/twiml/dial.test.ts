import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TransferOutcome, TransferRequest } from '../../../../src/calls/leg.ts';
import { startWebhook, type TestWebhook } from '../../../helpers/webhook.ts';
import { type Caller, type Gateway, startCalls } from '../../harness.ts';
import { passUntil } from './passing.ts';

let webhook: TestWebhook;
let gateway: Gateway;
let caller: Caller;
let asked: TransferRequest[];
beforeEach(async () => {
  asked = [];
  webhook = await startWebhook();
});
afterEach(async () => {
  const drained = gateway.registry.drain(0);
  await passUntil(gateway, caller, () => gateway.registry.liveCount === 0);
  await drained;
  await webhook.close();
});

/** A call whose app answers `verbs`, at a carrier that transfers calls with `outcome`; null = it cannot. */
function call(verbs: string, outcome: TransferOutcome | null): void {
  webhook.answers['/voice'] = verbs;
  const app = { APP_TWIML_URL: `${webhook.origin}/voice`, OUTBOUND_ALLOW: 'apps=127.0.0.0/8', APP_GONE_TEXT: 'Sorry.' };
  gateway = startCalls({ ...app, APP_RECONNECT_MS: '0' });
  const transfer = async (_start: unknown, request: TransferRequest): Promise<TransferOutcome> => {
    asked.push(request);
    return outcome ?? 'unsupported';
  };
  caller = gateway.dial(outcome === null ? {} : { transfer }).start();
}

const spoken = () => gateway.events.flatMap((event) => (event.type === 'spoken' ? [event.text] : []));
const reasons = () => gateway.events.flatMap((event) => (event.type === 'call.ended' ? [event.reason] : []));
const ended = () => passUntil(gateway, caller, () => reasons().length > 0);
const warnings = () => gateway.logLines.filter((line) => line.includes('"level":40')).join('\n');

describe('<Dial>', () => {
  it('gives the call away, when what was said before it is heard, and is the end of it here', async () => {
    call('<Say>One moment.</Say><Dial action="/dialled">+14155550100</Dial><Say>Never.</Say>', 'transferred');
    await ended();
    expect(asked).toEqual([{ to: '+14155550100', from: null, timeoutMs: 30_000, handoffData: null }]);
    expect([spoken(), reasons(), webhook.paths]).toEqual([['One moment.'], ['app'], ['/voice']]);
    expect(gateway.logLines.join()).not.toContain('4155550100');
  });

  it.each([
    ['busy', 'busy'],
    ['unanswered', 'no-answer'],
    ['refused', 'failed'],
  ] as const)('that came to nothing is told to its action, whose verbs follow: %s', async (outcome, status) => {
    webhook.answers['/dialled'] = '<Say>Nobody is there.</Say>';
    call('<Dial action="/dialled"><Number>600</Number></Dial><Say>Never.</Say>', outcome);
    await ended();
    const fields = { CallSid: 'CA1', CallStatus: 'in-progress', DialCallStatus: status };
    expect(webhook.asked[1]).toMatchObject({ method: 'POST', path: '/dialled', fields });
    expect([spoken(), reasons()]).toEqual([['Nobody is there.'], ['app']]);
  });

  it('without an action leads to the next verb, another <Dial> too', async () => {
    call('<Dial>600</Dial><Dial><Sip>anna@pbx.example.com</Sip></Dial><Say>Bye.</Say>', 'busy');
    await ended();
    expect(asked.map(({ to }) => to)).toEqual(['600', 'sip:anna@pbx.example.com']);
    expect([spoken(), reasons()]).toEqual([['Bye.'], ['app']]);
  });

  it('at a carrier that cannot transfer is told to the action as failed', async () => {
    webhook.answers['/dialled'] = '<Say>Call us later.</Say>';
    call('<Dial action="/dialled">600</Dial>', null);
    await ended();
    expect([spoken(), webhook.asked[1]?.fields['DialCallStatus']]).toEqual([['Call us later.'], 'failed']);
    expect(warnings()).toContain('the carrier cannot transfer the call');
  });

  it('at a carrier that cannot transfer, without an action, does not leave the caller without a word', async () => {
    call('<Dial>600</Dial>', null);
    await ended();
    expect([spoken(), reasons()]).toEqual([['Sorry.'], ['app']]);
  });

  it('does not ring one after the other for ever', async () => {
    call('<Dial>600</Dial>'.repeat(60), 'busy');
    await ended();
    expect([asked.length, spoken()]).toEqual([50, ['Sorry.']]);
    expect(warnings()).toContain('"dials":51');
  });

  it('is not done when the caller hangs up before it', async () => {
    call('<Pause length="60"/><Dial>600</Dial>', 'transferred');
    await webhook.until(1);
    caller.stop();
    await ended();
    await gateway.clock.run(100_000, 10_000);
    expect(asked).toEqual([]);
  });
});

describe('a verb that is refused', () => {
  it.each([
    ['<Enqueue>support</Enqueue>', '"verb":"Enqueue","action":"end","instead":"a flow with queueMusic'],
    ['<Dial><Client>ann</Client></Dial>', '"verb":"Dial","action":"end","instead":"one number, or one <Sip>"'],
  ])('has in the log what to use: %s', async (verb, line) => {
    call(`${verb}<Say>Never.</Say>`, 'transferred');
    await ended();
    expect([asked, spoken()]).toEqual([[], ['Sorry.']]);
    expect(warnings()).toContain(line);
  });
});
