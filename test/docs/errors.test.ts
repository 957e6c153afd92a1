import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode, TrunklineError } from '../../src/foundation/errors.ts';
import { SETTINGS } from '../../src/foundation/settings/settings.ts';
import { plainRows, readText } from './markdown.ts';

const ROWS = plainRows(readText('docs/reference/errors.md'));

describe('docs/reference/errors.md', () => {
  it('has every error of the code, and no other, in the same order with the same statuses', () => {
    const documented = ROWS.map(([code, status, closeCode, type]) => [code, Number(status), Number(closeCode), type]);
    expect(documented).toEqual(
      Object.entries(ERRORS).map(([code, { status, closeCode, type }]) => [code, status, closeCode, type]),
    );
  });

  it('explains each, and names no setting that does not exist', () => {
    for (const [code, , , , meaning = ''] of ROWS) {
      expect(meaning.length, code).toBeGreaterThan(20);
      for (const [, name = ''] of meaning.matchAll(/`([A-Z][A-Z_]+)(?:=\w+)?`/g))
        expect(SETTINGS, code).toHaveProperty(name);
    }
  });
});

describe('a coded error', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])(
    '%s has a body in the shape of OpenAI and a close code that may be sent',
    (code) => {
      const error = new TrunklineError(code, 'what came, what was expected');
      expect(error.toBody()).toEqual({
        error: { message: 'what came, what was expected', type: ERRORS[code].type, param: null, code },
      });
      expect(error.status).toBeGreaterThanOrEqual(400);
      expect(
        [1003, 1007, 1009, 1011, 1012, 1013].includes(error.closeCode) ||
          (error.closeCode >= 4000 && error.closeCode <= 4999),
      ).toBe(true);
    },
  );
});
