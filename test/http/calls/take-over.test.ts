import { afterEach, describe, expect, it } from 'vitest';
import { liveCall, startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

const post = (id: string, payload: object) =>
  testServer.app.inject({ method: 'POST', url: `/v1/calls/${id}/app`, payload });

describe('POST /v1/calls/:id/app', () => {
  it('takes a live call over and gives it back, in the name of who asks', async () => {
    testServer = await startServer();
    testServer.calls.views.push(liveCall('CA1'));
    const answers = [await post('CA1', { muted: true }), await post('CA1', { muted: false })];
    expect(answers.map((answer) => answer.json())).toEqual([
      { id: 'CA1', appMuted: true },
      { id: 'CA1', appMuted: false },
    ]);
    expect(testServer.calls.muted).toEqual([
      { id: 'CA1', isMuted: true, by: expect.stringMatching(/./) },
      { id: 'CA1', isMuted: false, by: expect.stringMatching(/./) },
    ]);
  });

  it('refuses a call that is not there, and a body that says nothing', async () => {
    testServer = await startServer();
    expect((await post('CA1', { muted: true })).statusCode).toBe(404);
    expect((await post('CA1', {})).statusCode).toBe(400);
  });
});
