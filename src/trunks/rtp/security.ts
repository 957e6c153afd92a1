/** SRTP of one RTP session: packets pass it in both directions, as they are while no keys are agreed on. */
import { SrtpReceiver, SrtpSender } from '../../protocols/rtp/srtp.ts';
import type { SrtpKey } from '../../protocols/rtp/srtp-keys.ts';
import type { SrtpKeys } from '../../protocols/sip/crypto-lines.ts';

export class RtpSecurity {
  /**
   * By our keys, of which a call has one for each suite. A key that is used again goes on counting: from the beginning
   * it would encrypt other packets with the same stream.
   */
  readonly #senders = new Map<SrtpKey, SrtpSender>();
  #sender: SrtpSender | null = null;
  #receiver: SrtpReceiver | null = null;
  #theirs: SrtpKey | null = null;

  /** What an agreement says; null = packets are not secured from now on. */
  agree(keys: SrtpKeys | null): void {
    this.#sender = keys === null ? null : this.#senderOf(keys.ours);
    if (keys === null || this.#theirs === null || !isSame(keys.theirs, this.#theirs))
      this.#receiver = keys === null ? null : new SrtpReceiver(keys.theirs);
    this.#theirs = keys?.theirs ?? null;
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
}

function isSame(a: SrtpKey, b: SrtpKey): boolean {
  return (
    a.suite === b.suite &&
    Buffer.compare(a.key, b.key) === 0 &&
    Buffer.compare(a.salt, b.salt) === 0 &&
    Buffer.compare(a.identifier, b.identifier) === 0
  );
}
