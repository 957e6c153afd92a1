import { afterEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../http/test-server.ts';

const ARI = { ARI_URL: 'http://127.0.0.1:8088/ari', ARI_PASSWORD: 'pass' };

let testServer: TestServer;
afterEach(() => testServer.app.close());

async function ask(
  body: object,
  environment: Record<string, string> = ARI,
): Promise<{ status: number; body: unknown }> {
  testServer = await startServer(environment);
  const answer = await testServer.app.inject({ method: 'POST', url: '/v1/asterisk/assist', payload: body });
  return { status: answer.statusCode, body: answer.json() };
}

describe('POST /v1/asterisk/assist', () => {
  it('has a channel listened to, and answers with the id of its call', async () => {
    expect(await ask({ channel: 'PJSIP/alice-00000001' })).toEqual({
      status: 201,
      body: { callId: 'PJSIP/alice-00000001.1' },
    });
  });

  it('passes on who speaks and whose call it is', async () => {
    const names = { inbound: 'Maria', outbound: 'Tom' };
    await ask({ channel: '1.1', names, agent: 'tom' });
    expect(testServer.calls.assisted).toEqual([{ callerName: 'Maria', agentName: 'Tom', agent: 'tom' }]);
  });

  it('says what is missing where no Asterisk is named', async () => {
    expect(await ask({ channel: '1.1' }, {})).toMatchObject({
      status: 501,
      body: { error: { code: 'not_implemented' } },
    });
  });

  it.each([{}, { channel: '' }, { channel: 'x'.repeat(257) }, { channel: '1.1', more: 1 }])(
    'refuses %j',
    async (body) => {
      expect(await ask(body)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    },
  );

  it('asks for a key where there are keys', async () => {
    expect(await ask({ channel: '1.1' }, { ...ARI, API_KEYS: 'secret' })).toMatchObject({ status: 401 });
  });
});
