import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AppServices } from '../../../../src/calls/app/services.ts';
import { startApp, type TestApp } from '../../../helpers/app.ts';
import { startWebhook, type TestWebhook } from '../../../helpers/webhook.ts';
import { type Caller, type Gateway, startCalls } from '../../harness.ts';
import { passUntil } from './passing.ts';

const OWN = { OUTBOUND_ALLOW: 'apps=127.0.0.0/8', APP_RECONNECT_MS: '0' };

type Recordings = Pick<AppServices, 'fetchAudio'>;

let app: TestApp;
let webhook: TestWebhook;
let gateway: Gateway;
let caller: Caller;
beforeEach(async () => {
  [app, webhook] = await Promise.all([startApp(), startWebhook()]);
});
afterEach(async () => {
  const drained = gateway.registry.drain(0);
  await pass(() => gateway.registry.liveCount === 0);
  await drained;
  await Promise.all([app.close(), webhook.close()]);
});

/** A call whose app is asked for TwiML at /voice. */
function call(
  environment: Record<string, string> = {},
  parameters: Record<string, string> = {},
  recordings?: Recordings,
): void {
  gateway = startCalls({ APP_TWIML_URL: `${webhook.origin}/voice`, ...OWN, ...environment });
  Object.assign(gateway.context.apps, recordings);
  caller = gateway.dial().start({ parameters });
}

/** Lets time pass, and what comes over the network come, until `holds`. */
const pass = (holds: () => boolean) => passUntil(gateway, caller, holds);

/** The same, but that no time passes: only the network is waited for. */
async function arrive(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns > 20_000) throw new Error('it did not come');
    await new Promise(setImmediate);
  }
}

const relay = (attributes = '', inside = '', connect = 'action="/done"') =>
  `<Connect ${connect}><ConversationRelay url="${app.url.replace('/calls', '/calls/CA1')}" ` +
  `${attributes}>${inside}</ConversationRelay></Connect>`;
const spoken = () => gateway.events.flatMap((event) => (event.type === 'spoken' ? [event.text] : []));
const reasons = () => gateway.events.flatMap((event) => (event.type === 'call.ended' ? [event.reason] : []));
const ended = () => pass(() => reasons().length > 0);
const warnings = () => gateway.logLines.filter((line) => line.includes('"level":40')).join('\n');

describe("the app's TwiML", () => {
  it('names what is likely to be said: its hints are hot words of the call', async () => {
    webhook.answers['/voice'] = relay('hints="Müller, Trunk line"');
    call({}, { hotWords: 'ISDN' });
    await pass(() => app.of('setup').length > 0);
    caller.speak(640);
    await gateway.clock.run(100);
    caller.hush(600);
    await pass(() => gateway.engine.transcribed.length > 0);
    expect(gateway.engine.transcribed[0]).toMatchObject({ hotWords: ['ISDN', 'Müller', 'Trunk line'] });
  });

  it('is asked for as Twilio asks, and its ConversationRelay is held as it says', async () => {
    webhook.answers['/voice'] = relay(
      'welcomeGreeting="Welcome." language="en-GB" partialPrompts="true"',
      '<Parameter name="customer" value="7"/><Parameter name="voice" value="own"/>',
    );
    call({}, { from: '+14155550100', to: '+14155550199', callerName: 'Ann', forwardedFrom: '+1', line: 'x' });
    await arrive(() => app.frames.length > 0);
    expect(webhook.asked[0]).toMatchObject({
      method: 'POST',
      path: '/voice',
      fields: {
        CallSid: 'CA1',
        AccountSid: 'AC1',
        From: '+14155550100',
        To: '+14155550199',
        CallStatus: 'ringing',
        Direction: 'inbound',
        ApiVersion: '2010-04-01',
        CallerName: 'Ann',
        ForwardedFrom: '+1',
      },
    });
    expect(app.requests[0]?.url).toBe('/calls/CA1?x=1');
    expect(app.frames[0]).toMatchObject({
      callSid: 'CA1',
      accountSid: 'AC1',
      callerName: 'Ann',
      forwardedFrom: '+1',
      customParameters: { line: 'x', customer: '7', voice: 'own' },
    });
    await pass(() => spoken().length > 0);
    caller.speak(640);
    await gateway.clock.run(100);
    caller.hush(600);
    await pass(() => app.of('prompt').length > 0);
    expect([spoken(), app.of('prompt')[0]]).toMatchObject([['Welcome.'], { lang: 'en-GB' }]);
  });

  it.each([
    ['', false],
    ['dtmfDetection="true"', true],
  ])('says whether keys are told: %s', async (attributes, told) => {
    webhook.answers['/voice'] = relay(attributes);
    call();
    await arrive(() => app.frames.length > 0);
    caller.press('5');
    await app.exchanged();
    expect(app.of('dtmf')).toHaveLength(told ? 1 : 0);
  });

  it('names voices by language, and one that is not there silences nothing in a verb', async () => {
    webhook.answers['/voice'] = `<Say voice="Polly.Nobody" language="xx-XX">Hello.</Say>`;
    call();
    await ended();
    expect([spoken(), reasons()]).toEqual([['Hello.'], ['app']]);
    expect(gateway.engine.spoken).toMatchObject([{ text: 'Hello.', voice: 'rms' }]);
  });

  it('may be named by the call itself, where its origin is one of ours', async () => {
    webhook.answers['/own'] = '<Hangup/>';
    call(
      {
        APP_URL: 'ws://127.0.0.1:9/',
        APP_TWIML_URL: '',
        APP_ALLOWED_ORIGINS: app.url.replace(/:\d+\/.*/, `:${new URL(webhook.origin).port}`),
      },
      { twiml: `${webhook.origin}/own` },
    );
    await ended();
    expect([webhook.paths, reasons()]).toEqual([['/own'], ['app']]);
  });

  it('is not asked of a stranger that a call names', async () => {
    gateway = startCalls({ APP_URL: '', ...OWN });
    caller = gateway.dial().start({ parameters: { twiml: `${webhook.origin}/own` } });
    await gateway.clock.run(500);
    expect(webhook.asked).toEqual([]);
    expect(warnings()).toContain('APP_ALLOWED_ORIGINS');
  });

  it('gives way to an app that the call names', async () => {
    call({ APP_ALLOWED_ORIGINS: new URL(app.url).origin }, { app: app.url });
    await arrive(() => app.frames.length > 0);
    expect(webhook.asked).toEqual([]);
  });
});

describe('the verbs of a document', () => {
  it('are done in their order; the end of the document is the end of the call', async () => {
    webhook.answers['/voice'] =
      '<Say loop="2">One.</Say><Pause length="2"/><Play>/a.wav</Play><Play ' +
      'digits="1"/><Redirect>/two</Redirect><Say>Never.</Say>';
    webhook.answers['/two'] = '<Say>Two.</Say><Sms>Hi</Sms>';
    const fetched: string[] = [];
    const playing: Recordings = {
      fetchAudio: async (source) => {
        fetched.push(source);
        return { samples: new Int16Array(800).fill(900), rateHz: 8000 };
      },
    };
    call({}, {}, playing);
    await ended();
    expect([spoken(), reasons(), webhook.paths]).toEqual([
      ['One.', 'One.', `${webhook.origin}/a.wav`, 'Two.'],
      ['app'],
      ['/voice', '/two'],
    ]);
    expect(webhook.asked[1]?.fields).toMatchObject({ CallSid: 'CA1', CallStatus: 'in-progress' });
    expect(warnings()).toContain('"verb":"Sms","action":"skip"');
  });

  it('that would hand the caller over end the call with a word, and are named in the log', async () => {
    webhook.answers['/voice'] = '<Say>One moment.</Say><Gather>+14155550100</Gather><Say>Never.</Say>';
    call({ APP_GONE_TEXT: 'Sorry.' });
    await ended();
    expect([spoken(), reasons()]).toEqual([['One moment.', 'Sorry.'], ['app']]);
    expect(warnings()).toContain('"verb":"Gather","action":"end"');
    expect(gateway.logLines.join()).not.toContain('4155550100');
  });

  it('are skipped where they cannot be executed', async () => {
    webhook.answers['/voice'] = '<Play>/nothing.wav</Play><Say>Still here.</Say>';
    call();
    await ended();
    expect([spoken(), reasons()]).toEqual([['Still here.'], ['app']]);
    expect(warnings()).toContain('skipped <Play>');
  });

  it('stop with the call', async () => {
    webhook.answers['/voice'] = '<Pause length="300"/><Redirect>/two</Redirect>';
    call();
    await webhook.until(1);
    caller.stop();
    await ended();
    await gateway.clock.run(400_000, 50_000);
    expect([webhook.paths, reasons()]).toEqual([['/voice'], ['hangup']]);
  });
});

describe('the end of a session', () => {
  const action = () => webhook.asked.at(-1)?.fields ?? {};

  it('is told to the action, whose TwiML is followed: another session, too', async () => {
    webhook.answers['/voice'] = relay();
    call();
    await arrive(() => app.frames.length > 0);
    await gateway.clock.run(2000);
    webhook.answers['/done'] = `<Say>Second.</Say>${relay('', '', '')}<Say>Bye.</Say>`;
    app.say({ type: 'text', token: 'First.', last: true }, { type: 'end', handoffData: '{"to":"sales"}' });
    await pass(() => app.of('setup').length > 1);
    const [first, second] = app.of('setup');
    expect(action()).toMatchObject({
      CallSid: 'CA1',
      AccountSid: 'AC1',
      CallStatus: 'in-progress',
      SessionId: first?.['sessionId'],
      SessionStatus: 'ended',
      SessionDuration: expect.stringMatching(/^[2-9]$/),
      HandoffData: '{"to":"sales"}',
    });
    expect(second?.['sessionId']).not.toBe(first?.['sessionId']);
    app.say({ type: 'end' });
    await ended();
    expect([spoken(), reasons(), webhook.paths]).toEqual([['First.', 'Second.', 'Bye.'], ['app'], ['/voice', '/done']]);
    expect(gateway.registry.get('CA1')?.handoffData).toBe('{"to":"sales"}');
    expect(gateway.logLines.join()).not.toContain('sales');
  });

  it('is told by GET where the document says so', async () => {
    webhook.answers['/voice'] = relay('', '', 'action="/done" method="GET"');
    webhook.answers['/done'] = '';
    call();
    await arrive(() => app.frames.length > 0);
    app.say({ type: 'end' });
    await ended();
    expect(webhook.asked[1]).toMatchObject({
      method: 'GET',
      path: expect.stringMatching(/^\/done\?.*SessionStatus=ended/),
    });
  });

  it('is told when the caller hangs up, and nothing that is answered is said', async () => {
    webhook.answers['/voice'] = relay();
    webhook.answers['/done'] = '<Say>Never.</Say>';
    call();
    await arrive(() => app.frames.length > 0);
    caller.stop();
    await webhook.until(2);
    await ended();
    expect(action()).toMatchObject({ CallStatus: 'completed', SessionStatus: 'completed' });
    expect(Object.keys(action())).not.toContain('HandoffData');
    expect([spoken(), reasons()]).toEqual([[], ['hangup']]);
  });

  it('is told when the gateway drains, which waits for that', async () => {
    webhook.answers['/voice'] = relay();
    let answer: () => void = () => undefined;
    webhook.answers['/done'] = (response) => {
      answer = () => response.end();
    };
    call();
    await arrive(() => app.frames.length > 0);
    let over = false;
    const drained = gateway.registry.drain(0).then(() => {
      over = true;
    });
    await pass(() => webhook.asked.length === 2 && reasons().length > 0);
    expect([over, action()['SessionStatus']]).toEqual([false, 'completed']);
    answer();
    await drained;
  });

  it('is told when the app is lost, and what the app answers then is done', async () => {
    webhook.answers['/voice'] = relay();
    webhook.answers['/done'] = '<Say>We will call you back.</Say>';
    call();
    await arrive(() => app.frames.length > 0);
    app.socket.terminate();
    await ended();
    expect(action()).toMatchObject({
      SessionStatus: 'failed',
      CallStatus: 'in-progress',
      ErrorCode: '64105',
      ErrorMessage: 'Websocket ended',
    });
    expect([spoken(), reasons()]).toEqual([['We will call you back.'], ['app']]);
  });

  it('without an action leads to the next verb', async () => {
    webhook.answers['/voice'] = `${relay('', '', '')}<Say>Bye.</Say>`;
    call();
    await arrive(() => app.frames.length > 0);
    app.socket.close();
    await ended();
    expect([spoken(), reasons(), webhook.paths]).toEqual([['Bye.'], ['app'], ['/voice']]);
  });
});

describe('an app that cannot be had', () => {
  it.each([
    ['has no document', () => undefined],
    ['answers no TwiML', () => 'not TwiML <'],
    ['names an app that is not there', () => '<Connect><ConversationRelay url="ws://127.0.0.1:9/"/></Connect>'],
  ])('is made up for, and the call says why it ended: it %s', async (_what, answer) => {
    const document = answer();
    if (document !== undefined) webhook.answers['/voice'] = document;
    call({ APP_GONE_TEXT: 'Sorry.' });
    await ended();
    expect([spoken(), reasons()]).toEqual([['Sorry.'], ['app_unreachable']]);
  });

  it('leaves the captions where APP_GONE says so', async () => {
    call({ APP_GONE: 'captions', APP_GONE_TEXT: 'Sorry.' });
    await pass(() => spoken().length > 0);
    await gateway.clock.run(2000);
    expect([spoken(), reasons()]).toEqual([['Sorry.'], []]);
  });

  it('was reached before: its action fails', async () => {
    webhook.answers['/voice'] = relay();
    call({ APP_GONE_TEXT: 'Sorry.' });
    await arrive(() => app.frames.length > 0);
    app.say({ type: 'end' });
    await ended();
    expect([spoken(), reasons()]).toEqual([['Sorry.'], ['app']]);
  });

  it.each(['127.0.0.1', 'localhost'])('is in a private network, and not dialled: %s', async (host) => {
    gateway = startCalls({ APP_GONE_TEXT: 'Sorry.', APP_RECONNECT_MS: '0' });
    caller = gateway.dial();
    const url = app.url.replace('127.0.0.1', host);
    const relayed = { url, attributes: {}, parameters: {}, voices: {}, action: null };
    const token = gateway.registry.tokens.issue({ callId: 'CA1', from: null, to: null, relay: relayed });
    caller.start({ parameters: { token } });
    await ended();
    expect([app.requests.length, reasons()]).toEqual([0, ['app_unreachable']]);
    expect(warnings()).toContain(host === 'localhost' ? 'the app is gone' : 'OUTBOUND_ALLOW');
  });
});

describe("a session that Twilio's webhook has found", () => {
  const begin = (connect?: string) => {
    gateway = startCalls(OWN);
    const relayed = {
      url: app.url,
      attributes: {},
      parameters: { a: 'b' },
      voices: {},
      action: connect === undefined ? null : { url: webhook.origin + connect, method: 'POST' as const },
    };
    const details = { callerName: 'Ann' };
    const token = gateway.registry.tokens.issue({ callId: 'CA1', from: '+1', to: '+2', details, relay: relayed });
    caller = gateway.dial().start({ parameters: { token } });
    return arrive(() => app.frames.length > 0);
  };

  it('leaves to Twilio what its action answers', async () => {
    webhook.answers['/done'] = '<Dial>+14155550100</Dial>';
    await begin('/done');
    expect(app.frames[0]).toMatchObject({
      from: '+1',
      accountSid: 'AC1',
      callerName: 'Ann',
      customParameters: { a: 'b' },
    });
    app.say({ type: 'end' });
    await ended();
    const document = await gateway.context.apps.handovers.take('CA1');
    expect([reasons(), document?.response.children.length, caller.socket.closedWith?.code]).toEqual([['app'], 1, 1000]);
    expect(warnings()).not.toContain('Dial');
  });

  it('has nothing to leave where the action fails: Twilio says so to the caller, and nobody says it twice', async () => {
    await begin('/done');
    app.say({ type: 'end' });
    await ended();
    expect([spoken(), reasons(), await gateway.context.apps.handovers.take('CA1')]).toEqual([[], ['app'], null]);
  });

  it('ends with its stream where it has no action', async () => {
    await begin();
    app.say({ type: 'end' });
    await ended();
    expect([reasons(), await gateway.context.apps.handovers.take('CA1'), webhook.asked]).toEqual([
      ['app'],
      undefined,
      [],
    ]);
  });
});
