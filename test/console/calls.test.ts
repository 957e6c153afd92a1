/** The page is JavaScript for the browser, so its types stop at this file's door. */
import { expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

interface PageCalls {
  nameCarrier(carrier: string): string;
  isolate(name: string): string;
}

const { nameCarrier, isolate } = (await import(packagePath('src', 'console', 'page', 'calls.js'))) as PageCalls;

it.each([
  ['twilio', 'Twilio'],
  ['signalwire', 'SignalWire'],
  ['audiosocket', 'AudioSocket'],
  ['sip', 'SIP'],
  ['browser', 'the page’s phone'],
])('a call of %s is said to be over %s', (carrier, name) => {
  expect(nameCarrier(carrier)).toBe(name);
});

it('a name that is written from right to left does not turn round what stands beside it', () => {
  expect(isolate('Maria → Tom')).toBe('Maria → Tom');
  expect(isolate('Nguyễn Thị')).toBe('Nguyễn Thị');
  expect(isolate('דנה')).toBe('\u2068דנה\u2069');
  expect(isolate('\u202eabc')).toBe('\u2068\u202eabc\u2069');
});
