/**
 * The connections that calls came over. Over TLS our requests within a call go back over the same one (as RFC 5626 has
 * it for registrations): a phone has no certificate to be called by, and behind a NAT nobody can connect to it.
 */
import type { SipGlance } from './wire/glance.ts';
import type { SipSource } from './wire/via.ts';

/** The part of the stack's core that knows dialogs: their ids are Call-ID, our tag and the peer's tag. */
interface Dialogs {
  get(id: string): object | undefined;
}

export class Flows {
  readonly #dialogs: Dialogs;
  readonly #sources = new WeakMap<object, SipSource>();
  /** The message that is being handled. */
  #handled: { readonly callId: string; readonly source: SipSource } | null = null;

  constructor(dialogs: Dialogs) {
    this.#dialogs = dialogs;
  }

  /** Handles a message that came from `source`. Its dialog, also one that it begins, is reached there from now on. */
  handle(glance: SipGlance, source: SipSource, handler: () => void): void {
    const { kind, callId, fromTag, toTag } = glance;
    const id = kind === 'request' ? callId + toTag + fromTag : callId + fromTag + toTag;
    this.#handled = { callId, source };
    try {
      handler();
    } finally {
      this.#handled = null;
      const dialog = this.#dialogs.get(id);
      if (dialog !== undefined) this.#sources.set(dialog, source);
    }
  }

  /** Where a request of ours within a call goes; null = it is not within one, or nothing came yet. */
  of({ kind, callId, fromTag, toTag }: SipGlance): SipSource | null {
    if (kind === 'response' || toTag === '') return null;
    const dialog = this.#dialogs.get(callId + fromTag + toTag);
    const known = dialog === undefined ? undefined : this.#sources.get(dialog);
    return known ?? (this.#handled?.callId === callId ? this.#handled.source : null);
  }
}
