import { once } from 'node:events';
import { createServer } from 'node:http';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { askVoiceWebhook, readStreamOrder, signedStreamUrl, signTwilio } from '../../src/simulator/twilio-webhook.ts';

const TOKEN = '12345';

describe("the caller's signature", () => {
  it('is the one of the published example', () => {
    const form = {
      To: '+18005551212',
      From: '+14158675309',
      Digits: '1234',
      Caller: '+14158675309',
      CallSid: 'CA1234567890ABCDE',
    };
    expect(signTwilio(TOKEN, 'https://mycompany.com/myapp.php?foo=1&bar=2', form)).toBe('RSOYDt4T1cUTdK1PDd93/VVr8B8=');
  });

  it('is what the vendor SDK accepts for a handshake', () => {
    const url = signedStreamUrl('ws://127.0.0.1:8080/twilio/media', 'https://bridge.example.com');
    expect(url).toBe('wss://bridge.example.com/twilio/media');
    expect(twilio.validateRequest(TOKEN, signTwilio(TOKEN, url), url, {})).toBe(true);
  });

  it('is over wss even where the socket is ws', () => {
    expect(signedStreamUrl('ws://127.0.0.1:8080/twilio/media')).toBe('wss://127.0.0.1:8080/twilio/media');
  });
});

describe('reading TwiML', () => {
  it('finds the stream and its parameters as the vendor SDK writes them', () => {
    const response = new twilio.twiml.VoiceResponse();
    const stream = response.connect().stream({ url: 'wss://bridge.example.com/twilio/media' });
    stream.parameter({ name: 'token', value: 'a<b>&"c\'' });
    stream.parameter({ name: 'from', value: '+15550100' });
    expect(readStreamOrder(response.toString())).toEqual({
      url: 'wss://bridge.example.com/twilio/media',
      parameters: { token: 'a<b>&"c\'', from: '+15550100' },
    });
  });

  it('refuses an answer without a stream', () => {
    expect(() => readStreamOrder('<Response><Reject/></Response>')).toThrow(/without a <Stream/);
  });
});

describe('announcing a call', () => {
  it('posts a signed form and follows the answer', async () => {
    let accepted = false;
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const form = Object.fromEntries(new URLSearchParams(body));
      const signature = String(request.headers['x-twilio-signature']);
      accepted =
        twilio.validateRequest(TOKEN, signature, 'https://bridge.example.com/twilio/voice', form) &&
        form['CallSid'] === 'CA1';
      response.end('<Response><Connect><Stream url="wss://bridge.example.com/m"/></Connect></Response>');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const order = await askVoiceWebhook({
      url: `http://127.0.0.1:${port}/twilio/voice`,
      authToken: TOKEN,
      publicOrigin: 'https://bridge.example.com',
      callSid: 'CA1',
      from: '+15550100',
      to: '+15550199',
    });
    expect(accepted).toBe(true);
    expect(order).toEqual({ url: 'wss://bridge.example.com/m', parameters: {} });
    server.close();
  });
});
