import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { startServer, type TestServer } from '../http/test-server.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

const TYPES: Readonly<Record<string, RegExp>> = {
  html: /^text\/html; charset=utf-8$/,
  css: /^text\/css; charset=utf-8$/,
  js: /^(text|application)\/javascript; charset=utf-8$/,
  svg: /^image\/svg\+xml/,
};
const FILES = readdirSync(packagePath('src', 'console', 'page'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(packagePath('src', 'console', 'page'), join(parentPath, name)));

describe('the page', () => {
  it.each(['', ...FILES])('serves /%s with its type, nothing from elsewhere allowed', async (file) => {
    testServer = await startServer();
    const answer = await testServer.app.inject(`/${file}`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toMatch(TYPES[file.split('.').at(-1) || 'html'] ?? /^a type of TYPES$/);
    expect(answer.headers).toMatchObject({
      'content-security-policy': expect.stringMatching(/^default-src 'self'; .*frame-ancestors 'none'/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    expect(answer.headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/);
  });

  it.each(['/page', '/../package.json', '/%2e%2e/package.json', '/..%2fpage.ts', '/.git'])(
    'serves nothing at %s',
    async (url) => {
      testServer = await startServer();
      const answer = await testServer.app.inject(url);
      expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'route_not_found']);
    },
  );
});
