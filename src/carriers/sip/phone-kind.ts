/** A telephone call of a peer: one stream both ways. */
import type { IncomingInviteRequest } from 'sip.js/lib/core/index.js';
import type { Log } from '../../foundation/log/log.ts';
import type { Codec } from '../../foundation/units.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import type { CallServices } from './incoming.ts';
import type { IncomingKind, IncomingMedia } from './incoming-kind.ts';
import { CallMedia, type MediaSession } from './media.ts';
import type { SipStack } from './stack.ts';
import { callIdOf, detailsOf, parametersOf, partiesOf } from './wire/call-identity.ts';

interface PhoneOptions extends Pick<CallServices, 'openMedia' | 'mediaAddress' | 'codecs' | 'ownUsers' | 'srtp'> {
  readonly request: IncomingInviteRequest;
  readonly stack: SipStack;
  /** Of the call that this one replaces; null = it replaces none. */
  readonly codec: Codec | null;
  readonly log: Log;
}

export class PhoneKind implements IncomingKind {
  readonly carrier = 'sip';
  readonly features = '';
  readonly headers: readonly string[] = [];
  readonly #options: PhoneOptions;

  constructor(options: PhoneOptions) {
    this.#options = options;
  }

  async open(): Promise<IncomingMedia> {
    const { openMedia, mediaAddress, codecs, srtp, stack, codec, log } = this.#options;
    const isPrivate = stack.protocol === 'TLS';
    const session = await openMedia();
    return new PhoneMedia({ session, address: mediaAddress, codecs, srtp, isPrivate, codec, log }, this.#options);
  }
}

class PhoneMedia extends CallMedia implements IncomingMedia {
  readonly #call: PhoneOptions;

  constructor(options: ConstructorParameters<typeof CallMedia>[0], call: PhoneOptions) {
    super(options);
    this.#call = call;
  }

  get sink(): MediaSession {
    return this.session;
  }

  describe(): CallStart | null {
    const { request, stack, ownUsers } = this.#call;
    const { message } = request;
    return this.codec === null
      ? null
      : {
          carrier: 'sip',
          callId: callIdOf(message.callId),
          streamId: callIdOf(message.fromTag),
          ...partiesOf(message, stack.envelopeOf(message).user, ownUsers),
          tracks: ['inbound'],
          codec: this.codec,
          timed: true,
          playback: 'paced',
          parameters: parametersOf(message),
          details: detailsOf(message),
        };
  }
}
