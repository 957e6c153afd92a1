/** What those get whose requests are refused before sip.js sees them. */
import { createHmac, randomBytes } from 'node:crypto';
import type { SipFault } from './wire/fault.ts';
import { refuseSip, type SipRefusal } from './wire/refusal.ts';
import { isScanner } from './wire/scanners.ts';
import { fitSip } from './wire/sent-message.ts';
import type { SipSource } from './wire/via.ts';

const TAG_KEY_BYTES = 32;
const TAG_CHARS = 12;

/** Where a message came from. */
export interface Origin {
  readonly source: SipSource;
  /** Most bytes that an answer may have; null = any number. */
  readonly answerMaxBytes: number | null;
}

export class Refusals {
  readonly #allowHeader: string;
  /** Our tags say the same to the same request, and nobody can foretell them. */
  readonly #tagKey = randomBytes(TAG_KEY_BYTES);

  /** `allowHeader` goes with a 405: `Allow: …`. */
  constructor(allowHeader: string) {
    this.#allowHeader = allowHeader;
  }

  /** The answer to the request in `text`, or why it gets none. */
  write(
    text: string,
    { source, answerMaxBytes }: Origin,
    fault: SipFault,
  ): SipRefusal | 'malformed' | 'scanner' | 'short' {
    const headers = fault.statusCode === 405 ? [this.#allowHeader] : [];
    const refusal = refuseSip(text, { source, fault, headers, tagOf: (names) => this.#tagOf(names) });
    if (refusal === null) return 'malformed';
    if (isScanner(refusal.userAgent)) return 'scanner';
    const fitting = answerMaxBytes === null ? refusal.text : fitSip(refusal.text, answerMaxBytes);
    return fitting === null ? 'short' : { ...refusal, text: fitting };
  }

  #tagOf(names: string): string {
    return createHmac('sha256', this.#tagKey).update(names).digest('base64url').slice(0, TAG_CHARS);
  }
}
