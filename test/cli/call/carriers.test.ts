import { describe, expect, it } from 'vitest';
import { CALL_CARRIERS, complaintAbout } from '../../../src/cli/call/carriers.ts';
import { outcomeOf } from '../../../src/cli/call/websocket-outcome.ts';

const NOTHING_GIVEN = () => false;

describe('the carriers of `trunkline call`', () => {
  it.each(Object.entries(CALL_CARRIERS))('%s takes its own example and can be loaded', async (name, carrier) => {
    expect(complaintAbout(name as keyof typeof CALL_CARRIERS, carrier.exampleUrl, NOTHING_GIVEN)).toBeNull();
    expect(await carrier.load()).toBeTypeOf('function');
  });

  it('refuse an option that does not apply, and a URL of another kind', () => {
    expect(complaintAbout('sip', undefined, (option) => option === 'plainText')).toBe(
      '--plain-text does not apply to calls of SIP',
    );
    expect(complaintAbout('sip', 'ws://127.0.0.1:8080/twilio/media', NOTHING_GIVEN)).toMatch(
      /^--url: expected one such as sip:/,
    );
    expect(complaintAbout('twilio', undefined, (option) => option === 'jitterMs')).toBeNull();
  });
});

describe('the outcome of a call over a WebSocket', () => {
  const report = {
    sentMs: 1000,
    received: { mediaBytes: 160, marks: 2, clears: 1 },
    warnings: [],
    closeReason: '',
  } as unknown as Parameters<typeof outcomeOf>[0];
  const options = {} as Parameters<typeof outcomeOf>[1];

  it.each([
    [1000, undefined, true],
    [4403, undefined, false],
    [1006, undefined, false],
    [1006, 500, true],
  ])('with close code %i and --drop-after-ms %s is as planned: %s', (closeCode, dropAfterMs, asPlanned) => {
    const given = dropAfterMs === undefined ? options : { ...options, dropAfterMs };
    expect(outcomeOf({ ...report, closeCode }, given)).toMatchObject({
      asPlanned,
      ended: String(closeCode),
      received: '160 bytes of audio, 2 marks, 1 clears',
    });
  });
});
