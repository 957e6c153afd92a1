import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startExample } from '../../src/cli/example.ts';

describe('an example', () => {
  it.each(['echo', 'llm', 'menu'])('%s greets whoever is set up, until it is stopped', async (name) => {
    const app = await startExample(name);
    const socket = new WebSocket(app.url);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'setup' }));
    const [data] = await once(socket, 'message');
    expect(JSON.parse(String(data))).toMatchObject({ type: 'text', token: expect.stringMatching(/^(Hello|Welcome)/), last: true });
    const closed = once(socket, 'close');
    await app.stop();
    await closed;
  });

  it('that cannot start says why', async () => {
    await expect(startExample('nothing')).rejects.toThrow(/examples\/nothing\.mjs ended before it listened: .*Cannot find module/s);
  });
});
