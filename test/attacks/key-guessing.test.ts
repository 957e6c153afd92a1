/**
 * Somebody tries keys, and says with every one that he is somebody else; or tries to have others shut out for his
 * tries.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

const PRETEND = {
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  TTS_MODEL: 'tone',
  ENGINE_WORKERS: '1',
  ENGINE_PRELOAD: 'false',
};
const KEY = 'a-key-of-the-operator';
const TOKEN = 'a-token-of-the-carrier';

let gateway: GatewayProcess;
afterEach(() => gateway.stop());

const start = async (environment: Record<string, string> = {}) => {
  gateway = await startGateway({ ...PRETEND, API_KEYS: KEY, CARRIER_TOKEN: TOKEN, ...environment });
};

type Try = (guess: string, forwardedFor?: string) => Promise<number>;

async function statusOf(path: string, init: RequestInit, forwardedFor?: string): Promise<number> {
  const forwarded = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  const response = await fetch(gateway.url + path, { ...init, headers: { ...init.headers, ...forwarded } });
  await response.body?.cancel();
  return response.status;
}

const tryKey: Try = (guess, from) => statusOf('/v1/calls', { headers: { authorization: `Bearer ${guess}` } }, from);
const trySignIn: Try = (key, from) =>
  statusOf(
    '/v1/session',
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ key }) },
    from,
  );
const tryToken: Try = (token, from) => statusOf(`/telnyx/media?token=${token}`, {}, from);

/** The statuses of so many wrong ones, each by another client as `forwardedFor` has it. */
async function guess(tries: number, attempt: Try, forwardedFor: (i: number) => string | undefined): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < tries; i++) statuses.push(await attempt(`guess-${i}`, forwardedFor(i)));
  return statuses;
}

const looks = (statuses: readonly number[]) => statuses.filter((status) => status === 401).length;

describe('trying keys', () => {
  it.each<[string, Try, string]>([
    ['keys', tryKey, KEY],
    ['sign-ins', trySignIn, KEY],
    ["carriers' tokens", tryToken, TOKEN],
  ])(
    'from a peer that is no trusted proxy ends after ten, whoever it says it asks for: %s',
    async (_what, attempt, right) => {
      await start({ TRUSTED_PROXIES: '192.0.2.1', PUBLIC_URL: 'https://bridge.example.com' });
      const statuses = await guess(60, attempt, (i) => `198.51.100.${i}, 203.0.113.${i}`);
      // One more is looked at every six seconds.
      expect(looks(statuses)).toBeGreaterThanOrEqual(10);
      expect(looks(statuses)).toBeLessThan(20);
      expect(await attempt(right, '198.51.100.200')).toBe(429);
    },
  );

  it('through a trusted proxy ends after ten for the one who tries, with whatever he invents, and for nobody else', async () => {
    await start({ PUBLIC_URL: 'https://bridge.example.com' });
    const statuses = await guess(40, tryKey, (i) => `198.51.100.${i}, 192.0.2.66`);
    expect(looks(statuses)).toBeLessThan(20);
    expect(await tryKey(KEY, '192.0.2.66')).toBe(429);
    expect([await tryKey(KEY, '192.0.2.7'), await trySignIn(KEY, '192.0.2.8'), await tryKey(KEY)]).toEqual([
      200, 204, 200,
    ]);
  });

  it('through a proxy that does not say who asks shuts nobody out who has a key, and is told that it was too often', async () => {
    await start();
    const statuses = await guess(40, tryKey, () => undefined);
    expect(looks(statuses)).toBeLessThan(20);
    expect(statuses.at(-1)).toBe(429);
    expect([await tryKey(KEY), await trySignIn(KEY)]).toEqual([200, 204]);
  });
});

describe('a server that others can reach', () => {
  it.each([{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://bridge.example.com' }])(
    'does not start with keys that are soon guessed: %o',
    async (reach) => {
      await start();
      await expect(startGateway({ ...PRETEND, ...reach, API_KEYS: 'sesame' })).rejects.toThrow(
        /ended with 78.*16 characters/s,
      );
    },
  );
});
