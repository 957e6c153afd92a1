/** docs/reference/http-api.md lists the routes that the server has, and no other. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../http/test-server.ts';
import { readText, tableRows } from './markdown.ts';

const ENDPOINT = /`(GET|POST|PUT|PATCH|DELETE|WS) (\/[^`\s]*)`/g;

/** `GET /v1/calls/{id}` as the server knows it: `:id`, and a WebSocket begins as a GET. */
function listedEndpoints(): { method: string; url: string }[] {
  const cells = tableRows(readText('docs/reference/http-api.md')).map(([first = '']) => first);
  return cells.flatMap((cell) =>
    [...cell.matchAll(ENDPOINT)].map(([, method = '', path = '']) => ({
      method: method === 'WS' ? 'GET' : method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
    })),
  );
}

describe('the endpoints in docs/reference/http-api.md', () => {
  let app: FastifyInstance;

  beforeAll(async () => {
    ({ app } = await startServer());
    await app.ready();
  });

  afterAll(() => app.close());

  it('all exist', () => {
    const missing = listedEndpoints().filter(({ method, url }) => !app.hasRoute({ method: method as 'GET', url }));
    expect(missing).toEqual([]);
    expect(listedEndpoints().length).toBeGreaterThan(40);
  });

  it('are all that the API description has', () => {
    const described = Object.entries(app.swagger().paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    const listed = new Set(listedEndpoints().map(({ method, url }) => `${method} ${url}`));
    expect(described.filter((endpoint) => !listed.has(endpoint))).toEqual([]);
    expect(described.length).toBeGreaterThan(40);
  });
});
