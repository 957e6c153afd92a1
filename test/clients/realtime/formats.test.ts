import { expect, it } from 'vitest';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer } from '../../http/test-server.ts';
import { RealtimeClient } from './realtime-client.ts';

it('a session takes no more than a hundred changes of its format, and tells which one holds', async () => {
  const server = await startServer();
  const client = await RealtimeClient.open(`${await listen(server.app)}/v1/realtime?intent=transcription`);
  try {
    for (let change = 0; change < 150; change++)
      client.update({ format: { type: change % 2 === 0 ? 'audio/pcmu' : 'audio/pcma' } });
    await eventually(() => expect(client.of('session.updated')).toHaveLength(151));
    const formats = client.of('session.updated').map(({ session }) => JSON.stringify(session).match(/pcm[ua]/)?.[0]);
    expect(new Set(formats.slice(1, 90)).size).toBe(2);
    expect(new Set(formats.slice(101)).size).toBe(1);
  } finally {
    client.socket.terminate();
    await server.app.close();
  }
});
