/**
 * Keys of SRTP in session descriptions: `a=crypto` lines (RFC 4568), in offers and answers of secured media (RTP/SAVP),
 * and in those that would also do without (RTP/AVP with keys, RFC 8643).
 */
import { SRTP_KEY_BYTES, SRTP_SALT_BYTES, SRTP_SUITES, type SrtpKey, type SrtpSuite } from './rtp/srtp-keys.ts';
import type { MediaDescription } from './session-description.ts';

/** Lines that are read of one stream; more are left out. */
const LINES_MAX = 16;
const LINE =
  /^(?<tag>\d{1,9})[ \t]+(?<suite>\w{1,64})[ \t]+inline:(?<key>[A-Za-z0-9+/]{1,128}={0,2})(?<limits>(?:\|[\w^:]{1,32}){0,2})(?<parameters>(?:[ \t]+\S{1,64}){0,8})$/;
const IDENTIFIER = /^(?<value>\d{1,10}):(?<bytes>\d{1,3})$/;
const LIFETIME = /^(?:2\^\d{1,2}|\d{1,15})$/;
/** The longest name of a key (RFC 4568 §6.1 allows 128 bytes). */
const IDENTIFIER_MAX_BYTES = 8;

/** `off` = media are never secured, `allow` = where the other side can, `require` = always. */
export type SrtpPolicy = 'off' | 'allow' | 'require';

/** Our side of a stream's security. */
export interface LocalSecurity {
  readonly policy: SrtpPolicy;
  /** Our own keys, one for each suite, the best first. */
  readonly keys: readonly SrtpKey[];
  /** What our offers say: nothing of keys, keys that the other side may leave alone, or secured media only. */
  readonly offers: 'plain' | 'either' | 'secured';
}

/** The keys that two sides agreed on. They are secret: keep them out of logs and errors. */
export interface SrtpKeys {
  /** Secures what we send. */
  readonly ours: SrtpKey;
  /** Opens what the other side sends. */
  readonly theirs: SrtpKey;
}

/** How a stream can be taken. */
export interface StreamSecurity {
  /** Null = without SRTP. */
  readonly keys: SrtpKeys | null;
  /** Lines for our answer. */
  readonly lines: readonly string[];
}

/** A line of another side that we can use. */
interface CryptoLine {
  readonly tag: number;
  readonly key: SrtpKey;
}

/** The protocol that our offers name. */
export function offeredProtocol({ offers }: LocalSecurity): string {
  return offers === 'secured' ? 'RTP/SAVP' : 'RTP/AVP';
}

/** The lines of our offers. */
export function offeredLines({ offers, keys }: LocalSecurity): string[] {
  return offers === 'plain' ? [] : keys.map((key, index) => writeLine(index + 1, key));
}

/** How we take a stream of an offer: with the first of its keys that we can use. Null = not at all. */
export function answerSecurity(stream: MediaDescription, { policy, keys }: LocalSecurity): StreamSecurity | null {
  const isSecured = isSecuredRtp(stream);
  if (!isSecured && !isPlainRtp(stream)) return null;
  const [line] = policy === 'off' ? [] : readLines(stream);
  const ours = keys.find(({ suite }) => suite === line?.key.suite);
  if (line !== undefined && ours !== undefined)
    return { keys: { ours, theirs: line.key }, lines: [writeLine(line.tag, ours)] };
  return isSecured || policy === 'require' ? null : { keys: null, lines: [] };
}

/** What the other side's answer made of the keys that we offered. Null = it is no answer to them. */
export function acceptSecurity(stream: MediaDescription, local: LocalSecurity): StreamSecurity | null {
  const isSecured = isSecuredRtp(stream);
  if (!isSecured && !isPlainRtp(stream)) return null;
  const [line] = local.offers === 'plain' ? [] : readLines(stream);
  // One key of ours for each suite: the suite says which one is meant.
  const ours = local.keys.find(({ suite }) => suite === line?.key.suite);
  if (line !== undefined && ours !== undefined) return { keys: { ours, theirs: line.key }, lines: [] };
  return isSecured || local.offers === 'secured' || local.policy === 'require' ? null : { keys: null, lines: [] };
}

/** Secured by keys in the description. DTLS (UDP/TLS/RTP/SAVP) is another protocol. */
function isSecuredRtp({ protocol }: MediaDescription): boolean {
  return protocol === 'RTP/SAVP' || protocol === 'RTP/SAVPF';
}

function isPlainRtp({ protocol }: MediaDescription): boolean {
  return protocol === 'RTP/AVP' || protocol === 'RTP/AVPF';
}

function writeLine(tag: number, { suite, key, salt }: SrtpKey): string {
  return `a=crypto:${tag} ${suite} inline:${Buffer.concat([key, salt]).toString('base64')}`;
}

function readLines({ attributes }: MediaDescription): CryptoLine[] {
  const values = attributes.filter(({ name }) => name === 'crypto').slice(0, LINES_MAX);
  return values.flatMap(({ value }) => readLine(value ?? '') ?? []);
}

/** Null = another suite, a parameter that changes how packets look, or no line at all. */
function readLine(text: string): CryptoLine | null {
  const { tag, suite: name, key: encoded = '', limits = '', parameters = '' } = LINE.exec(text)?.groups ?? {};
  const suite = SRTP_SUITES.find((each) => each === name);
  const identifier = readLimits(limits.split('|').slice(1));
  if (suite === undefined || identifier === null || !isHarmless(parameters)) return null;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== SRTP_KEY_BYTES + SRTP_SALT_BYTES) return null;
  const [key, salt] = [bytes.subarray(0, SRTP_KEY_BYTES), bytes.subarray(SRTP_KEY_BYTES)];
  return { tag: Number(tag), key: { suite, key, salt, identifier } };
}

/** The name of the key, out of a lifetime and a name, each of which may be missing. Null = another form. */
function readLimits(parts: readonly string[]): Uint8Array | null {
  const [first = '', second = ''] = parts;
  const [lifetime, identifier] = parts.length === 1 && first.includes(':') ? ['', first] : [first, second];
  if (lifetime !== '' && !LIFETIME.test(lifetime)) return null;
  if (identifier === '') return parts.length === 2 ? null : new Uint8Array(0);
  const { value = '', bytes = '' } = IDENTIFIER.exec(identifier)?.groups ?? {};
  const length = Number(bytes);
  if (value === '' || length < 1 || length > IDENTIFIER_MAX_BYTES || Number(value) >= 2 ** (8 * length)) return null;
  const name = Buffer.alloc(IDENTIFIER_MAX_BYTES);
  name.writeBigUInt64BE(BigInt(value));
  return name.subarray(IDENTIFIER_MAX_BYTES - length);
}

/** WSH is a hint; parameters with a minus may be left alone (§6.3.6, §6.3.7). All others change the packets. */
function isHarmless(parameters: string): boolean {
  const list = parameters.split(/[ \t]+/).filter((each) => each !== '');
  return list.every((each) => each.startsWith('-') || /^WSH=\d{1,5}$/.test(each));
}

/** Makes the keys of one call: one for each suite, of `random` bytes that nobody can guess. */
export function makeSrtpKeys(random: (bytes: number) => Uint8Array): SrtpKey[] {
  return SRTP_SUITES.map((suite: SrtpSuite) => ({
    suite,
    key: random(SRTP_KEY_BYTES),
    salt: random(SRTP_SALT_BYTES),
    identifier: new Uint8Array(0),
  }));
}

/** What a description of ours offers, also one that was said first as an answer. */
export function offersIn(sdp: string | null): LocalSecurity['offers'] {
  if (sdp === null || !/^a=crypto:/m.test(sdp)) return 'plain';
  return /^m=audio [1-9]\d* RTP\/SAVPF? /m.test(sdp) ? 'secured' : 'either';
}
