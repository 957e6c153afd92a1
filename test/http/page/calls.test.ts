/** The page is JavaScript for the browser, so its types stop at this file's door. */
import { expect, it } from 'vitest';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

interface PageCalls {
  nameCarrier(carrier: string): string;
}

const { nameCarrier } = (await import(packagePath('src', 'http', 'page', 'calls.js'))) as PageCalls;

it.each([
  ['twilio', 'Twilio'],
  ['signalwire', 'SignalWire'],
  ['audiosocket', 'AudioSocket'],
  ['sip', 'SIP'],
  ['browser', 'the page’s phone'],
])('a call of %s is said to be over %s', (carrier, name) => {
  expect(nameCarrier(carrier)).toBe(name);
});
