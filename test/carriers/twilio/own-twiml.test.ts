import twilio from 'twilio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { signTwilio } from '../../../src/protocols/twilio-signature.ts';
import { readTwiml, verbsOf } from '../../../src/protocols/twiml/document.ts';
import { startWebhook, type TestWebhook } from '../../helpers/webhook.ts';
import { startServer, type TestServer } from '../../http/test-server.ts';

const FORM = {
  CallSid: 'CA1',
  AccountSid: 'AC1',
  From: '+14155550100',
  To: '+14155550199',
  CallStatus: 'ringing',
  CallerName: 'Ann',
  Extra: 'x',
};
const OPEN = { OUTBOUND_ALLOW: 'apps=127.0.0.0/8' };
const RELAY = '<Connect action="/done"><ConversationRelay url="wss://app.example.com/c/CA1" voice="v"/></Connect>';

let testServer: TestServer;
let webhook: TestWebhook;
beforeEach(async () => {
  webhook = await startWebhook();
});
afterEach(async () => {
  await testServer.app.close();
  await webhook.close();
});

async function open(environment: Record<string, string> = {}): Promise<void> {
  testServer = await startServer({ APP_TWIML_URL: `${webhook.origin}/voice`, ...OPEN, ...environment });
}

function post(url: string, headers: Record<string, string> = {}) {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return testServer.app.inject({
    method: 'POST',
    url,
    headers: { ...type, ...headers },
    payload: new URLSearchParams(FORM).toString(),
  });
}

const tokenIn = (twiml: string) => /<Parameter name="token" value="([\w-]+)"\/>/.exec(twiml)?.[1] ?? '';
const STREAM =
  '<Connect><Stream url="ws://localhost:80/twilio/media"><Parameter name="token" value="…"/></Stream></Connect>';
/** The verbs of an answer, its token left out. */
const verbsIn = (twiml: string) =>
  /<Response>(.*)<\/Response>/s.exec(twiml)?.[1]?.replace(/(name="token" value=")[\w-]+/g, '$1…');

describe('the voice webhook of a number whose app has TwiML of its own', () => {
  it("asks the app with Twilio's own form, and streams the call in place of its ConversationRelay", async () => {
    await open({ APP_SIGNING_KEY: 'key' });
    webhook.answers['/voice'] = `<Say>Hello</Say>${RELAY}<Say>Bye</Say>`;
    const { body } = await post('/twilio/voice');
    expect(verbsIn(body)).toBe(
      `<Say>Hello</Say>${STREAM}<Redirect method="POST">http://localhost:80/twilio/after</Redirect><Say>Bye</Say>`,
    );
    const [asked] = webhook.asked;
    expect(asked?.fields).toEqual(FORM);
    expect(
      twilio.validateRequest('key', String(asked?.headers['x-twilio-signature']), `${webhook.origin}/voice`, FORM),
    ).toBe(true);
    expect(testServer.calls.tokens.redeem(tokenIn(body), 'CA1')).toEqual({
      from: FORM.From,
      to: FORM.To,
      details: { accountSid: 'AC1', callerName: 'Ann' },
      relay: {
        url: 'wss://app.example.com/c/CA1',
        attributes: { url: 'wss://app.example.com/c/CA1', voice: 'v' },
        parameters: {},
        voices: {},
        action: { url: `${webhook.origin}/done`, method: 'POST' },
      },
    });
  });

  it('passes on what has no ConversationRelay', async () => {
    await open();
    webhook.answers['/voice'] = '<Dial>+14155550101</Dial>';
    expect(verbsIn((await post('/twilio/voice')).body)).toBe('<Dial>+14155550101</Dial>');
  });

  it('streams the call where the app cannot be had, so that the caller hears of it', async () => {
    await open();
    const { body } = await post('/twilio/voice');
    expect(verbsIn(body)).toBe(STREAM);
    expect(testServer.calls.tokens.redeem(tokenIn(body), 'CA1')).toMatchObject({ relay: null });
  });

  it.each(['?listen=%2B493012345678', '?app=wss%3A%2F%2Fapp.example.com'])('asks nobody with %s', async (query) => {
    await open();
    await post(`/twilio/voice${query}`);
    expect(webhook.asked).toEqual([]);
  });

  it.each([
    ['one of an origin that the settings name', undefined, ['/own'], '<Hangup/>'],
    ['nobody else, unsigned', '', [], STREAM],
  ])('asks whom the query names: %s', async (_what, setting, paths, verbs) => {
    await open(setting === undefined ? {} : { APP_TWIML_URL: setting });
    webhook.answers['/own'] = '<Hangup/>';
    const { body } = await post(`/twilio/voice?twiml=${encodeURIComponent(`${webhook.origin}/own`)}`);
    expect([webhook.paths, verbsIn(body)]).toEqual([paths, verbs]);
  });

  it('asks anybody whom a signed query names', async () => {
    await open({
      APP_TWIML_URL: '',
      TWILIO_AUTH_TOKEN: 'token',
      PUBLIC_URL: 'https://bridge.example.com',
      API_KEYS: 'a-key-of-sixteen-characters',
    });
    webhook.answers['/own'] = '<Hangup/>';
    const url = `/twilio/voice?twiml=${encodeURIComponent(`${webhook.origin}/own`)}`;
    const signature = signTwilio('token', `https://bridge.example.com${url}`, Object.entries(FORM));
    expect(verbsIn((await post(url, { 'x-twilio-signature': signature })).body)).toBe('<Hangup/>');
    expect((await post(url)).statusCode).toBe(403);
  });

  it.each(['ftp%3A%2F%2Fx', 'x', ''])('takes no "%s" for an address', async (twiml) => {
    await open();
    expect((await post(`/twilio/voice?twiml=${twiml}`)).statusCode).toBe(400);
  });

  it('does not ask itself without end', async () => {
    await open();
    expect((await post('/twilio/voice', { 'user-agent': 'trunkline' })).statusCode).toBe(400);
  });

  it('asks nobody when no call can be taken', async () => {
    await open();
    testServer.calls.refusal = new TrunklineError('too_many_calls', 'full');
    expect((await post('/twilio/voice')).statusCode).toBe(503);
    expect(webhook.asked).toEqual([]);
  });
});

describe("what follows a session in Twilio's call", () => {
  it('is what the action has answered, once; another session in it is ours again', async () => {
    await open();
    const document = readTwiml(`<Response><Play>a.mp3</Play>${RELAY}</Response>`, 'https://app.example.com/done');
    testServer.calls.handovers.put('CA1', Promise.resolve(document));
    const { body } = await post('/twilio/after');
    expect(verbsIn(body)).toBe(
      `<Play>https://app.example.com/a.mp3</Play>${STREAM}<Redirect ` +
        'method="POST">http://localhost:80/twilio/after</Redirect>',
    );
    expect(testServer.calls.tokens.redeem(tokenIn(body), 'CA1')).toMatchObject({
      relay: { url: 'wss://app.example.com/c/CA1' },
    });
    expect(verbsIn((await post('/twilio/after')).body)).toContain('Sorry');
  });

  it.each([
    ['had no answer', true],
    ['was never here', false],
  ])('is a word and the end where the session %s', async (_what, kept) => {
    await open({ APP_GONE_TEXT: 'Sorry & bye.' });
    if (kept) testServer.calls.handovers.put('CA1', Promise.resolve(null));
    expect(verbsIn((await post('/twilio/after')).body)).toBe('<Say>Sorry &amp; bye.</Say><Hangup/>');
  });

  it('may be another document, asked as the first one says', async () => {
    await open();
    webhook.answers['/voice'] = '<Redirect method="GET">/two</Redirect>';
    webhook.answers['/two'] = '<Say>Two</Say>';
    const [first] = verbsOf(readTwiml((await post('/twilio/voice')).body, 'http://localhost:80/'));
    const { link } = first?.type === 'redirect' ? first : { link: { url: '' } };
    expect(verbsIn((await post(link.url.replace('http://localhost', ''))).body)).toBe('<Say>Two</Say>');
    expect(webhook.asked[1]).toMatchObject({ method: 'GET', path: expect.stringMatching(/^\/two\?CallSid=CA1&/) });
  });

  it.each(['http://192.0.2.1/x', 'https://elsewhere.example.com/x'])(
    'is not asked for at %s, which is not trusted',
    async (url) => {
      await open();
      expect(verbsIn((await post(`/twilio/after?twiml=${encodeURIComponent(url)}`)).body)).toContain('<Hangup/>');
      expect(testServer.logLines.join()).toContain('APP_ALLOWED_ORIGINS');
    },
  );

  it('is for Twilio alone', async () => {
    await open({ TWILIO_AUTH_TOKEN: 'token' });
    testServer.calls.handovers.put('CA1', Promise.resolve(null));
    expect((await post('/twilio/after')).statusCode).toBe(403);
    expect(await testServer.calls.handovers.take('CA1')).toBeNull();
  });
});
