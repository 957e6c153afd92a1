/** SIP over a stream of bytes: where one message ends and the next begins (RFC 3261 §18.3). */

import { SipFault } from './fault.ts';
import { SIP_MESSAGE_MAX_BYTES, splitHeader, unfoldSip } from './headers.ts';

/**
 * What a TCP connection brought: a message; a sign of life that wants one back (RFC 5626 §4.4.1); or the head of a
 * message of which nobody can tell where it ends, and what is wrong with it. After that nothing can be read any more.
 */
export type SipFrame =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'ping' }
  | { readonly type: 'fault'; readonly text: string; readonly fault: SipFault };

/** Cuts a stream of bytes into messages by their Content-Length. */
export class SipFramer {
  #held = '';
  /** So far there is no empty line in what is held. */
  #searched = 0;
  /**
   * Of the message that has begun, once its head is there: it is read once, however small the pieces are in which the
   * body comes.
   */
  #length: number | null = null;
  #broken = false;

  /** Whether a `fault` has come. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Whether a message has begun that is not complete. */
  get midway(): boolean {
    return this.#held !== '';
  }

  /** Takes bytes in. A `fault` is the last frame that ever comes. */
  push(bytes: Buffer): SipFrame[] {
    if (this.#broken) return [];
    this.#held += bytes.toString('latin1');
    const frames: SipFrame[] = [];
    for (let frame = this.#take(); frame !== null; frame = this.#broken ? null : this.#take()) frames.push(frame);
    return frames;
  }

  #take(): SipFrame | null {
    if (this.#searched === 0 && this.#held.startsWith('\r\n')) {
      const isPing = this.#held.startsWith('\r\n\r\n');
      this.#held = this.#held.slice(isPing ? 4 : 2);
      return isPing ? { type: 'ping' } : this.#take();
    }
    if (this.#length !== null) return this.#cut(this.#length);
    const end = this.#held.indexOf('\r\n\r\n', Math.max(0, this.#searched - 3));
    if (end < 0) {
      this.#searched = this.#held === '\r' ? 0 : this.#held.length;
      return this.#held.length > SIP_MESSAGE_MAX_BYTES ? this.#break(this.#held.length, tooLarge()) : null;
    }
    const bodyBytes = lengthIn(this.#held.slice(0, end));
    if (bodyBytes instanceof SipFault) return this.#break(end, bodyBytes);
    const length = end + 4 + bodyBytes;
    if (length > SIP_MESSAGE_MAX_BYTES) return this.#break(end, tooLarge());
    this.#length = length;
    return this.#cut(length);
  }

  #cut(length: number): SipFrame | null {
    if (this.#held.length < length) return null;
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#searched = 0;
    this.#length = null;
    return { type: 'message', text };
  }

  #break(headBytes: number, fault: SipFault): SipFrame {
    const text = this.#held.slice(0, Math.min(headBytes, SIP_MESSAGE_MAX_BYTES));
    this.#held = '';
    this.#broken = true;
    return { type: 'fault', text, fault };
  }
}

function tooLarge(): SipFault {
  return new SipFault('a longer message', `at most ${SIP_MESSAGE_MAX_BYTES} bytes`, 513);
}

/**
 * Bytes of the body, or why they are not known. Of two lengths each reader could take another, and find another message
 * behind it.
 */
function lengthIn(head: string): number | SipFault {
  const lengths = unfoldSip(head).flatMap((line) => {
    const header = /^(?:content-length|l)[ \t]*:/i.test(line) ? splitHeader(line) : null;
    return header === null ? [] : [header[1]];
  });
  const [length] = lengths;
  if (length === undefined) return new SipFault('no Content-Length', 'one: on TCP it alone says where a message ends');
  if (lengths.length > 1) return new SipFault(`${lengths.length} headers content-length`, 'one');
  return /^\d{1,10}$/.test(length)
    ? Number(length)
    : new SipFault('a Content-Length that cannot be read', 'a number of bytes');
}
