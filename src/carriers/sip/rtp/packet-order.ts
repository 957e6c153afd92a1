/**
 * Puts the packets of a stream in order before they are decoded: the decoder of a codec that makes up for lost packets
 * must know which ones are lost. Those of other codecs need no waiting: the call's timeline sees to their order.
 */

/** Sound of a packet, by the receiver's own count; `atMs` is where it belongs. */
export interface OrderedPacket {
  readonly sequence: number;
  readonly atMs: number;
  readonly payload: Uint8Array;
}

/** A missing packet is waited for until this much has come after it, from the packet behind it on. */
const WAIT_MS = 40;
/** More are never held: what a stranger sends has no bound of its own. */
const HELD_MAX = 16;

export class PacketOrder {
  /** By ascending sequence. */
  readonly #held: OrderedPacket[] = [];

  /**
   * Takes a packet; returns those that are to be decoded now. `last` = the sequence of the one decoded last. What is
   * not after it, or was there already, is dropped.
   */
  push(packet: OrderedPacket, last: number): OrderedPacket[] {
    if (packet.sequence <= last || this.#held.some(({ sequence }) => sequence === packet.sequence)) return [];
    const after = this.#held.findIndex(({ sequence }) => sequence > packet.sequence);
    this.#held.splice(after === -1 ? this.#held.length : after, 0, packet);
    let count = 0;
    let next = last + 1;
    for (const { sequence } of this.#held) {
      if (sequence !== next && !this.#isOverdue(count)) break;
      next = sequence + 1;
      count++;
    }
    return this.#held.splice(0, count);
  }

  /** All that wait: nothing that is missing will come any more. */
  flush(): OrderedPacket[] {
    return this.#held.splice(0);
  }

  /** Whether the packet before the one at `index` has been waited for long enough. */
  #isOverdue(index: number): boolean {
    const waitedMs = (this.#held.at(-1)?.atMs ?? 0) - (this.#held[index]?.atMs ?? 0);
    return waitedMs >= WAIT_MS || this.#held.length - index > HELD_MAX;
  }
}
