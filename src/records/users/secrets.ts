/**
 * The secrets of users as they are kept: a password as scrypt in the PHC string format
 * (https://github.com/P-H-C/phc-string-format), a generated key as SHA-256. A key has 256 random bits, so nobody finds
 * it by trying, and its hash needs no cost.
 */
import { createHash, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
/** Begins every generated key, so that scanners of leaked secrets and people recognise it. */
const KEY_PREFIX = 'tl_';

/** A new key: `tl_` and 43 letters, digits, `-` and `_`. */
export function makeKey(): string {
  return KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url');
}

/** The secret that is kept of a key: `$sha256$` and 43 characters. */
export function hashKey(key: string): string {
  return `$sha256$${createHash('sha256').update(key).digest('base64url')}`;
}

/** The cost of a scrypt hash (RFC 7914): N = 2^`ln`, block size, parallelization. */
export interface ScryptCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** A kept password. */
export interface ScryptSecret extends ScryptCost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/-]{16,88})\$([\w+/-]{43,88})$/;
const SHA256 = /^\$sha256\$[\w-]{43}$/;
/** More would let a file take any amount of memory: 2^17 and r = 8 take 128 MiB. */
const COST_MAX: ScryptCost = { ln: 17, r: 8, p: 16 };

/** The parts of a kept password; null for anything else, and for a cost that is out of bounds. */
export function parseScrypt(secret: string): ScryptSecret | null {
  const [, ln, r, p, salt = '', hash = ''] = SCRYPT.exec(secret) ?? [];
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const isWithin = (name: keyof ScryptCost) => cost[name] >= 1 && cost[name] <= COST_MAX[name];
  if (!isWithin('ln') || !isWithin('r') || !isWithin('p')) return null;
  return { ...cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

/** The opposite of {@link parseScrypt}. */
export function formatScrypt({ ln, r, p, salt, hash }: ScryptSecret): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/(?<!=)=+$/, '');
  return `$scrypt$ln=${ln},r=${r},p=${p}$${text(salt)}$${text(hash)}`;
}

/** What `secret` is the secret of; null = it is none of ours. */
export function kindOfSecret(secret: string): 'person' | 'key' | null {
  if (SHA256.test(secret)) return 'key';
  return parseScrypt(secret) === null ? null : 'person';
}
