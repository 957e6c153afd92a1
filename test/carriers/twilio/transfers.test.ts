/** Transfers of Twilio's calls: by what follows their stream, and by a pretended REST API. */
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { TransferOutcome } from '../../../src/calls/leg.ts';
import { TwilioTransfers } from '../../../src/carriers/twilio/transfers.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import type { CallStart } from '../../../src/protocols/dialect.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { TestWebhook } from '../../helpers/webhook.ts';
import { startServer, type TestServer } from '../../http/test-server.ts';

const SID = 'CA0123456789abcdef0123456789abcdef';
const PATH = `/2010-04-01/Accounts/AC1/Calls/${SID}.json`;
const DIAL = '<Response><Dial timeout="20"><Number>+493012345</Number></Dial></Response>';
const ACTION = 'https://bridge.example.com/twilio/after?flow=dialled';
const END = '<Response><Hangup/></Response>';

let api: TestWebhook | null = null;
let testServer: TestServer | null = null;
let logLines: string[] = [];
afterEach(async () => {
  await api?.close();
  await testServer?.app.close();
  api = null;
  testServer = null;
});

const start = (parameters: Record<string, string> = {}): CallStart => ({
  carrier: 'twilio',
  callId: SID,
  streamId: 'MZ1',
  from: null,
  to: null,
  tracks: ['inbound'],
  codec: MULAW_8K,
  playback: 'buffered',
  parameters,
});

async function open(settings: { sid?: string; token?: string; answer?: number } = {}): Promise<TwilioTransfers> {
  const { sid = 'AC1', token = 'secret', answer = 200 } = settings;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = new TestWebhook(server);
  api.answers[PATH] = (response) => void response.writeHead(answer).end('{}');
  logLines = [];
  return new TwilioTransfers({
    settings: { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: token },
    clock: new FakeClock(),
    log: createLog('debug', { write: (line: string) => void logLines.push(line) }),
    apiUrl: api.origin,
  });
}

function transfer(
  transfers: TwilioTransfers,
  parameters: Record<string, string> = {},
  to = '+493012345',
): Promise<TransferOutcome> {
  return transfers.transfer(start(parameters), { to, from: null, timeoutMs: 20_000, handoffData: null });
}

describe('a call that our webhook began', () => {
  it('goes on with a Dial when Twilio asks what follows, once', async () => {
    const transfers = await open();
    expect(await transfer(transfers, { after: 'redirect' })).toBe('transferred');
    expect(await transfers.followUp(SID, ACTION)).toContain(DIAL);
    expect(await transfers.followUp(SID, ACTION)).toContain(END);
    expect(api?.asked).toEqual([]);
  });

  it.each([
    ['busy', 'busy'],
    ['no-answer', 'unanswered'],
    ['failed', 'refused'],
  ])('comes back to its flow when the Dial says %s, once', async (status, transferResult) => {
    const transfers = await open();
    const request = { to: '+493012345', from: null, timeoutMs: 20_000, handoffData: null, resume: 'place' };
    await transfers.transfer(start({ after: 'redirect', flow: 'shop' }), request);
    expect(await transfers.comeBack(SID, status)).toBeNull();
    expect(await transfers.followUp(SID, ACTION)).toContain(`<Dial timeout="20" action="${ACTION}">`);
    const parameters = { after: 'redirect', flow: 'shop', resume: 'place', transferResult };
    expect(await transfers.comeBack(SID, status)).toEqual(parameters);
    expect(await transfers.comeBack(SID, status)).toBeNull();
  });

  it('ends when somebody had it', async () => {
    const transfers = await open();
    const request = { to: '+493012345', from: null, timeoutMs: 20_000, handoffData: null, resume: 'place' };
    await transfers.transfer(start({ after: 'redirect' }), request);
    await transfers.followUp(SID, ACTION);
    expect(await transfers.comeBack(SID, 'completed')).toBeNull();
  });

  it('ends where nothing was transferred', async () => {
    expect(await (await open()).followUp(SID, ACTION)).toContain(END);
  });
});

describe('another call', () => {
  it("is changed by Twilio's REST API", async () => {
    const transfers = await open();
    expect(await transfer(transfers)).toBe('transferred');
    const [asked] = api?.asked ?? [];
    expect(asked).toMatchObject({ method: 'POST', path: PATH });
    expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from('AC1:secret').toString('base64')}`);
    expect(asked?.fields['Twiml']).toContain(DIAL);
  });

  it.each([401, 404, 302, 500])('stays when that answers %i, and the log names no token', async (answer) => {
    const transfers = await open({ answer });
    expect(await transfer(transfers)).toBe('refused');
    expect(logLines.join('\n')).toContain(String(answer));
    expect(logLines.join('\n')).not.toContain('secret');
  });

  it('stays when that cannot be reached', async () => {
    const transfers = await open();
    await api?.close();
    api = null;
    expect(await transfer(transfers)).toBe('refused');
  });

  it.each([
    ['no account', { sid: '' }],
    ['no token', { token: '' }],
    ['an account that is a path', { sid: '../x' }],
  ])('cannot be transferred with %s', async (_, settings) => {
    const transfers = await open(settings);
    expect(await transfer(transfers)).toBe('unsupported');
    expect(api?.asked).toEqual([]);
  });

  it('cannot be given to what Twilio cannot call', async () => {
    expect(await transfer(await open(), {}, 'sales/6002')).toBe('unsupported');
  });
});

describe('the webhook of a flow', () => {
  const post = (url: string) =>
    testServer?.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ CallSid: SID }).toString(),
    });

  it('has Twilio ask what follows the stream', async () => {
    testServer = await startServer({
      PUBLIC_URL: 'https://bridge.example.com',
      API_KEYS: 'a-key-of-sixteen-characters',
    });
    testServer.calls.flows.push('shop');
    const answer = await post('/twilio/voice?flow=shop');
    expect(answer?.body).toContain('<Parameter name="after" value="redirect"/>');
    expect(answer?.body).toMatch(
      /<\/Connect><Redirect method="POST">https:\/\/bridge\.example\.com\/twilio\/after\?flow=over<\/Redirect><\/Response>$/,
    );
    expect((await post('/twilio/after?flow=over'))?.body).toContain(END);
  });

  it('of no flow does not', async () => {
    testServer = await startServer();
    expect((await post('/twilio/voice?flow=unknown'))?.body).not.toContain('Redirect');
  });
});
