import { afterEach, describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { signTwilio } from '../../../src/protocols/twilio-signature.ts';
import { listen, liveCall, startServer, type TestServer, upgradeStatus } from '../test-server.ts';

const KEY = 'a-key';
const AUTH = 'auth-token';
/** Another port of this host: its pages are of the same site, so the browser sends them our cookie. */
const OTHER_PORT = 'http://127.0.0.1:1';

let testServer: TestServer;
afterEach(() => testServer.app.close());

interface Pass {
  readonly callId: string;
  readonly token: string;
}

function ask(options: { headers?: Record<string, string>; remoteAddress?: string } = {}) {
  const { headers = {}, remoteAddress = '127.0.0.1' } = options;
  return testServer.app.inject({ method: 'POST', url: '/v1/phone', headers, remoteAddress });
}

const codeOf = (answer: { body: string }) => (JSON.parse(answer.body) as { error: { code: string } }).error.code;

/** The cookie of a browser whose user typed the key. */
async function signIn(): Promise<string> {
  const answer = await testServer.app.inject({ method: 'POST', url: '/v1/session', payload: { key: KEY } });
  return String(answer.headers['set-cookie']).split(';')[0] ?? '';
}

describe('POST /v1/phone', () => {
  it('names a new call and gives a token that lets it start once', async () => {
    testServer = await startServer();
    const answer = await ask();
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    const { callId, token } = answer.json<Pass>();
    expect(callId).toMatch(/^web-[0-9a-f-]{36}$/);
    expect(testServer.calls.tokens.redeem(token, callId)).toEqual({ from: 'browser', to: 'trunkline' });
    expect(testServer.calls.tokens.redeem(token, callId)).toBeNull();
    expect((await ask()).json<Pass>().callId).not.toBe(callId);
  });

  it('remembers with the token which flow is to talk to the caller', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject({ method: 'POST', url: '/v1/phone?flow=shop' });
    const { callId, token } = answer.json<Pass>();
    expect(testServer.calls.tokens.redeem(token, callId)).toMatchObject({ flow: 'shop' });
  });

  it('asks for what the rest of /v1 asks for', async () => {
    testServer = await startServer({ API_KEYS: KEY });
    const refused = await ask();
    expect([refused.statusCode, codeOf(refused)]).toEqual([401, 'api_key_missing']);
    expect((await ask({ headers: { authorization: `Bearer ${KEY}` } })).statusCode).toBe(200);
    expect((await ask({ headers: { cookie: await signIn() } })).statusCode).toBe(200);
  });

  it('gives none to another machine where no key is set, nor to pages of other sites', async () => {
    testServer = await startServer();
    expect(codeOf(await ask({ remoteAddress: '192.0.2.1' }))).toBe('anonymous_refused');
    expect(codeOf(await ask({ headers: { origin: 'https://evil.example' } }))).toBe('origin_refused');
  });

  it.each(['too_many_calls', 'draining'] as const)(
    'says before the microphone is asked for that no call can be taken: %s',
    async (code) => {
      testServer = await startServer();
      testServer.calls.refusal = new TrunklineError(code, 'no');
      const answer = await ask();
      expect([answer.statusCode, codeOf(answer)]).toEqual([503, code]);
    },
  );
});

describe('a call from a browser', () => {
  const LOCKED = { API_KEYS: KEY };

  async function begin() {
    testServer = await startServer(LOCKED);
    const cookie = await signIn();
    return { cookie, ...(await ask({ headers: { cookie } })).json<Pass>() };
  }

  const signOut = (cookie: string) =>
    testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers: { cookie } });

  it('ends at once when whoever asked for it signs out', async () => {
    const { cookie, callId } = await begin();
    testServer.calls.views.push(liveCall(callId), liveCall('CA1'));
    await signOut(await signIn());
    expect(testServer.calls.hungUp).toEqual([]);
    await signOut(cookie);
    expect(testServer.calls.hungUp).toEqual([callId, callId]);
  });

  it('cannot begin any more', async () => {
    const { cookie, callId, token } = await begin();
    await signOut(cookie);
    expect(testServer.calls.tokens.redeem(token, callId)).toBeNull();
  });

  it('is forgotten when it has ended', async () => {
    const { cookie, callId } = await begin();
    testServer.calls.views.push(liveCall(callId));
    testServer.feed.publish({ type: 'call.ended', callId, reason: 'hangup', durationMs: 1, handoffData: null });
    await signOut(cookie);
    expect(testServer.calls.hungUp).toEqual([]);
  });
});

describe("a page's stream at /twilio/media", () => {
  const LOCKED = { API_KEYS: KEY, TWILIO_AUTH_TOKEN: AUTH };

  async function dial(
    environment: Record<string, string>,
    headersFor: (url: string) => Promise<Record<string, string>>,
  ) {
    testServer = await startServer(environment);
    const url = await listen(testServer.app);
    return upgradeStatus(`${url}/twilio/media`, await headersFor(url));
  }

  it.each([
    ['where nothing is locked, on this machine', {}, async (origin: string) => ({ origin })],
    ['of a user who is signed in', LOCKED, async (origin: string) => ({ origin, cookie: await signIn() })],
    [
      'of a user who is signed in, whatever is optional',
      { ...LOCKED, TWILIO_CALL_TOKEN: 'optional' },
      async (origin: string) => ({ origin, cookie: await signIn() }),
    ],
    [
      'that anybody may use',
      { TWILIO_AUTH_TOKEN: AUTH, ALLOW_ANONYMOUS: 'true' },
      async (origin: string) => ({ origin }),
    ],
  ])('comes in, and must bring a call token: one %s', async (_who, environment, headersFor) => {
    expect(await dial(environment, headersFor)).toBe(101);
    expect(testServer.calls.accepted).toMatchObject([{ carrier: 'browser', tokenRequired: true }]);
  });

  it.each([
    ['of a user who is not signed in', LOCKED, async (origin: string) => ({ origin }), 401],
    [
      'of a user who is not signed in, though Twilio is not locked',
      { API_KEYS: KEY },
      async (origin: string) => ({ origin }),
      401,
    ],
    ['with a made-up session', LOCKED, async (origin: string) => ({ origin, cookie: 'trunkline_session=AAAA' }), 401],
    [
      'through a tunnel without any key',
      {},
      async (origin: string) => ({ origin, 'x-forwarded-for': '192.0.2.1' }),
      403,
    ],
    [
      'under a name that points here',
      {},
      async () => ({ host: 'rebound.example', origin: 'http://rebound.example' }),
      403,
    ],
    [
      'from another site, with our cookie',
      LOCKED,
      async () => ({ origin: 'https://evil.example', cookie: await signIn() }),
      403,
    ],
    ['from another port, with our cookie', LOCKED, async () => ({ origin: OTHER_PORT, cookie: await signIn() }), 403],
    ['from a page that hides where it is', LOCKED, async () => ({ origin: 'null', cookie: await signIn() }), 403],
    ['signed in but without an Origin, as browsers never are', LOCKED, async () => ({ cookie: await signIn() }), 403],
  ])('stays out: one %s', async (_who, environment, headersFor, status) => {
    expect(await dial(environment, headersFor as (url: string) => Promise<Record<string, string>>)).toBe(status);
    expect(testServer.calls.accepted).toEqual([]);
  });

  it('is judged as a carrier when it comes with a signature', async () => {
    const sign = (url: string) => signTwilio(AUTH, `${url.replace('http', 'wss')}/twilio/media`);
    expect(await dial(LOCKED, async (origin) => ({ origin, 'x-twilio-signature': sign(origin) }))).toBe(101);
    expect(testServer.calls.accepted).toMatchObject([{ carrier: 'twilio', tokenRequired: true }]);
    await testServer.app.close();
    expect(
      await dial(LOCKED, async (origin) => ({ origin, cookie: await signIn(), 'x-twilio-signature': 'AAAA' })),
    ).toBe(403);
  });
});
