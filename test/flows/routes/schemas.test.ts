import { afterEach, describe, expect, it } from 'vitest';
import { flowSchemas } from '../../../src/flows/json-schemas.ts';
import { startServer, type TestServer } from '../../http/test-server.ts';

let testServer: TestServer;
afterEach(() => testServer?.app.close());

describe('the JSON Schemas of flows, for editors', () => {
  it.each([
    ['/schemas/flow.json', 'flow.schema.json'],
    ['/schemas/flow-test.json', 'flow-test.schema.json'],
    ['/schemas/flow-numbers.json', 'flow-numbers.schema.json'],
  ])('%s is served without a key', async (url, file) => {
    testServer = await startServer({ API_KEYS: '0123456789abcdef' });
    const answer = await testServer.app.inject({ url, headers: { host: 'trunkline.example.com' } });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      200,
      expect.stringMatching(/^application\/schema\+json/),
    ]);
    expect(answer.body).toBe(flowSchemas().get(file));
    expect((await testServer.app.inject('/schemas/other.json')).statusCode).toBe(404);
  });
});
