import { afterEach, describe, expect, it } from 'vitest';
import { liveCall, startServer, type TestServer } from '../test-server.ts';

let server: TestServer;
afterEach(() => server.app.close());

async function change(payload: object, id = 'CA1') {
  server = await startServer();
  server.calls.views.push(liveCall('CA1'), { ...liveCall('CA2'), state: 'ended' });
  return server.app.inject({ method: 'PATCH', url: `/v1/calls/${id}`, payload });
}

describe('PATCH /v1/calls/:id', () => {
  it.each(['de', 'pt-BR', 'German', 'auto'])('says that %s is spoken from now on', async (language) => {
    const answer = await change({ language });
    expect([answer.statusCode, answer.json()]).toEqual([200, expect.objectContaining({ id: 'CA1' })]);
    expect(server.calls.named).toEqual([{ id: 'CA1', language }]);
  });

  it('changes nothing at all where the language is not understood', async () => {
    const answer = await change({ outcome: 'solved', language: 'xh' });
    expect(answer.json()).toMatchObject({ error: { code: 'unsupported_language' } });
    expect((await server.app.inject('/v1/calls/CA1')).json()).toMatchObject({ outcome: null });
  });

  it('refuses what is no language, and a call that has ended', async () => {
    const nonsense = await change({ language: 'the usual' });
    expect([nonsense.statusCode, nonsense.json().error.message]).toEqual([
      400,
      expect.stringContaining('expected a language such as de'),
    ]);
    await server.app.close();
    const ended = await change({ language: 'de' }, 'CA2');
    expect([ended.statusCode, ended.json().error.code]).toEqual([404, 'call_not_found']);
  });
});
