/** The key that sound is sealed with (RECORD_KEY), and what is derived from it. */
import { createHmac, hkdfSync, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;
/** About a third of a second and 128 MiB, once at the start (OWASP Password Storage Cheat Sheet). */
const SCRYPT = { N: 131_072, r: 8, p: 1, maxmem: 268_435_456 } as const;
/** The same passphrase must give the same key in every folder that a backup is copied to. */
const SCRYPT_SALT = 'trunkline sound';
const KEY_ID_CHARS = 16;

/** A key and its name, which files carry and which says nothing of the key. */
export interface SoundKey {
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array;
}

/**
 * The key that RECORD_KEY says: 32 bytes as hex or base64, or the key that scrypt makes of any other text. Null = none.
 */
export async function readSoundKey(text: string): Promise<SoundKey | null> {
  if (text === '') return null;
  const bytes = plainKey(text) ?? (await stretch(text));
  const id = createHmac('sha256', bytes).update('trunkline sound key id').digest('hex').slice(0, KEY_ID_CHARS);
  return { id, bytes };
}

function plainKey(text: string): Uint8Array | null {
  if (HEX.test(text)) return Uint8Array.from(Buffer.from(text, 'hex'));
  return BASE64.test(text) ? Uint8Array.from(Buffer.from(text, 'base64')) : null;
}

async function stretch(passphrase: string): Promise<Uint8Array> {
  const derive = promisify<string, string, number, typeof SCRYPT, Buffer>(scrypt);
  return Uint8Array.from(await derive(passphrase.normalize('NFKC'), SCRYPT_SALT, KEY_BYTES, SCRYPT));
}

/** The key of one file (RFC 5869). Its header goes in, so that no record is good under another header. */
export function fileKey(key: SoundKey, header: Buffer, salt: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key.bytes, Buffer.from(salt, 'base64'), header, KEY_BYTES));
}
