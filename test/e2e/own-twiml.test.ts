/**
 * An app with TwiML of its own on Twilio's line, with a gateway in a process of its own: webhook, stream, session,
 * action, and what Twilio then asks for.
 */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type TestApp } from '../helpers/app.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { startWebhook, type TestWebhook } from '../helpers/webhook.ts';

const TONE = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_PRELOAD: 'false' };
const FORM = { CallSid: 'CA1', AccountSid: 'AC1', From: '+14155550100', To: '+14155550199', CallStatus: 'ringing' };

let app: TestApp;
let webhook: TestWebhook;
let gateway: GatewayProcess;
beforeEach(async () => {
  [app, webhook] = await Promise.all([startApp(), startWebhook()]);
  gateway = await startGateway({
    ...TONE,
    APP_TWIML_URL: `${webhook.origin}/voice`,
    OUTBOUND_ALLOW: 'apps=127.0.0.0/8',
  });
  webhook.answers['/voice'] = `<Say>Hello</Say><Connect action="/done"><ConversationRelay url="${app.url}"/></Connect>`;
});
afterEach(async () => {
  await gateway.stop('SIGKILL');
  await Promise.all([app.close(), webhook.close()]);
});

/** Twilio asks one of our webhooks. */
async function ask(url: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(FORM) });
  expect(answer.status).toBe(200);
  return await answer.text();
}

/** Twilio opens the stream that `twiml` names. */
async function stream(twiml: string): Promise<WebSocket> {
  const [, url = ''] = /<Stream url="([^"]+)"/.exec(twiml) ?? [];
  const [, token = ''] = /name="token" value="([\w-]+)"/.exec(twiml) ?? [];
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  const start = {
    streamSid: 'MZ1',
    accountSid: 'AC1',
    callSid: 'CA1',
    tracks: ['inbound'],
    mediaFormat,
    customParameters: { token },
  };
  socket.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
  socket.send(JSON.stringify({ event: 'start', sequenceNumber: '1', streamSid: 'MZ1', start }));
  return socket;
}

it('goes from the webhook through a session and its action to what Twilio is to do then', async () => {
  webhook.answers['/done'] = '<Dial>+14155550111</Dial>';
  const twiml = await ask(`${gateway.url}/twilio/voice`);
  expect(twiml).toMatch(
    /<Say>Hello<\/Say><Connect><Stream .*<\/Connect><Redirect method="POST">[^<]*\/twilio\/after<\/Redirect>/,
  );
  const socket = await stream(twiml);
  const closed = once(socket, 'close');
  await app.until(({ frames }) => frames.length > 0);
  expect(app.frames[0]).toMatchObject({ callSid: 'CA1', accountSid: 'AC1', from: FORM.From });
  app.say({ type: 'end', handoffData: 'x' });
  expect((await closed)[0]).toBe(1000);
  expect((await webhook.until(2)).fields).toMatchObject({
    SessionStatus: 'ended',
    HandoffData: 'x',
    CallStatus: 'in-progress',
  });
  const [, after = ''] = /<Redirect method="POST">([^<]+)</.exec(twiml) ?? [];
  expect(await ask(after)).toContain('<Response><Dial>+14155550111</Dial></Response>');
});

it('is told of the end of its session when the gateway is stopped', async () => {
  webhook.answers['/done'] = '';
  await gateway.stop('SIGKILL');
  gateway = await startGateway({
    ...TONE,
    APP_TWIML_URL: `${webhook.origin}/voice`,
    OUTBOUND_ALLOW: 'apps=127.0.0.0/8',
    DRAIN_TIMEOUT_MS: '0',
  });
  await stream(await ask(`${gateway.url}/twilio/voice`));
  await app.until(({ frames }) => frames.length > 0);
  expect(await gateway.stop()).toBe(0);
  expect(webhook.asked.at(-1)).toMatchObject({
    path: '/done',
    fields: { SessionStatus: 'completed', CallStatus: 'completed' },
  });
});
