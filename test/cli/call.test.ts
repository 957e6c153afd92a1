import { expect, it } from 'vitest';
import { explainRefusal } from '../../src/cli/call/sip.ts';
import { transcriptUrl } from '../../src/cli/call.ts';
import { RefusedError } from '../../src/simulator/sip-call.ts';

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

it('a bridge that does not answer is not said to have answered 408', () => {
  expect(explainRefusal(new RefusedError(408), 'sip:a@127.0.0.1:5060')).toMatchObject({
    message: expect.stringContaining('nothing answered at sip:a@'),
  });
  expect(explainRefusal(new RefusedError(503), 'sip:a@127.0.0.1:5060')).toMatchObject({ message: 'the bridge answered 503' });
});
