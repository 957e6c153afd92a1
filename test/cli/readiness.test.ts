import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { askEndReason } from '../../src/cli/call/end-reason.ts';
import { untilReady } from '../../src/cli/readiness.ts';
import { type Clock, systemClock } from '../../src/foundation/clock.ts';
import { ConfigError } from '../../src/foundation/settings/config.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** A server with these answers, one after the other and the last one from then on. */
async function answer(...answers: readonly [status: number, body: string][]): Promise<string> {
  let count = 0;
  server = createServer((_request, response) => {
    const [status, body] = answers[Math.min(count, answers.length - 1)] ?? [500, ''];
    count += 1;
    response.writeHead(status, { connection: 'close' }).end(body);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('untilReady', () => {
  it('asks until the gateway is ready', async () => {
    await untilReady(await answer([503, ''], [503, ''], [200, '']), systemClock, () => null);
  });

  it('ends with the reason when the settings are refused', async () => {
    const refused = untilReady(await answer([503, '']), systemClock, () => 'DEFAULT_VOICE: no such voice');
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow('DEFAULT_VOICE: no such voice');
  });
});

describe('untilReady, for how long', () => {
  /** Each pause takes a little more than a minute. */
  function minutes(): Clock {
    let now = 0;
    const after = (_ms: number, run: () => void) => {
      now += 61_000;
      setImmediate(run);
      return { cancel: () => {} };
    };
    return { ...systemClock, nowMs: () => now, after };
  }

  it('gives up after a minute without a sign of loading', async () => {
    await expect(untilReady(await answer([503, ''], [503, ''], [200, '']), minutes(), () => null)).rejects.toThrow(
      'within 1 min',
    );
  });

  it('waits longer while engines load, but not for ever', async () => {
    const loading: [status: number, body: string] = [503, '{"engine":{"state":"starting"}}'];
    await untilReady(await answer(loading, loading, loading, [200, '']), minutes(), () => null);
    await expect(untilReady(await answer(loading), minutes(), () => null)).rejects.toThrow('within 10 min');
  });
});

describe('askEndReason', () => {
  it('asks until the call has ended', async () => {
    expect(await askEndReason(await answer([200, '{"endReason":null}'], [200, '{"endReason":"app"}']), 'key')).toBe(
      'app',
    );
  });

  it.each([
    [401, '{}'],
    [200, 'no JSON'],
  ])('knows nothing after %i %s', async (status, body) => {
    expect(await askEndReason(await answer([status, body]), undefined)).toBeNull();
  });

  it('knows nothing when nobody answers', async () => {
    const url = await answer([200, '']);
    await new Promise((resolve) => server?.close(resolve));
    expect(await askEndReason(url, undefined)).toBeNull();
  });
});
