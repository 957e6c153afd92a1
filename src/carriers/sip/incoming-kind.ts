/** What the call of a peer is to become: a telephone call, or the recording of one. */
import type { IncomingRequestMessage } from 'sip.js/lib/core/index.js';
import type { CallStart } from '../../protocols/dialect.ts';
import type { DialogMedia } from './dialog.ts';
import type { SipLeg } from './leg.ts';
import type { MediaSession } from './media.ts';
import type { SipBody } from './wire/bodies.ts';

/** The media of an incoming call. */
export interface IncomingMedia extends DialogMedia {
  /** Where the leg's sound and keys go. */
  readonly sink: Pick<MediaSession, 'send' | 'press'>;
  /** The peer has shown that our messages reach it: media flow to the leg from now on. */
  start(leg: SipLeg): void;
  /** The start of the call; null while no codec is agreed. */
  describe(): CallStart | null;
  close(): Promise<void>;
}

/** One for each INVITE. */
export interface IncomingKind {
  /** The carrier of the call. */
  readonly carrier: string;
  /** What our Contact says beside the address, such as `;+sip.srs`; '' = nothing. */
  readonly features: string;
  /** Further headers of our answer. */
  readonly headers: readonly string[];
  /**
   * Opens the media: the ports are bound when the promise resolves.
   * @throws TrunklineError `too_many_calls`
   */
  open(): Promise<IncomingMedia>;
  /** Takes note of what a message of the peer tells of the call beside its session description. Does not throw. */
  read?(message: IncomingRequestMessage): void;
  /** What the peer is to be asked after what it has told, in an UPDATE; null = nothing. */
  question?(): SipBody | null;
}
