import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../src/protocols/base64.ts';

describe('base64', () => {
  it('comes back as it went', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeBase64(encodeBase64(bytes))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it.each(['A', 'AA', 'AA=', 'A===', '=', 'AA==AA==', 'AB==', 'AAA-', 'AAA_', 'AA A', 'AAAA\n', 'ŁŁŁŁ', 'AAA\u0000'])(
    '%j is not base64',
    (text) => {
      expect(decodeBase64(text)).toBeNull();
    },
  );

  it('accepts no two texts for the same bytes', () => {
    fc.assert(
      fc.property(fc.base64String(), fc.nat(), fc.string({ maxLength: 2 }), (text, at, junk) => {
        const position = at % (text.length + 1);
        const changed = text.slice(0, position) + junk + text.slice(position);
        const bytes = decodeBase64(changed);
        expect(bytes === null || encodeBase64(bytes) === changed).toBe(true);
      }),
    );
  });
});
