/** Every route of one call is passed on to the gateway that has the call: whoever adds one must say so. */
import { expect, it } from 'vitest';
import { startServer } from '../test-server.ts';

it('each route of a call names the gateway that answers it', async () => {
  const { app } = await startServer();
  const answer = await app.inject({ url: '/docs/json' });
  const { paths } = answer.json<{ paths: Record<string, Record<string, { 'x-owned-by'?: string }>> }>();
  const ofCalls = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith('/v1/calls/{id}')
      ? Object.entries(methods).map(([method, described]) => `${method} ${path} ${described['x-owned-by']}`)
      : [],
  );
  expect(ofCalls.length).toBeGreaterThan(14);
  expect(ofCalls.filter((line) => !/ (?:call|sound)$/.test(line))).toEqual([]);
  await app.close();
});
