import { afterEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

describe('GET /docs', () => {
  it('is a page whose parts all come from here', async () => {
    testServer = await startServer();
    const page = await testServer.app.inject('/docs/');
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'self'; /);
    const parts = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part ?? '');
    expect(parts.length).toBeGreaterThan(3);
    for (const part of parts) {
      expect(part).not.toMatch(/^(https?:)?\/\//);
      expect((await testServer.app.inject(new URL(part, 'http://localhost/docs/').pathname)).statusCode, part).toBe(
        200,
      );
    }
  });
});
