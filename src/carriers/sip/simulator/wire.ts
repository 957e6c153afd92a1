/**
 * A phone's socket for SIP: requests are repeated until they are answered, responses whenever their request comes
 * again (RFC 3261 §17).
 */
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { seededRandom } from '../../../simulator/random.ts';
import { branchOf, headersOf, methodOf, readMessage, type SipMessage, statusOf, writeMessage } from './message.ts';
import {
  openTlsSocket,
  openUdpSocket,
  type Peer,
  type PhoneSocket,
  type PhoneTls,
  type SocketEvents,
} from './socket.ts';

/** T1, T2 and 64 × T1. */
const FIRST_REPEAT_MS = 500;
const REPEAT_MAX_MS = 4000;
const GIVE_UP_MS = 32_000;
const TRANSACTIONS_MAX = 500;

interface WireOptions {
  readonly clock: Clock;
  readonly address: string;
  /** Share (0–1) of messages that never leave. */
  readonly lossShare: number;
  readonly seed: number;
  /** null = UDP. */
  readonly tls: PhoneTls | null;
  /** A request that has not come before. */
  onRequest(request: SipMessage, from: Peer): void;
}

interface ClientTransaction {
  readonly request: SipMessage;
  readonly to: Peer;
  readonly onResponse: (response: SipMessage) => void;
  timer: Timer | null;
}

export class SipWire {
  #socket: PhoneSocket | null = null;
  readonly #options: WireOptions;
  readonly #random: () => number;
  readonly #clients = new Map<string, ClientTransaction>();
  /** The last response to each request, to be said again; null = none yet. */
  readonly #servers = new Map<string, { readonly text: string; readonly to: Peer } | null>();
  #closed = false;

  /** Use {@link SipWire.open}. */
  private constructor(options: WireOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  /** Opens a socket on any free port. */
  static async open(options: WireOptions): Promise<SipWire> {
    const wire = new SipWire(options);
    const events: SocketEvents = {
      onMessage: (text, from) => wire.#receive(text, from),
      onLost: (peer, code) => wire.#lose(peer, code),
    };
    const { address, tls } = options;
    wire.#socket = tls === null ? await openUdpSocket(address, events) : await openTlsSocket(address, tls, events);
    return wire;
  }

  get port(): number {
    return this.#socket?.port ?? 0;
  }

  get protocol(): PhoneSocket['protocol'] {
    return this.#socket?.protocol ?? 'UDP';
  }

  /**
   * Sends a request and tells every response to it, repetitions too. When none that is final has come within 32 s, a
   * 408 of our own is told, at once where a connection is lost, with its error code as the words. A refused INVITE is
   * acknowledged here.
   */
  request(request: SipMessage, to: Peer, onResponse: (response: SipMessage) => void): void {
    const transaction: ClientTransaction = { request, to, onResponse, timer: null };
    const key = keyOf(request);
    this.#clients.set(key, transaction);
    forgetOldest(this.#clients);
    this.#repeat(key, transaction, FIRST_REPEAT_MS, GIVE_UP_MS);
  }

  /** Sends a message as it is, once. */
  send(message: SipMessage, to: Peer): void {
    this.#put(writeMessage(message), to);
  }

  /** Sends a response, and again whenever its request comes again. */
  respond(response: SipMessage, to: Peer): void {
    const text = writeMessage(response);
    this.#servers.set(keyOf(response), { text, to });
    this.#put(text, to);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const { timer } of this.#clients.values()) timer?.cancel();
    await this.#socket?.close();
  }

  #repeat(key: string, transaction: ClientTransaction, afterMs: number, leftMs: number): void {
    if (leftMs <= 0) {
      giveUp(transaction, 'Request Timeout');
      return;
    }
    this.send(transaction.request, transaction.to);
    const waitMs = Math.min(afterMs, leftMs);
    const nextMs = methodOf(transaction.request) === 'INVITE' ? afterMs * 2 : Math.min(afterMs * 2, REPEAT_MAX_MS);
    transaction.timer = this.#options.clock.after(waitMs, () =>
      this.#repeat(key, transaction, nextMs, leftMs - waitMs),
    );
  }

  #lose(peer: Peer, code: string): void {
    if (this.#closed) return;
    for (const transaction of this.#clients.values()) {
      const { to, timer } = transaction;
      if (timer !== null && to.address === peer.address && to.port === peer.port) giveUp(transaction, code);
    }
  }

  #receive(text: string, from: Peer): void {
    const message = readMessage(text);
    if (message === null || this.#closed) return;
    const status = statusOf(message);
    if (status !== null) this.#receiveResponse(message, status);
    else this.#receiveRequest(message, from);
  }

  #receiveResponse(response: SipMessage, status: number): void {
    const transaction = this.#clients.get(keyOf(response));
    if (transaction === undefined) return;
    const isInvite = methodOf(response) === 'INVITE';
    // A provisional answer ends the repetitions of an INVITE only.
    if (isInvite || status >= 200) {
      transaction.timer?.cancel();
      transaction.timer = null;
    }
    if (isInvite && status >= 300) this.send(acknowledge(transaction.request, response), transaction.to);
    transaction.onResponse(response);
  }

  #receiveRequest(request: SipMessage, from: Peer): void {
    const key = keyOf(request);
    const known = request.start.startsWith('ACK') ? undefined : this.#servers.get(key);
    if (known !== undefined) {
      if (known !== null) this.#put(known.text, known.to);
      return;
    }
    if (!request.start.startsWith('ACK')) this.#servers.set(key, null);
    forgetOldest(this.#servers);
    this.#options.onRequest(request, from);
  }

  #put(text: string, to: Peer): void {
    if (this.#closed || (this.#options.lossShare > 0 && this.#random() < this.#options.lossShare)) return;
    this.#socket?.send(text, to);
  }
}

/** An ACK belongs to its INVITE, a CANCEL does not. */
function keyOf(message: SipMessage): string {
  return `${branchOf(message)} ${methodOf(message).replace('ACK', 'INVITE')}`;
}

function acknowledge(invite: SipMessage, refusal: SipMessage): SipMessage {
  const own = (name: string) => headersOf(invite, name).map((value): [string, string] => [name, value]);
  const sequence = headersOf(invite, 'CSeq')[0]?.replace('INVITE', 'ACK') ?? '';
  return {
    start: invite.start.replace('INVITE', 'ACK'),
    headers: [
      ...own('Via'),
      ['Max-Forwards', '70'],
      ...own('Route'),
      ...own('From'),
      ['To', headersOf(refusal, 'To')[0] ?? ''],
      ...own('Call-ID'),
      ['CSeq', sequence],
    ],
    body: '',
  };
}

function giveUp(transaction: ClientTransaction, words: string): void {
  transaction.timer?.cancel();
  transaction.timer = null;
  transaction.onResponse({ ...transaction.request, start: `SIP/2.0 408 ${words}`, body: '' });
}

function forgetOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= TRANSACTIONS_MAX) return;
    map.delete(key);
  }
}
