import type { ServerResponse } from 'node:http';
import type { LookupFunction } from 'node:net';
import twilio from 'twilio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TwimlClient } from '../../../../src/calls/app/twiml/client.ts';
import { createLog } from '../../../../src/foundation/log/log.ts';
import { Metrics } from '../../../../src/foundation/metrics.ts';
import { readSettings } from '../../../../src/foundation/settings/config.ts';
import { verbsOf } from '../../../../src/protocols/twiml/document.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { freePort } from '../../../helpers/ports.ts';
import { startWebhook, type TestWebhook } from '../../../helpers/webhook.ts';

const KEY = 'auth-token';
const FIELDS: [string, string][] = [
  ['CallSid', 'CA1'],
  ['From', '+14155550100'],
  ['CallerName', 'Jürgen & Söhne'],
  ['To', ''],
];
const metrics = new Metrics();
/** Whatever the name, it is a host of the internet that happens to be this machine. */
const here: LookupFunction = (_name, options, done) => {
  if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

let webhook: TestWebhook;
let clock: FakeClock;
let logLines: string[];
beforeEach(async () => {
  webhook = await startWebhook();
  clock = new FakeClock();
  logLines = [];
});
afterEach(() => webhook.close());

function client(
  environment: Record<string, string> = { OUTBOUND_ALLOW: 'apps=127.0.0.0/8', APP_SIGNING_KEY: KEY },
  lookup?: LookupFunction,
) {
  const log = createLog('debug', { write: (line) => void logLines.push(line) });
  return new TwimlClient({
    settings: readSettings(environment),
    clock,
    metrics,
    log,
    ...(lookup === undefined ? {} : { lookup }),
  });
}

function ask(path: string, method: 'GET' | 'POST' = 'POST', signal = new AbortController().signal, from = client()) {
  return from.fetch({ link: { url: webhook.origin + path, method }, fields: FIELDS, signal });
}

/** Whether Twilio's own library takes request `index` for Twilio's. */
function isSigned(index = 0): boolean {
  const request = webhook.asked[index];
  if (request === undefined) throw new Error('nobody has asked');
  const { headers, path, fields } = request;
  return twilio.validateRequest(KEY, String(headers['x-twilio-signature']), webhook.origin + path, fields);
}

describe('the charset of a document', () => {
  const text = (declared: string) => `${declared}<Response><Say>Grüß Gott</Say></Response>`;
  const latin1 = '<?xml version="1.0" encoding="ISO-8859-1"?>';

  it.each([
    ['is UTF-8', 'text/xml', Buffer.from(text(''))],
    ['is as it declares', 'text/xml', Buffer.from(text(latin1), 'latin1')],
    ['is as the server says, rather than as it declares', 'text/xml; charset=utf-8', Buffer.from(text(latin1))],
    ['is as the server says', 'application/xml;charset="iso-8859-1"', Buffer.from(text(''), 'latin1')],
    ['is as its first bytes say', 'text/xml; charset=latin1', Buffer.from(`\ufeff${text('')}`)],
    ['is UTF-16 by its first bytes', 'text/xml', Buffer.from(`\ufeff${text('')}`, 'utf16le')],
  ])('%s', async (_what, type, body) => {
    webhook.answers['/voice'] = (response) => response.setHeader('content-type', type).end(body);
    expect(verbsOf(await ask('/voice'))).toMatchObject([{ type: 'say', text: 'Grüß Gott' }]);
  });

  it('is refused with a word when it is unknown', async () => {
    webhook.answers['/voice'] = (response) =>
      response.setHeader('content-type', 'text/xml; charset=nothing').end(text(''));
    await expect(ask('/voice')).rejects.toThrow('its charset is unknown, expected UTF-8');
  });
});

describe('an app is asked for TwiML', () => {
  it("with a form that Twilio's library takes for Twilio's, and its document is read from there", async () => {
    webhook.answers['/voice'] = '<Redirect>next</Redirect>';
    const document = await ask("/voice?it's=1&b=%2B");
    expect(verbsOf(document)).toEqual([{ type: 'redirect', link: { url: `${webhook.origin}/next`, method: 'POST' } }]);
    expect(webhook.asked).toMatchObject([{ method: 'POST', fields: Object.fromEntries(FIELDS) }]);
    expect([isSigned(), webhook.asked[0]?.headers['content-type']]).toEqual([
      true,
      'application/x-www-form-urlencoded; charset=UTF-8',
    ]);
    expect(webhook.asked[0]?.headers['x-trunkline-signature']).toBe(webhook.asked[0]?.headers['x-twilio-signature']);
  });

  it('by GET with the fields in the query, signed as well', async () => {
    webhook.answers['/voice'] = '';
    await ask('/voice?CallSid=own', 'GET');
    const [{ method, path } = { method: '', path: '' }] = webhook.asked;
    const query = new URLSearchParams(path.split('?')[1]);
    expect([method, query.getAll('CallSid'), query.get('CallerName'), isSigned()]).toEqual([
      'GET',
      ['own'],
      'Jürgen & Söhne',
      true,
    ]);
  });

  it('unsigned without a key', async () => {
    webhook.answers['/voice'] = '';
    await ask('/voice', 'POST', undefined, client({ OUTBOUND_ALLOW: 'apps=127.0.0.0/8' }));
    expect(Object.keys(webhook.asked[0]?.headers ?? {}).filter((name) => name.includes('signature'))).toEqual([]);
  });

  it.each([
    [302, 'GET'],
    [307, 'POST'],
  ])('where its server sends us with %i, by %s and signed anew', async (status, method) => {
    webhook.answers['/old'] = (response: ServerResponse) => response.writeHead(status, { location: '/new' }).end();
    webhook.answers['/new'] = '<Redirect>next</Redirect>';
    await ask('/old');
    expect(webhook.asked.map((asked) => asked.method)).toEqual(['POST', method]);
    expect([isSigned(0), isSigned(1)]).toEqual([true, true]);
  });

  it.each([404, 405])('by GET where nobody named a method and its server answers POST with %i', async (status) => {
    webhook.answers['/voice'] = (response) =>
      response.req.method === 'GET' ? response.end('<Response><Hangup/></Response>') : response.writeHead(status).end();
    const link = { url: `${webhook.origin}/voice`, method: 'POST', orGet: true } as const;
    const { signal } = new AbortController();
    const document = await client().fetch({ link, fields: FIELDS, signal });
    expect([verbsOf(document), webhook.asked.map(({ method }) => method)]).toEqual([
      [{ type: 'hangup' }],
      ['POST', 'GET'],
    ]);
    await expect(client().fetch({ link: { url: link.url, method: 'POST' }, fields: FIELDS, signal })).rejects.toThrow(
      `answered ${status}`,
    );
  });

  it('once more when nobody took the connection', async () => {
    const port = await freePort();
    const link = { url: `http://127.0.0.1:${port}/voice?key=secret`, method: 'POST' as const };
    const answer = client().fetch({ link, fields: FIELDS, signal: new AbortController().signal });
    const refused = expect(answer).rejects.toMatchObject({
      code: 'twiml_failed',
      message: expect.stringContaining('(ECONNREFUSED)'),
    });
    while (clock.pending < 2) await new Promise(setImmediate);
    await clock.run(250);
    await refused;
    expect(logLines.join()).toContain('"level":40');
    expect(logLines.join()).toContain('"callId":"CA1"');
    expect(logLines.join()).not.toMatch(/secret|4155550100|voice/);
  });
});

describe('an app that cannot be had', () => {
  it.each([
    [
      'answers an error',
      (response: ServerResponse) => response.writeHead(500).end('secret'),
      /answered 500, expected 200/,
    ],
    ['answers no TwiML', (response: ServerResponse) => response.end('secret'), /no well-formed XML/],
    ['answers too much', (response: ServerResponse) => response.end(' '.repeat(300_000)), /more than 262144 bytes/],
    [
      'sends us in circles',
      (response: ServerResponse) => response.writeHead(302, { location: '/voice' }).end(),
      /redirects more than 3 times/,
    ],
  ])('%s: it is told, without what is private', async (_what, answer, message) => {
    webhook.answers['/voice'] = answer;
    await expect(ask('/voice?key=secret')).rejects.toThrow(message);
    expect(logLines).toHaveLength(1);
    expect(logLines.join()).not.toMatch(/secret|4155550100/);
  });

  it('does not answer in time', async () => {
    webhook.answers['/voice'] = () => undefined;
    const late = expect(ask('/voice')).rejects.toThrow(/did not come within 10000 ms \(APP_TWIML_TIMEOUT_MS\)/);
    await webhook.until(1);
    clock.advance(10_000);
    await late;
  });

  it('is not waited for when nobody wants it any more, and is no trouble then', async () => {
    webhook.answers['/voice'] = () => undefined;
    const call = new AbortController();
    const asked = client();
    const answer = expect(ask('/voice', 'POST', call.signal, asked)).rejects.toThrow('over');
    await webhook.until(1);
    call.abort(new Error('over'));
    await answer;
    await asked.settled();
    expect([logLines, clock.pending]).toEqual([[], 0]);
  });
});

describe('a private address', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '169.254.169.254'])('is not asked: %s', async (host) => {
    const link = { url: `http://${host}:${new URL(webhook.origin).port}/voice`, method: 'POST' as const };
    const answer = client({}).fetch({ link, fields: FIELDS, signal: new AbortController().signal });
    await expect(answer).rejects.toThrow(/private network.*OUTBOUND_ALLOW/);
    expect(webhook.asked).toEqual([]);
  });

  it('is not asked where a public one sends us', async () => {
    const { port } = new URL(webhook.origin);
    webhook.answers['/voice'] = (response: ServerResponse) =>
      response.writeHead(307, { location: `${webhook.origin}/secret` }).end();
    const link = { url: `http://public.example:${port}/voice`, method: 'POST' as const };
    const answer = client({}, here).fetch({ link, fields: FIELDS, signal: new AbortController().signal });
    await expect(answer).rejects.toThrow(/private network/);
    expect(webhook.paths).toEqual(['/voice']);
  });
});
