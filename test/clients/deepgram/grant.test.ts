import { afterEach, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../http/test-server.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

function post(url: string, token: string, payload: object = {}) {
  return testServer.app.inject({ method: 'POST', url, payload, headers: { authorization: `Bearer ${token}` } });
}

it('POST /v1/auth/grant gives a key for speech that dies soon and begets no other', async () => {
  testServer = await startServer({ API_KEYS: 'key-1' });
  const granted = await post('/v1/auth/grant', 'key-1');
  expect(granted.json()).toEqual({ access_token: expect.any(String), expires_in: 30 });
  const { access_token: token } = granted.json<{ access_token: string }>();
  expect((await post('/v1/speak', token, { text: 'Hello.' })).statusCode).toBe(200);
  expect((await post('/v1/auth/grant', token)).statusCode).toBe(403);
  expect(
    (await testServer.app.inject({ url: '/v1/calls', headers: { authorization: `Bearer ${token}` } })).statusCode,
  ).toBe(403);
  testServer.clock.advance(31_000);
  expect((await post('/v1/speak', token, { text: 'Hello.' })).statusCode).toBe(401);
});

it('POST /v1/auth/grant takes an empty body that is called JSON', async () => {
  testServer = await startServer();
  const headers = { 'content-type': 'application/json' };
  const granted = await testServer.app.inject({ method: 'POST', url: '/v1/auth/grant', headers });
  expect(granted.json()).toMatchObject({ expires_in: 30 });
});

it('GET /v1/projects has one project, for who has a key', async () => {
  testServer = await startServer({ API_KEYS: 'key-1' });
  const ask = (key: string) =>
    testServer.app.inject({ url: '/v1/projects', headers: { authorization: `Token ${key}` } });
  expect((await ask('key-1')).json()).toEqual({ projects: [{ project_id: 'trunkline', name: 'Trunkline' }] });
  expect((await ask('key-2')).statusCode).toBe(401);
});

it('POST /v1/auth/grant lets the key live as long as it is asked to, within an hour', async () => {
  testServer = await startServer();
  const answers = await Promise.all(
    [600, 3601].map((ttl_seconds) =>
      testServer.app.inject({ method: 'POST', url: '/v1/auth/grant', payload: { ttl_seconds } }),
    ),
  );
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 400]);
  expect(answers[0]?.json()).toMatchObject({ expires_in: 600 });
});
