/** SRTP of one RTP session: packets pass it in both directions, as they are while no keys are agreed on. */

import type { SrtpKeys } from '../wire/crypto-lines.ts';
import { SrtpReceiver, SrtpSender } from '../wire/rtp/srtp.ts';
import type { SrtpKey } from '../wire/rtp/srtp-keys.ts';

/** Keys of the peer that are remembered. Music on hold may have one of its own, before that of the call comes back. */
const PEER_KEYS_MAX = 8;

export class RtpSecurity {
  /**
   * By our keys, of which a call has one for each suite. A key that is used again goes on counting: from the beginning
   * it would encrypt other packets with the same stream.
   */
  readonly #senders = new Map<SrtpKey, SrtpSender>();
  /** By the peer's keys, the latest last: one that comes again opens nothing that came before. */
  #receivers: readonly { readonly key: SrtpKey; readonly receiver: SrtpReceiver }[] = [];
  #sender: SrtpSender | null = null;
  #receiver: SrtpReceiver | null = null;

  /** What an agreement says; null = packets are not secured from now on. */
  agree(keys: SrtpKeys | null): void {
    this.#sender = keys === null ? null : this.#senderOf(keys.ours);
    this.#receiver = keys === null ? null : this.#receiverOf(keys.theirs);
  }

  /** Whether our packets can be opened only by who heard our sequence numbers wrap. */
  get hasWrapped(): boolean {
    return this.#sender?.hasWrapped === true;
  }

  /** An RTP packet as it is to be sent. */
  protect(packet: Uint8Array): Uint8Array {
    return this.#sender?.protect(packet) ?? packet;
  }

  /** An RTCP packet as it is to be sent. */
  protectControl(packet: Uint8Array): Uint8Array {
    return this.#sender?.protectControl(packet) ?? packet;
  }

  /** The RTP packet in a datagram; null = it is not the peer's, or came before. */
  open(datagram: Uint8Array): Uint8Array | null {
    return this.#receiver === null ? datagram : this.#receiver.open(datagram);
  }

  /** The RTCP packet in a datagram; null = it is not the peer's, or came before. */
  openControl(datagram: Uint8Array): Uint8Array | null {
    return this.#receiver === null ? datagram : this.#receiver.openControl(datagram);
  }

  #senderOf(key: SrtpKey): SrtpSender {
    const sender = this.#senders.get(key) ?? new SrtpSender(key);
    this.#senders.set(key, sender);
    return sender;
  }

  #receiverOf(key: SrtpKey): SrtpReceiver {
    const known = this.#receivers.find((each) => isSame(each.key, key));
    if (known !== undefined) return known.receiver;
    const receiver = new SrtpReceiver(key, this.#receiver);
    this.#receivers = [...this.#receivers.slice(1 - PEER_KEYS_MAX), { key, receiver }];
    return receiver;
  }
}

function isSame(a: SrtpKey, b: SrtpKey): boolean {
  return (
    a.suite === b.suite &&
    Buffer.compare(a.key, b.key) === 0 &&
    Buffer.compare(a.salt, b.salt) === 0 &&
    Buffer.compare(a.identifier, b.identifier) === 0
  );
}
