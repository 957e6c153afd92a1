/**
 * Keys in RTP packets of their own (RFC 4733 §2): one packet after the other says that the key is down and for how
 * long, the last ones that it is up.
 */

/** Event codes 0 to 15 (§3.2). */
const KEYS = '0123456789*#ABCD';
const PAYLOAD_BYTES = 4;
const END = 0x80;
/** −10 dBm0, as loud as a telephone's tones. */
const VOLUME = 10;
/** Keys that are remembered so that a late packet of one does not press it again. */
const KEYS_REMEMBERED = 8;
const DURATION_MODULUS = 0x1_0000;
/** From here on a stretch of a long key may have been its last, though the packets behind this one were lost. */
const LONG_DURATION = 0xf000;

/** What one packet says. */
export interface TelephoneEvent {
  /** 0–9, `*`, `#` or A–D. */
  readonly digit: string;
  /** The key is up. */
  readonly end: boolean;
  /** How long it has been down, in timestamp units (16 bits). */
  readonly duration: number;
}

/** Reads a payload. Null for what is none, and for other events than keys (flash, tones of a modem). */
export function parseEvent(payload: Uint8Array): TelephoneEvent | null {
  if (payload.length < PAYLOAD_BYTES) return null;
  const [code = 0, flags = 0, high = 0, low = 0] = payload;
  const digit = KEYS[code];
  return digit === undefined ? null : { digit, end: (flags & END) !== 0, duration: high * 256 + low };
}

/** Writes a payload. Throws a RangeError for what is no key. */
export function writeEvent({ digit, end, duration }: TelephoneEvent): Uint8Array {
  const code = KEYS.indexOf(digit);
  if (code < 0 || digit.length !== 1)
    throw new RangeError(`got a digit of ${digit.length} characters, expected one of 0-9 * # A-D`);
  return Uint8Array.of(code, (end ? END : 0) | VOLUME, duration >> 8, duration & 0xff);
}

/**
 * Tells each key once. All packets of a key have the timestamp of its beginning, so whichever comes first presses it:
 * lost ones, the last included, change nothing. A key held for longer than 16 bits can say goes on under a new
 * timestamp (§2.5.1.3), without a marker.
 */
export class KeyDetector {
  /** The latest keys, oldest first. */
  readonly #known: { readonly timestamp: number; readonly digit: string }[] = [];
  /** The key that is down, from the beginning of its latest stretch. */
  #held: { readonly timestamp: number; readonly digit: string; readonly duration: number } | null = null;

  /** A packet's event with its timestamp and marker; returns the key if this packet is the first of it. */
  receive({ digit, end, duration }: TelephoneEvent, timestamp: number, marker: boolean): string | null {
    const isKnown = this.#known.some((key) => key.timestamp === timestamp && key.digit === digit);
    const isNew = !isKnown && (marker || !this.#goesOn(digit, timestamp));
    if (!isKnown) this.#remember(timestamp, digit);
    if (end) this.#held = null;
    else if (!isKnown || this.#held?.timestamp === timestamp) this.#held = { timestamp, digit, duration };
    return isNew ? digit : null;
  }

  #goesOn(digit: string, timestamp: number): boolean {
    if (this.#held === null || this.#held.digit !== digit || this.#held.duration < LONG_DURATION) return false;
    const since = (timestamp - this.#held.timestamp) >>> 0;
    return since >= this.#held.duration && since <= DURATION_MODULUS;
  }

  #remember(timestamp: number, digit: string): void {
    this.#known.push({ timestamp, digit });
    if (this.#known.length > KEYS_REMEMBERED) this.#known.shift();
  }
}
