import { afterEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../test-server.ts';

interface OpenApi {
  readonly openapi: string;
  readonly paths: Record<
    string,
    Record<
      string,
      {
        operationId?: string;
        summary?: string;
        tags?: string[];
        security?: unknown[];
        responses: Record<string, { content?: Record<string, { schema: object }> }>;
      }
    >
  >;
}

let testServer: TestServer;
afterEach(() => testServer.app.close());

describe('the OpenAPI description', () => {
  it('has every endpoint and no other', async () => {
    testServer = await startServer();
    const { openapi, paths } = (await testServer.app.inject('/docs/json')).json<OpenApi>();
    expect(openapi).toBe('3.1.0');
    expect(
      Object.entries(paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
        .sort(),
    ).toEqual([
      'delete /v1/admin/users/{name}',
      'delete /v1/batches/{id}',
      'delete /v1/calls/{id}',
      'delete /v1/flow-recordings/{language}/{name}',
      'delete /v1/prompts',
      'delete /v1/prompts/{id}',
      'delete /v1/session',
      'get /asterisk/media',
      'get /exotel/media',
      'get /genesys/media',
      'get /health',
      'get /jambonz/stt',
      'get /jambonz/tts',
      'get /metrics',
      'get /plivo/media',
      'get /ready',
      'get /signalwire/media',
      'get /telnyx/media',
      'get /twilio/media',
      'get /v1/admin/db',
      'get /v1/admin/db/refused',
      'get /v1/admin/db/sweep',
      'get /v1/admin/users',
      'get /v1/audio/models',
      'get /v1/audio/speech/ws',
      'get /v1/audio/voices',
      'get /v1/audit',
      'get /v1/batches',
      'get /v1/batches/{id}',
      'get /v1/batches/{id}/events',
      'get /v1/batches/{id}/files/{number}',
      'get /v1/batches/{id}/results',
      'get /v1/calls',
      'get /v1/calls/export',
      'get /v1/calls/{id}',
      'get /v1/calls/{id}/events',
      'get /v1/calls/{id}/messages',
      'get /v1/calls/{id}/messages/{message}/sound',
      'get /v1/calls/{id}/sound',
      'get /v1/calls/{id}/transcript',
      'get /v1/captions',
      'get /v1/flow-prompts',
      'get /v1/flow-prompts/render',
      'get /v1/flow-prompts/{id}/sound',
      'get /v1/flow-recordings',
      'get /v1/flows',
      'get /v1/flows/{name}',
      'get /v1/flows/{name}/statistics',
      'get /v1/info',
      'get /v1/listen',
      'get /v1/models',
      'get /v1/models/{id}',
      'get /v1/prompts',
      'get /v1/prompts/{id}/sound',
      'get /v1/realtime',
      'get /v1/session',
      'get /v1/speak',
      'get /v1/system',
      'get /v1/system/checks',
      'get /v1/system/settings',
      'get /v1/voices',
      'get /v2/listen',
      'get /vonage/media',
      'get /ws/transcribe',
      'patch /v1/admin/users/{name}',
      'patch /v1/calls/{id}',
      'post /asterisk/calls/{uuid}',
      'post /cache/clear',
      'post /jambonz/tts',
      'post /twilio/after',
      'post /twilio/voice',
      'post /v1/admin/db/backup',
      'post /v1/admin/db/query',
      'post /v1/admin/db/refused/retry',
      'post /v1/admin/db/sweep',
      'post /v1/admin/users',
      'post /v1/asterisk/assist',
      'post /v1/audio/speech',
      'post /v1/audio/speech/clone',
      'post /v1/audio/speech/stream',
      'post /v1/audio/speech/stream/pcm',
      'post /v1/audio/subtitles',
      'post /v1/audio/transcriptions',
      'post /v1/audio/transcriptions/stream',
      'post /v1/audio/translations',
      'post /v1/auth/grant',
      'post /v1/batches',
      'post /v1/calls',
      'post /v1/calls/{id}/app',
      'post /v1/calls/{id}/dtmf',
      'post /v1/calls/{id}/hangup',
      'post /v1/calls/{id}/interrupt',
      'post /v1/calls/{id}/marks',
      'post /v1/calls/{id}/notes',
      'post /v1/calls/{id}/recording',
      'post /v1/calls/{id}/say',
      'post /v1/demo-call',
      'post /v1/flow-prompts/render',
      'post /v1/flow-recordings',
      'post /v1/listen',
      'post /v1/phone',
      'post /v1/prompts',
      'post /v1/realtime/client_secrets',
      'post /v1/session',
      'post /v1/speak',
      'post /v1/system/app-test',
    ]);
  });

  it('names each operation once, by a verb and a noun', async () => {
    testServer = await startServer();
    const { paths } = (await testServer.app.inject('/docs/json')).json<OpenApi>();
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const names = operations.map(({ operationId }) => operationId ?? '');
    expect(names.filter((name) => !/^[a-z]+(?:[A-Z][a-z]+)+$/.test(name))).toEqual([]);
    expect(names).toHaveLength(new Set(names).size);
    expect(operations.filter(({ tags }) => tags?.length !== 1)).toEqual([]);
  });

  it('has a summary and typed answers for each', async () => {
    testServer = await startServer();
    const { paths } = (await testServer.app.inject('/docs/json')).json<OpenApi>();
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { summary, responses }] of Object.entries(methods)) {
        expect(summary, `${method} ${path}`).toBeTruthy();
        for (const [status, { content }] of Object.entries(responses)) {
          if (status !== '204')
            expect(
              Object.values(content ?? {}).map(({ schema }) => Object.keys(schema).length > 0),
              `${method} ${path} ${status}`,
            ).toContain(true);
        }
      }
    }
  });

  it('says which endpoints ask for a key', async () => {
    testServer = await startServer();
    const { paths } = (await testServer.app.inject('/docs/json')).json<OpenApi>();
    expect(paths['/health']?.['get']?.security).toEqual([]);
    expect(paths['/v1/calls']?.['get']?.security).toBeUndefined();
  });
});

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
