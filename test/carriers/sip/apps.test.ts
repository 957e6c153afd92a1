/** What the app of a SIP call learns of it. */
import { afterEach, describe, expect, it } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { startWebhook } from '../../helpers/webhook.ts';
import { headerIn, OFFER, request, SipLine } from './line.ts';

let line: SipLine;
afterEach(() => line.close());

const invite = (options: Parameters<typeof request>[1]) =>
  request('INVITE', { body: OFFER, branch: 'z9hG4bKinvite', ...options });

/** The peer calls, and acknowledges our answer. */
async function begin(message: string): Promise<void> {
  await line.receive(message);
  const ok = line.take().at(-1) ?? '';
  expect(ok).toMatch(/^SIP\/2\.0 200/);
  await line.receive(
    request('ACK', { to: headerIn(ok, 'To'), uri: 'sip:trunkline@198.51.100.1:5060', callId: headerIn(ok, 'Call-ID') }),
  );
}

describe('an INVITE', () => {
  it.each([
    ['"Ann \\"A\\" B" <sip:1@h>', [], { callerName: 'Ann "A" B' }],
    [
      'Ann B <sip:1@h>',
      ['Diversion: "x, y" <sip:+14155550111@h>;reason=busy, <sip:2@h>'],
      { callerName: 'Ann B', forwardedFrom: '+14155550111' },
    ],
    [
      '<sip:1@h>',
      ['History-Info: <sip:100@h>;index=1', 'History-Info: <sip:200@h?Reason=x>;index=1.1'],
      { forwardedFrom: '100' },
    ],
    ['"J\u00c3\u00bcrgen" <sip:1@h>', ['History-Info: <sip:100@h>;index=1'], { callerName: 'J\u00fcrgen' }],
    ['"Anonymous" <sip:anonymous@anonymous.invalid>', [], {}],
    ['sip:1@h', [], {}],
  ])('from %s %j tells the app who it is', async (caller, headers, details) => {
    const app = await startApp();
    line = new SipLine({ APP_URL: app.url });
    await begin(invite({ headers }).replace(/^From: [^;]*/m, () => `From: ${caller}`));
    await app.until(({ frames }) => frames.length > 0);
    expect(app.frames[0]).toMatchObject({ callerName: '', forwardedFrom: '', ...details });
    await app.close();
  });

  it("is held as its app's TwiML says", async () => {
    const webhook = await startWebhook();
    webhook.answers['/voice'] = '<Say>One moment.</Say><Pause/><Hangup/>';
    line = new SipLine({ APP_TWIML_URL: `${webhook.origin}/voice`, OUTBOUND_ALLOW: 'apps=127.0.0.0/8' });
    await begin(invite({ headers: ['Diversion: <sip:+14155550111@h>'] }));
    const { fields } = await webhook.until(1);
    await line.gateway.context.apps.twiml.settled();
    expect(fields).toMatchObject({
      CallSid: 'call-1@192.0.2.7',
      From: '+14155550199',
      ForwardedFrom: '+14155550111',
      Direction: 'inbound',
    });
    for (let turns = 0; turns < 500 && line.gateway.registry.liveCount > 0; turns++) await line.gateway.clock.run(20);
    expect(line.gateway.registry.list()).toMatchObject([{ id: 'call-1@192.0.2.7', state: 'ended', endReason: 'app' }]);
    expect(line.gateway.events).toContainEqual(
      expect.objectContaining({ type: 'spoken', text: 'One moment.', interrupted: false }),
    );
    await webhook.close();
  });
});
