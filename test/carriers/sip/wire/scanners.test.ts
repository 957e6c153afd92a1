import { describe, expect, it } from 'vitest';
import { isScanner } from '../../../../src/carriers/sip/wire/scanners.ts';

describe('isScanner', () => {
  it.each(['friendly-scanner', 'sipcli/v1.8', 'SIPVicious'])('knows %s', (name) => expect(isScanner(name)).toBe(true));
  it.each(['Asterisk PBX 22', 'Zoiper rv2.10', 'sipp', ''])('lets %s be', (name) =>
    expect(isScanner(name)).toBe(false),
  );
});
