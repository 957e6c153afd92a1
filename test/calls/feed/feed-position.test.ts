import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFeedPosition, readFeedPosition } from '../../../src/calls/feed/feed-position.ts';
import { Resume } from '../../../src/calls/feed/resume.ts';

const placed = (number: number, gateway: string, localNumber: number) => ({
  id: `e-${number}`,
  event: { type: 'call.deleted', callId: 'CA1' } as const,
  json: '{}',
  gateway,
  localNumber,
  number,
  reached: number,
  ahead: null,
});

describe('a position in the feed of several gateways', () => {
  it('is read from the id that says it', () => {
    expect(readFeedPosition('e-f-7')).toEqual({ epoch: 'e-f', number: 7, ahead: null });
    const ahead = { gateway: 'g-1', localNumber: 3 };
    expect(readFeedPosition('e-f-7~g-1-3')).toEqual({ epoch: 'e-f', number: 7, ahead });
  });

  it.each([
    '',
    '7',
    'e-9007199254740993',
    'e-',
    'e-07',
    'e-1e3',
    'e-7~',
    'e-7~g',
    'e-7~g-01',
    'e-7~g-1~h-2',
    'é-7',
    `${'e'.repeat(101)}-7`,
  ])('is not in "%s"', (id) => {
    expect(readFeedPosition(id)).toBeNull();
  });

  it('comes back from its id', () => {
    const name = fc.stringMatching(/^[0-9A-Za-z-]{1,40}$/);
    const number = fc.nat();
    const ahead = fc.option(fc.record({ gateway: name, localNumber: number }));
    fc.assert(
      fc.property(fc.record({ epoch: name, number, ahead }), (position) => {
        expect(readFeedPosition(formatFeedPosition(position))).toEqual(position);
      }),
    );
  });
});

describe('a reader that goes on at another gateway', () => {
  it('gets each event once, wherever it is cut, also after an outage of the gateway that it comes from', () => {
    const sources = fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(sources, fc.nat(30), fc.nat(30), fc.array(fc.nat(3)), (gateways, from, seen, cuts) => {
        const locals = { x: 0, y: 0 };
        const all = gateways.map((gateway, n) => placed(n + 1, gateway, ++locals[gateway]));
        const number = Math.min(from, all.length);
        const passed = all.filter((entry) => entry.gateway === 'x' && entry.number <= number).length;
        const localNumber = Math.min(passed + seen, locals.x);
        const ahead = localNumber > passed ? { gateway: 'x', localNumber } : null;
        const missing = all.filter(
          (entry) => entry.number > number && !(entry.gateway === 'x' && entry.localNumber <= localNumber),
        );
        const got: number[] = [];
        let id = formatFeedPosition({ epoch: 'e', number, ahead });
        for (const share of [...cuts, all.length]) {
          const position = readFeedPosition(id);
          expect(position).not.toBeNull();
          if (position === null) return;
          const resume = new Resume(position);
          const taken = all.flatMap((entry) => resume.take(entry) ?? []).slice(0, share);
          got.push(...taken.map((entry) => entry.number));
          id = taken.at(-1)?.id ?? id;
        }
        expect(got).toEqual(missing.map((entry) => entry.number));
      }),
    );
  });
});
