import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';

const API_KEY = 'a key of ours';
const SECRET = Buffer.from('a client secret').toString('base64');
const PATH = '/genesys/media?x=1';
const ORGANIZATION = 'd7934305-0972-4844-938e-9060eef73d05';
const NONCE = 'VGhpc0lzQVVuaXF1ZU5vbmNl';
/** Of the server's clock. */
const NOW_S = Math.floor(new FakeClock().wall().getTime() / 1000);
/** A proxy on this machine would be several clients in one. */
const OPEN = { TRUSTED_PROXIES: '192.0.2.1' };
const LOCKED = { ...OPEN, GENESYS_API_KEY: API_KEY };
const SIGNED = { ...LOCKED, GENESYS_CLIENT_SECRET: SECRET };
const HEADERS = {
  host: 'bridge.example.com',
  'audiohook-organization-id': ORGANIZATION,
  'audiohook-session-id': 'e160e428-53e2-487c-977d-96989bf5c99d',
  'audiohook-correlation-id': '30b0e395-84d3-4570-ac13-9a62d8f514c0',
  'x-api-key': API_KEY,
};

let testServer: TestServer;
afterEach(() => testServer.app.close());

const REQUIRED = ['@request-target', '@authority', ...Object.keys(HEADERS).slice(1)];

interface Changes {
  readonly nonce?: string;
  readonly createdS?: number;
  readonly covered?: readonly string[];
  readonly target?: string;
  readonly secret?: string;
}

/** The headers of a handshake as Genesys signs it, with changes. */
function signed(changes: Changes = {}): Record<string, string> {
  const { nonce = NONCE, createdS = NOW_S, target = PATH, secret = SECRET } = changes;
  const { covered = REQUIRED } = changes;
  const names = covered.map((name) => `"${name}"`).join(' ');
  const times = `created=${createdS};expires=${createdS + 30}`;
  const parameters = `(${names});keyid="${API_KEY}";nonce="${nonce}";alg="hmac-sha256";${times}`;
  const values: Record<string, string> = { ...HEADERS, '@request-target': target, '@authority': HEADERS.host };
  const base = [...covered.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${parameters}`].join(
    '\n',
  );
  const signature = createHmac('sha256', Buffer.from(secret, 'base64')).update(base).digest('base64');
  return { ...HEADERS, 'signature-input': `sig1=${parameters}`, signature: `sig1=:${signature}:` };
}

async function dial(environment: Record<string, string>, ...handshakes: Record<string, string>[]) {
  testServer = await startServer(environment);
  const origin = await listen(testServer.app);
  const statuses: (number | undefined)[] = [];
  for (const headers of handshakes) statuses.push(await upgradeStatus(`${origin}${PATH}`, headers));
  return statuses;
}

describe('WS /genesys/media', () => {
  it('is open to this machine alone while no key is set, and trusts nobody', async () => {
    expect(await dial(OPEN, {}, { host: HEADERS.host })).toEqual([101, 403]);
    expect(testServer.calls.audioHooks).toEqual([{ organizationId: null, trusted: false }]);
  });

  it('asks for the key', async () => {
    const { 'x-api-key': _key, ...keyless } = HEADERS;
    expect(await dial(LOCKED, HEADERS, keyless, { ...HEADERS, 'x-api-key': 'guess' })).toEqual([101, 401, 401]);
    expect(testServer.calls.audioHooks).toEqual([{ organizationId: ORGANIZATION, trusted: true }]);
  });

  it('takes a signature once', async () => {
    expect(await dial(SIGNED, signed(), signed(), signed({ nonce: `${NONCE}2` }))).toEqual([101, 401, 101]);
  });

  it.each<[string, Changes]>([
    ['with another secret', { secret: Buffer.from('guess').toString('base64') }],
    ['of another path', { target: '/genesys/media' }],
    ['that does not cover the session', { covered: ['@request-target', '@authority', 'x-api-key'] }],
    ['with a short nonce', { nonce: 'short' }],
    ['over a field that no request has', { covered: [...REQUIRED, 'constructor'], secret: 'AAAA' }],
    ['of a while ago', { createdS: NOW_S - 60 }],
    ['of later', { createdS: NOW_S + 60 }],
  ])('refuses one %s', async (_what, changes) => {
    expect(await dial(SIGNED, signed(changes))).toEqual([401]);
    expect(testServer.calls.audioHooks).toEqual([]);
  });

  it('refuses one whose headers were changed, and none at all', async () => {
    const moved = { ...signed(), 'audiohook-session-id': '11111111-53e2-487c-977d-96989bf5c99d' };
    expect(await dial(SIGNED, moved, HEADERS, { ...signed(), 'signature-input': 'sig1=();;' })).toEqual([
      401, 401, 401,
    ]);
  });

  it('refuses when no call can be taken', async () => {
    testServer = await startServer(LOCKED);
    testServer.calls.refusal = new TrunklineError('too_many_calls', 'full');
    expect(await upgradeStatus(`${await listen(testServer.app)}${PATH}`, HEADERS)).toBe(503);
  });
});
