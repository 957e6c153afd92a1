/** UPDATE (RFC 3311): its answers, and those of a call of ours that nobody has taken yet. */
import type { Body, Dialog, IncomingRequestMessage } from 'sip.js/lib/core/index.js';
import { asTrunklineError } from '../../foundation/errors.ts';
import type { CallMedia } from './media.ts';
import { moveTarget } from './remote-target.ts';
import { sdpBody, sdpIn } from './wire/bodies.ts';

/** An answer that needs no transaction of its own. */
export interface Reply {
  readonly statusCode: number;
  readonly extraHeaders?: string[];
  readonly body?: Body;
}

/** A request that comes again gets the same answer again, and one that was overtaken gets none of its own. */
export class UpdateOrder {
  #last: { readonly cseq: number; readonly reply: Reply } | null = null;

  /** `make` answers a request that is new; where it is accepted, `dialog` is told of it. */
  answer(message: IncomingRequestMessage, dialog: Dialog | undefined, make: () => Reply): Reply {
    if (this.#last?.cseq === message.cseq) return this.#last.reply;
    if (message.cseq < (this.#last?.cseq ?? 0)) return { statusCode: 500 };
    const reply = make();
    if (dialog !== undefined && reply.statusCode === 200) moveTarget(dialog, message);
    this.#last = { cseq: message.cseq, reply };
    return reply;
  }
}

interface EarlyOptions {
  readonly media: Pick<CallMedia, 'answer'>;
  /** `Contact: <sip:…>` of ours. */
  readonly contactHeader: string;
  /** The tag of the telephone whose description was taken, as an answer to our offer; null = there is none yet. */
  heardTag(): string | null;
  addressOf(message: IncomingRequestMessage): string;
}

/** A call of ours before its answer. Several telephones may ring, of which one is heard. */
export class EarlyDialog {
  readonly #options: EarlyOptions;
  readonly #orders = new Map<string, UpdateOrder>();
  #updatedTag: string | null = null;

  constructor(options: EarlyOptions) {
    this.#options = options;
  }

  /** Whose description counts in place of that in the 200, which is older (RFC 6337 §2.2); null = nobody's. */
  get updatedTag(): string | null {
    return this.#updatedTag;
  }

  /** The answer to an UPDATE of one of the telephones, in `dialog`. */
  update(message: IncomingRequestMessage, dialog: Dialog | undefined): Reply {
    const tag = message.fromTag;
    const order = this.#orders.get(tag) ?? new UpdateOrder();
    this.#orders.set(tag, order);
    return order.answer(message, dialog, () => this.#answer(message, tag));
  }

  #answer(message: IncomingRequestMessage, tag: string): Reply {
    const { media, contactHeader, heardTag, addressOf } = this.#options;
    const extraHeaders = [contactHeader];
    const offer = sdpIn(message);
    if (offer === null) return { statusCode: 200, extraHeaders };
    // Our own offer still waits for its answer there.
    if (heardTag() !== tag) return { statusCode: 491 };
    try {
      const body = sdpBody(media.answer(offer, addressOf(message)));
      this.#updatedTag = tag;
      return { statusCode: 200, extraHeaders, body };
    } catch (error) {
      return { statusCode: asTrunklineError(error, '').sipStatus };
    }
  }
}
