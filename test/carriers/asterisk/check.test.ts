/** What the doctor says of an Asterisk's REST interface. The answers are those of a real 22.10.1. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { checkAsterisk } from '../../../src/carriers/asterisk/check.ts';
import { freePort } from '../../helpers/ports.ts';

const HTML_404 =
  '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\r\n<html><head>\r\n<title>404 Not Found</title>\r\n</head>' +
  '<body>\r\n<h1>Not Found</h1>\r\n<p>The requested URL was not found on this server.</p>\r\n</body></html>\r\n';
const INFO = '{"build":{"os":"Linux"},"system":{"version":"22.10.1","entity_id":"00:00:00:00:00:00"}}';
const MODULE = '{"name":"chan_websocket.so","description":"Websocket Media Channel","status":"Running"}';

type Answers = Readonly<Record<string, readonly [status: number, body: string]>>;

const GOOD: Answers = {
  'GET /ari/asterisk/info': [200, INFO],
  'POST /ari/applications/trunkline/subscription': [400, '{"message":"Missing parameter eventSource"}'],
  'GET /ari/asterisk/modules/chan_websocket.so': [200, MODULE],
  'GET /ari/applications/trunkline': [200, '{"name":"trunkline"}'],
};

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

async function found(answers: Answers) {
  server = createServer(({ method, url = '' }, response) => {
    const [status, body] = answers[`${method} ${url.replace(/\?.*/, '')}`] ?? [404, HTML_404];
    response.writeHead(status).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return check(`http://127.0.0.1:${(server.address() as AddressInfo).port}/ari`);
}

function check(url: string) {
  return checkAsterisk({ ARI_URL: url, ARI_USER: 'trunkline', ARI_PASSWORD: 'secret-of-ari', ARI_APP: 'trunkline' });
}

describe("the doctor's finding on Asterisk", () => {
  it('is none where ARI_URL is not set', async () => {
    expect(await check('')).toEqual([]);
  });

  it('is good where ARI takes us, can bring sound and knows the application', async () => {
    expect(await found(GOOD)).toEqual([
      { name: 'asterisk', status: 'ok', detail: 'ARI of Asterisk 22.10.1, with the application trunkline' },
    ]);
  });

  it.each<[string, string, string, Answers]>([
    ['a server without ARI', 'fail', '`ari show status`', {}],
    [
      'a wrong password',
      'fail',
      'ARI_PASSWORD are not those',
      {
        'GET /ari/asterisk/info': [401, '{"message":"Authentication required"}'],
      },
    ],
    [
      'a user who may only read',
      'fail',
      'read_only = no',
      {
        ...GOOD,
        'POST /ari/applications/trunkline/subscription': [403, '{"message":"Write access denied"}'],
      },
    ],
    [
      'an Asterisk without chan_websocket',
      'fail',
      'chan_websocket.so is not loaded',
      {
        ...GOOD,
        'GET /ari/asterisk/modules/chan_websocket.so': [
          404,
          '{"message":"Module could not be found in running modules"}',
        ],
      },
    ],
    [
      'an application that nobody has',
      'warn',
      'no application trunkline',
      {
        ...GOOD,
        'GET /ari/applications/trunkline': [404, '{"message":"Application not found"}'],
      },
    ],
    ['an Asterisk that starts', 'fail', 'still starting', { 'GET /ari/asterisk/info': [503, ''] }],
  ])('tells %s', async (_what, status, words, answers) => {
    const findings = await found(answers);
    expect(findings).toMatchObject([{ name: 'asterisk', status, detail: expect.stringContaining(words) }]);
    expect(JSON.stringify(findings)).not.toContain('secret-of-ari');
  });

  it('tells an HTTP server that is disabled', async () => {
    const [finding] = await check(`http://127.0.0.1:${await freePort()}/ari`);
    expect(finding).toMatchObject({ status: 'fail', detail: expect.stringContaining('`http show status`') });
  });
});
