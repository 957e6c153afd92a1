import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { signTwilio } from '../../../src/protocols/twilio-signature.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';

const TOKEN = 'auth-token';
const PUBLIC = { PUBLIC_URL: 'https://bridge.example.com', API_KEYS: 'a-key-of-sixteen-characters' };
const SIGNED = { TWILIO_AUTH_TOKEN: TOKEN, ...PUBLIC };
const FORM = {
  CallSid: 'CA0123456789abcdef0123456789abcdef',
  From: '+14155550100',
  To: '+14155550199',
  CallStatus: 'ringing',
};

let testServer: TestServer;
afterEach(() => testServer.app.close());

const codeOf = (answer: { body: string }) => (JSON.parse(answer.body) as { error: { code: string } }).error.code;

function post(
  fields: Iterable<readonly [string, string]>,
  options: { url?: string; headers?: Record<string, string>; remoteAddress?: string } = {},
) {
  const { url = '/twilio/voice', headers = {}, remoteAddress = '127.0.0.1' } = options;
  const payload = new URLSearchParams([...fields].map(([name, value]): [string, string] => [name, value])).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return testServer.app.inject({ method: 'POST', url, remoteAddress, headers: { ...type, ...headers }, payload });
}

const callToken = (twiml: string) => /<Parameter name="token" value="([\w-]+)"\/>/.exec(twiml)?.[1] ?? '';

describe('POST /twilio/voice', () => {
  it('connects the call to this host, with a token that tells who is calling', async () => {
    testServer = await startServer();
    const answer = await post(Object.entries(FORM), { headers: { host: 'localhost:8080' } });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/xml; charset=utf-8']);
    expect(answer.body).toMatch(
      /<Response><Connect><Stream url="ws:\/\/localhost:8080\/twilio\/media"><Parameter name="token" value="[\w-]+"\/><\/Stream><\/Connect><\/Response>$/,
    );
    expect(testServer.calls.tokens.redeem(callToken(answer.body), FORM.CallSid)).toEqual({
      from: FORM.From,
      to: FORM.To,
    });
  });

  it('knows a call that we made, and who answered it as far as Twilio says', async () => {
    testServer = await startServer();
    const made = { ...FORM, Direction: 'outbound-api', AnsweredBy: 'machine_end_beep' };
    const answer = await post(Object.entries(made));
    expect(testServer.calls.tokens.redeem(callToken(answer.body), FORM.CallSid)).toMatchObject({
      outgoing: true,
      answeredBy: 'machine_end_beep',
    });
  });

  it('names the public host, and wss, where one is set', async () => {
    testServer = await startServer(PUBLIC);
    expect((await post(Object.entries(FORM))).body).toContain('<Stream url="wss://bridge.example.com/twilio/media">');
  });

  it.each(['/twilio/voice?listen=%2B493012345678', '/twilio/voice?listen=+493012345678'])(
    'forwards the call and listens at %s',
    async (url) => {
      testServer = await startServer();
      expect((await post(Object.entries(FORM), { url })).body).toMatch(
        /<Start><Stream url="[^"]+" track="both_tracks">.*<\/Stream><\/Start><Dial>\+493012345678<\/Dial><\/Response>$/,
      );
    },
  );

  it.each(['0301234567', '%2B0301234567', '%2B49', '%2B4930123%3CSip%3E', 'sip:a@b'])(
    'does not forward to %s',
    async (listen) => {
      testServer = await startServer();
      const answer = await post(Object.entries(FORM), { url: `/twilio/voice?listen=${listen}` });
      expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'invalid_request']);
      expect(answer.body).toContain('E.164');
    },
  );

  it('passes on who speaks and whose call it is', async () => {
    testServer = await startServer();
    const url = '/twilio/voice?listen=%2B493012345678&agentName=Tom%20%26%20Co&agent=tom';
    expect((await post(Object.entries(FORM), { url })).body).toContain(
      '<Parameter name="agentName" value="Tom &amp; Co"/><Parameter name="agent" value="tom"/></Stream></Start>',
    );
  });

  it('passes on which app is to talk to the caller', async () => {
    testServer = await startServer();
    const app = 'wss://app.example.com/calls?line=1&x';
    const answer = await post(Object.entries(FORM), { url: `/twilio/voice?app=${encodeURIComponent(app)}` });
    expect(answer.body).toContain(
      '<Parameter name="app" value="wss://app.example.com/calls?line=1&amp;x"/></Stream></Connect>',
    );
  });

  it('passes on which flow is to talk to the caller, before any app', async () => {
    testServer = await startServer();
    const answer = await post(Object.entries(FORM), { url: '/twilio/voice?flow=shop&queue=sales' });
    expect(answer.body).toContain('<Parameter name="flow" value="shop"/><Parameter name="queue" value="sales"/>');
  });

  it.each(['https://app.example.com', 'app', ''])('takes no "%s" for an app', async (app) => {
    testServer = await startServer();
    const answer = await post(Object.entries(FORM), { url: `/twilio/voice?app=${app}` });
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'invalid_request']);
  });

  it.each([
    ['no call identifier', { From: '+14155550100' }],
    ['a call identifier with markup', { CallSid: 'CA"><Dial>' }],
    ['a caller of endless length', { ...FORM, From: 'x'.repeat(257) }],
  ])('refuses %s', async (_what, form) => {
    testServer = await startServer();
    const answer = await post(Object.entries(form));
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'invalid_request']);
  });

  it('refuses what is no form', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject({ method: 'POST', url: '/twilio/voice', payload: FORM });
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect((await testServer.app.inject({ method: 'POST', url: '/twilio/voice' })).statusCode).toBe(400);
  });

  it('answers 503 when no call can be taken, so that Twilio goes to its fallback', async () => {
    testServer = await startServer();
    testServer.calls.refusal = new TrunklineError('too_many_calls', 'full');
    const answer = await post(Object.entries(FORM));
    expect([answer.statusCode, codeOf(answer), answer.headers['retry-after']]).toEqual([503, 'too_many_calls', '2']);
  });
});

describe("Twilio's signature on the webhook", () => {
  const sign = (url: string, fields: Iterable<readonly [string, string]>) => ({
    'x-twilio-signature': signTwilio(TOKEN, url, fields),
  });

  it('lets Twilio in under the public address, query and repeated fields included', async () => {
    testServer = await startServer(SIGNED);
    const url = '/twilio/voice?listen=%2B493012345678&note=it%27s';
    const fields = [...Object.entries(FORM), ['Tag', 'b'], ['Tag', 'a']] as const;
    const headers = sign(`https://bridge.example.com${url}`, fields);
    expect((await post(fields, { url, headers, remoteAddress: '192.0.2.1' })).statusCode).toBe(200);
  });

  it('is checked against the host of the request where no public address is set', async () => {
    testServer = await startServer({ TWILIO_AUTH_TOKEN: TOKEN });
    const headers = { host: 'abc.tunnel.example', 'x-forwarded-proto': 'https' };
    const signature = sign('https://abc.tunnel.example/twilio/voice', Object.entries(FORM));
    expect((await post(Object.entries(FORM), { headers: { ...headers, ...signature } })).statusCode).toBe(200);
  });

  it.each([
    ['none', {}],
    [
      'one over other fields',
      sign('https://bridge.example.com/twilio/voice', Object.entries({ ...FORM, To: '+14155550198' })),
    ],
    ['one over another path', sign('https://bridge.example.com/twilio/other', Object.entries(FORM))],
    ['nonsense', { 'x-twilio-signature': 'AAAA' }],
  ])('refuses: %s', async (_what, headers) => {
    testServer = await startServer({ ...SIGNED, ALLOW_ANONYMOUS: 'true' });
    const answer = await post(Object.entries(FORM), { headers });
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'signature_invalid']);
  });
});

describe('without TWILIO_AUTH_TOKEN', () => {
  it.each([
    ['another machine', {}, '192.0.2.1'],
    ['a tunnel', { host: 'abc.tunnel.example' }, '127.0.0.1'],
  ])('the webhook is closed to %s, unless everybody may come', async (_what, headers, remoteAddress) => {
    testServer = await startServer();
    const answer = await post(Object.entries(FORM), { headers, remoteAddress });
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'anonymous_refused']);
    await testServer.app.close();
    testServer = await startServer({ ALLOW_ANONYMOUS: 'true' });
    expect((await post(Object.entries(FORM), { headers, remoteAddress })).statusCode).toBe(200);
  });

  it('stays open to this machine although API_KEYS are set: they guard other endpoints', async () => {
    testServer = await startServer({ API_KEYS: 'k' });
    expect((await post(Object.entries(FORM))).statusCode).toBe(200);
  });
});

describe('WS /twilio/media', () => {
  async function dial(environment: Record<string, string>, headers: Record<string, string> = {}) {
    testServer = await startServer(environment);
    return upgradeStatus(`${await listen(testServer.app)}/twilio/media`, headers);
  }
  const signature = (url: string) => ({ 'x-twilio-signature': signTwilio(TOKEN, url) });

  it('hands the socket over; from this machine no token is asked for', async () => {
    expect(await dial({})).toBe(101);
    expect(testServer.calls.accepted.map(({ tokenRequired }) => tokenRequired)).toEqual([false]);
  });

  it.each([
    ['required', true],
    ['optional', false],
  ])(
    'takes a signed handshake; with TWILIO_CALL_TOKEN=%s the token is asked for: %s',
    async (setting, tokenRequired) => {
      const headers = signature('wss://bridge.example.com/twilio/media');
      expect(await dial({ ...SIGNED, TWILIO_CALL_TOKEN: setting }, headers)).toBe(101);
      expect(testServer.calls.accepted).toMatchObject([{ tokenRequired }]);
    },
  );

  it('knows that Twilio signs wss although a tunnel says http', async () => {
    const headers = { host: 'abc.tunnel.example', ...signature('wss://abc.tunnel.example/twilio/media') };
    expect(await dial({ TWILIO_AUTH_TOKEN: TOKEN }, headers)).toBe(101);
  });

  it.each([
    ['an unsigned handshake', SIGNED, {}, 403],
    ['one signed for https', SIGNED, signature('https://bridge.example.com/twilio/media'), 403],
    ['one through a tunnel without an auth token', {}, { host: 'abc.tunnel.example' }, 403],
    ['one from a page of another site', {}, { origin: 'https://evil.example' }, 403],
  ])('refuses %s before the upgrade', async (_what, environment, headers, status) => {
    expect(await dial(environment, headers as Record<string, string>)).toBe(status);
    expect(testServer.calls.accepted).toEqual([]);
  });

  it.each(['too_many_calls', 'draining'] as const)('refuses with 503 before the upgrade: %s', async (code) => {
    testServer = await startServer();
    testServer.calls.refusal = new TrunklineError(code, 'no');
    expect(await upgradeStatus(`${await listen(testServer.app)}/twilio/media`)).toBe(503);
  });

  it('says that it wants a WebSocket', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject('/twilio/media');
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect(answer.body).toContain('expected an upgrade');
  });

  it('lets nothing compress its messages', async () => {
    testServer = await startServer();
    const url = (await listen(testServer.app)).replace('http', 'ws');
    const socket = new WebSocket(`${url}/twilio/media`, { perMessageDeflate: true });
    await new Promise((resolve) => socket.once('open', resolve));
    expect(socket.extensions).toBe('');
    socket.close();
  });
});
