/** One of two servers hangs: its kernel takes connections, and nobody answers. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployedNginx, whyNoNginx } from '../helpers/nginx.ts';

describe.runIf(whyNoNginx === '')(`the nginx of deploy/, before a gateway that hangs${whyNoNginx}`, () => {
  const asked: string[] = [];
  const taken = new Set<Socket>();
  const hung = createServer((socket) => {
    taken.add(socket.on('error', () => undefined));
    socket.once('data', (data) => void asked.push(data.toString().split(' HTTP')[0] ?? ''));
  });
  const sound = createHttpServer((incoming, answer) => {
    incoming.resume();
    answer.end('<Response/>');
  });
  let nginx: Awaited<ReturnType<typeof startDeployedNginx>>;

  const portOf = async (server: Server): Promise<number> => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  beforeAll(async () => {
    nginx = await startDeployedNginx([await portOf(hung), await portOf(sound)], '200ms');
  });
  afterAll(async () => {
    await nginx.close();
    for (const socket of taken) socket.destroy();
    hung.close();
    sound.close();
  });

  const ask = (method: string, path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(`${nginx.url}${path}`, { method, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end(method === 'POST' ? 'CallSid=CA1' : undefined);
    });

  it('answers each webhook by the other one, and sends no stream to the one that was silent', async () => {
    const paths = ['/twilio/voice', '/twilio/after?flow=over', '/twilio/voice'];
    for (const path of paths) expect([path, await ask('POST', path)]).toEqual([path, 200]);
    for (let n = 0; n < 4; n++) expect(await ask('GET', '/twilio/media')).toBe(200);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/^POST \/twilio\/(voice|after)/);
  });
});
