import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyDetector, parseEvent, writeEvent } from '../../../../../src/carriers/sip/wire/rtp/telephone-event.ts';

describe('an event', () => {
  it.each([
    ['0', '00 0a 00a0', { digit: '0', end: false, duration: 160 }],
    ['#', '0b 8a 0320', { digit: '#', end: true, duration: 800 }],
    ['D', '0f 0a ffff', { digit: 'D', end: false, duration: 65_535 }],
  ])('%s is written and read', (_, text, event) => {
    const payload = Buffer.from(text.replaceAll(' ', ''), 'hex');
    expect(parseEvent(payload)).toEqual(event);
    expect(writeEvent(event)).toEqual(new Uint8Array(payload));
  });

  it.each([
    ['a flash', '100a0000'],
    ['a payload cut off', '010a00'],
    ['nothing', ''],
  ])('is none: %s', (_, text) => {
    expect(parseEvent(Buffer.from(text, 'hex'))).toBeNull();
  });

  it('cannot be written for what is no key', () => {
    for (const digit of ['', 'w', '12', 'a'])
      expect(() => writeEvent({ digit, end: false, duration: 0 })).toThrow(RangeError);
  });
});

describe('a key', () => {
  /**
   * The packets of a key pressed at `timestamp`, as RFC 4733 has them: the marker on the first, the end three times.
   */
  const packets = (digit: string, timestamp: number) => [
    ...[160, 320, 480, 640].map((duration, i) => ({
      event: { digit, end: false, duration },
      timestamp,
      marker: i === 0,
    })),
    ...[800, 800, 800].map((duration) => ({ event: { digit, end: true, duration }, timestamp, marker: false })),
  ];
  const hearAll = (all: ReturnType<typeof packets>): string => {
    const keys = new KeyDetector();
    return all.map(({ event, timestamp, marker }) => keys.receive(event, timestamp, marker) ?? '').join('');
  };

  it('is told at its first packet', () => {
    const keys = new KeyDetector();
    const [first, ...others] = packets('5', 1000);
    expect(keys.receive(first?.event ?? { digit: '', end: true, duration: 0 }, 1000, true)).toBe('5');
    for (const { event } of others) expect(keys.receive(event, 1000, false)).toBeNull();
  });

  it('is told once for each time it is pressed', () => {
    expect(hearAll([...packets('1', 0), ...packets('1', 1600), ...packets('#', 3200)])).toBe('11#');
  });

  it('is told once whatever is lost, repeated or out of order, as long as one packet comes', () => {
    const some = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(some, some, (one, other) => {
        const first = packets('7', 0xffff_ff00);
        const second = packets('7', 400);
        const pick = (all: typeof first, indexes: number[]) => indexes.flatMap((i) => all[i] ?? []);
        expect(hearAll([...pick(first, one), ...pick(second, other)])).toBe('77');
      }),
    );
  });

  it('is told once however long it is held', () => {
    const long = (timestamp: number, marker: boolean, end: boolean, durations: number[]) =>
      durations.map((duration, i) => ({ event: { digit: '9', end, duration }, timestamp, marker: marker && i === 0 }));
    const held = [
      ...long(0, true, false, [160, 40_000, 65_440]),
      ...long(0xffff, false, false, [160, 30_000, 65_440]),
      ...long(2 * 0xffff, false, true, [4000, 4000, 4000]),
    ];
    expect(hearAll(held)).toBe('9');
    expect(hearAll([...held, ...packets('9', 200_000)])).toBe('99');
  });

  it('that is pressed again after its end was lost is told again', () => {
    expect(hearAll([...packets('3', 0).slice(0, 4), ...packets('3', 1600).slice(1)])).toBe('33');
  });
});
