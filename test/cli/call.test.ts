import { expect, it } from 'vitest';
import { transcriptUrl } from '../../src/cli/call.ts';

it.each([
  [{}, 'http://127.0.0.1:8080'],
  [{ voice: 'https://bridge.example.com/twilio/voice' }, 'https://bridge.example.com'],
  [{ url: 'wss://bridge.example.com/asterisk/media' }, 'https://bridge.example.com'],
  [{ url: 'tcp://10.0.0.7:9019' }, 'http://10.0.0.7:8080'],
  [{ url: 'sip:bridge@10.0.0.7:5060' }, 'http://10.0.0.7:8080'],
  [{ url: 'sip:[::1]:5060;transport=udp' }, 'http://[::1]:8080'],
])('after a call with %j the transcript is looked for at %s', (order, origin) => {
  expect(transcriptUrl('CA1', order, { PORT: 8080 })).toBe(`${origin}/v1/calls/CA1/transcript?format=text`);
});
