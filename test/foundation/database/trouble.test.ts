/** What operators read of a database that cannot be used. */
import { expect, it } from 'vitest';
import { describeTrouble, isDatabaseTrouble, reasonOf } from '../../../src/foundation/database/trouble.ts';

it('a full disk of PostgreSQL is named, and is trouble that passes', () => {
  const full = Object.assign(new Error('could not extend file "base/5/16923"'), { code: '53100' });
  expect([isDatabaseTrouble(full), reasonOf(full)]).toEqual([true, 'unreachable']);
  expect(describeTrouble(full)).toBe('its disk is full: 53100');
});
