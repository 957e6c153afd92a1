import { scryptSync } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/foundation/clock.ts';
import { Passwords } from '../../../src/records/users/passwords.ts';
import { formatScrypt, hashKey, kindOfSecret, makeKey, parseScrypt } from '../../../src/records/users/secrets.ts';

const CHEAP = { ln: 4, r: 8, p: 1 };
let passwords: Passwords;
afterEach(() => passwords.close());

describe('passwords', () => {
  it('are kept as scrypt, and known again', async () => {
    passwords = new Passwords({ clock: systemClock, cost: CHEAP });
    const secret = await passwords.hash('correct horse');
    expect(secret).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$/);
    expect(await passwords.verify('correct horse', secret, false)).toBe(true);
    expect(await passwords.verify('correct horsf', secret, false)).toBe(false);
    expect(await passwords.hash('correct horse')).not.toBe(secret);
  });

  it('are the same however their letters are composed (NFC)', async () => {
    passwords = new Passwords({ clock: systemClock, cost: CHEAP });
    expect(await passwords.verify('cafe\u0301 au lait', await passwords.hash('caf\u00e9 au lait'), false)).toBe(true);
  });

  it('are what RFC 7914 makes of them', async () => {
    passwords = new Passwords({ clock: systemClock });
    const salt = Buffer.from('SodiumChloride--');
    const hash = scryptSync('pleaseletmein', salt, 32, { cost: 2 ** 14, blockSize: 8, parallelization: 1 });
    const secret = formatScrypt({ ln: 14, r: 8, p: 1, salt, hash });
    expect(await passwords.verify('pleaseletmein', secret, false)).toBe(true);
  });

  it('of nobody are never right, not even an empty one', async () => {
    passwords = new Passwords({ clock: systemClock, cost: CHEAP });
    expect(await passwords.verify('', null, false)).toBe(false);
    expect(await passwords.verify('x', hashKey('x'), false)).toBe(false);
  });

  it('wait in a line with an end', async () => {
    passwords = new Passwords({ clock: systemClock, cost: CHEAP });
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.verify('x', null, false)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(33);
    expect(all.at(-1)).toMatchObject({ reason: { code: 'too_many_attempts' } });
    expect(await passwords.verify('x', null, false)).toBe(false);
  });

  it('of people who were right before are checked before those of strangers, however many wait', async () => {
    passwords = new Passwords({ clock: systemClock, cost: CHEAP });
    const order: string[] = [];
    const check = (who: string, isKnown: boolean) =>
      passwords.verify('x', null, isKnown).then(
        () => order.push(who),
        () => order.push(`${who} refused`),
      );
    const strangers = Array.from({ length: 34 }, (_, at) => check(`stranger ${at}`, false));
    await Promise.all([...strangers, check('known', true)]);
    expect(order.slice(0, 4)).toEqual(['stranger 33 refused', 'stranger 0', 'known', 'stranger 1']);
  });

  it('that wait when the server ends are refused', async () => {
    passwords = new Passwords({ clock: systemClock, cost: CHEAP });
    const all = Array.from({ length: 3 }, () => passwords.verify('x', null, false));
    passwords.close();
    for (const { reason } of (await Promise.allSettled(all)) as PromiseRejectedResult[])
      expect(reason).toMatchObject({ code: 'draining' });
  });
});

describe('a secret', () => {
  it('says whose it is, or that it is none of ours', () => {
    passwords = new Passwords({ clock: systemClock });
    expect(kindOfSecret(hashKey(makeKey()))).toBe('key');
    expect(makeKey()).toMatch(/^tl_[\w-]{43}$/);
    for (const text of ['', 'password', '$sha256$', '$scrypt$ln=99,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$B', '$2b$10$abc'])
      expect([text, kindOfSecret(text), parseScrypt(text)]).toEqual([text, null, null]);
  });
});
