import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startExample } from '../../src/cli/example.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

describe('an example', () => {
  it.each(['echo', 'llm', 'menu'])('%s greets whoever is set up, until it is stopped', async (name) => {
    const app = await startExample(name);
    const socket = new WebSocket(app.url);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'setup' }));
    const [data] = await once(socket, 'message');
    expect(JSON.parse(String(data))).toMatchObject({
      type: 'text',
      token: expect.stringMatching(/^(Hello|Welcome)/),
      last: true,
    });
    const closed = once(socket, 'close');
    await app.stop();
    await closed;
  });

  it.each(['echo', 'llm', 'menu'])('%s says in plain words that its port is taken, and what to do', async (name) => {
    const first = await startExample('echo');
    const { port } = new URL(first.url);
    const child = spawn(process.execPath, [packagePath('examples', `${name}.mjs`)], {
      env: { PORT: port },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    await first.stop();
    expect(code).toBe(1);
    expect(complaint).toBe(
      `port ${port} of 127.0.0.1 is taken: end what listens there, or choose another, as in PORT=9001 node ` +
        `examples/${name}.mjs\n`,
    );
  });

  it('that cannot start says why', async () => {
    await expect(startExample('nothing')).rejects.toThrow(
      /examples\/nothing\.mjs ended before it listened: .*Cannot find module/s,
    );
  });
});
