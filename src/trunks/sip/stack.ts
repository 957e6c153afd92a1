/**
 * One transport with sip.js's core on it: what comes is let in or dropped here, read, and handed to transactions and
 * dialogs; what they say is routed and, on UDP, sent again. Nothing that comes from the network throws out of here.
 */
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import {
  type IncomingInviteRequest,
  type IncomingRequestMessage,
  IncomingResponseMessage,
  Timers,
  TransactionState,
  type Transport,
  URI,
  UserAgentCore,
} from 'sip.js/lib/core/index.js';
import { AllowedMethods } from 'sip.js/lib/core/user-agent-core/allowed-methods.js';
import { isPublicAddress } from '../../foundation/addresses.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { SipFault } from '../../protocols/sip/fault.ts';
import { glanceSip, type SipGlance } from '../../protocols/sip/glance.ts';
import { sipWeight } from '../../protocols/sip/parsing-cost.ts';
import { type ReceivedSip, receiveSip } from '../../protocols/sip/received-message.ts';
import { isScanner } from '../../protocols/sip/scanners.ts';
import { describeSip, fitSip, type SentSip } from '../../protocols/sip/sent-message.ts';
import { TIMER_TAG } from '../../protocols/sip/session-timer.ts';
import type { SipDestination } from '../../protocols/sip/uris.ts';
import type { SipSource } from '../../protocols/sip/via.ts';
import type { Credentials } from './credentials.ts';
import { parseSip, silentLoggers } from './parser.ts';
import { type Origin, Refusals } from './refusals.ts';
import { Retransmissions } from './retransmissions.ts';
import type { SipSocket } from './udp.ts';

// As if every transport were reliable sip.js ends its transactions at once; whatever is repeated late would meet
// nothing (timers D, I, J and K).
Object.assign(Timers, { TIMER_D: 32_000, TIMER_I: 5000, TIMER_J: 32_000, TIMER_K: 5000 });

// What this user agent can do; sip.js refuses all else with 405.
AllowedMethods.splice(0, AllowedMethods.length, 'INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'INFO', 'UPDATE');
/** The methods that we know, as a header. */
export const ALLOW_HEADER = `Allow: ${AllowedMethods.join(', ')}`;

const PROGRAM = 'Trunkline';
const TAG_BYTES = 9;
/** Of a client's transaction before its final answer. */
const UNANSWERED: readonly string[] = [TransactionState.Calling, TransactionState.Trying, TransactionState.Proceeding];
/** The user in URIs of ours. */
const OWN_USER = 'trunkline';

/** Schemes of URIs that can name us. */
const SCHEMES: readonly (string | null)[] = ['sip', 'sips', 'tel'];

/** Why a message was thrown away without an answer. */
export type DropReason = 'address' | 'rate' | 'scanner' | 'malformed' | 'short' | 'stray' | 'error';

/** What came, beside what sip.js keeps of it. */
export interface Envelope extends Origin, Pick<ReceivedSip, 'user'> {}

/** What the user agent above does with requests. */
export interface StackDelegate {
  /** Takes a request before sip.js does; true = it has been answered. */
  onRequest(message: IncomingRequestMessage, stack: SipStack): boolean;
  /** A new call. */
  onInvite(request: IncomingInviteRequest, stack: SipStack): void;
  /** Sees a response before sip.js does. */
  onResponse(message: IncomingResponseMessage, source: SipSource): void;
}

interface StackOptions {
  /** How peers reach us: address or name. */
  readonly host: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether messages of this address are looked at. */
  admits(address: string): boolean;
  /**
   * Asked for each message that belongs to no call: whether this address may send one more that takes as long to read
   * as so many bytes.
   */
  mayAsk(address: string, bytes: number): boolean;
  /** The same for each message that belongs to the call of this Call-ID. */
  mayAskWithin(callId: string, bytes: number): boolean;
  onDropped(reason: DropReason): void;
  /** A request is answered with this status, 400 or above. */
  onRefused(statusCode: number): void;
  /** What a challenge is answered with; `withinCalls` = one within a call, too. */
  credentials(withinCalls: boolean): Credentials | undefined;
  readonly delegate: StackDelegate;
}

export class SipStack implements Transport {
  readonly core: UserAgentCore;
  /** Ours, as Contact has it. */
  readonly contact: URI;
  readonly #options: StackOptions;
  readonly #socket: SipSocket;
  readonly #retransmissions: Retransmissions;
  readonly #envelopes = new WeakMap<IncomingRequestMessage | IncomingResponseMessage, Envelope>();
  /** The request that is being handled. */
  #current: IncomingRequestMessage | null = null;
  readonly #loggers = silentLoggers();
  readonly #refusals = new Refusals(ALLOW_HEADER);

  constructor(socket: SipSocket, options: StackOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#retransmissions = new Retransmissions({ clock: options.clock });
    const host = bracketed(options.host);
    this.contact = new URI('sip', OWN_USER, host, socket.port, socket.protocol === 'TCP' ? { transport: 'tcp' } : {});
    this.core = new UserAgentCore(
      {
        aor: this.contact,
        contact: {
          pubGruu: undefined,
          tempGruu: undefined,
          uri: this.contact,
          toString: () => `<${this.contact.toString()}>`,
        },
        displayName: '',
        loggerFactory: this.#loggers,
        hackViaTcp: false,
        routeSet: [],
        sipjsId: '',
        supportedOptionTags: [TIMER_TAG],
        supportedOptionTagsResponse: [TIMER_TAG],
        userAgentHeaderFieldValue: PROGRAM,
        viaForceRport: true,
        viaHost: `${host}:${socket.port}`,
        authenticationFactory: () => options.credentials(false),
        transportAccessor: () => this,
      },
      {
        onInvite: (request) => {
          // That of sip.js could be foretold by whoever has seen a few; an ACK that brings ours shows where its sender
          // is.
          Object.assign(request, { toTag: randomBytes(TAG_BYTES).toString('base64url') });
          options.delegate.onInvite(request, this);
        },
      },
    );
  }

  get protocol(): 'UDP' | 'TCP' {
    return this.#socket.protocol;
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#socket.port;
  }

  /** Whether a request of ours still waits for its final answer. */
  get isWaiting(): boolean {
    return [...this.core.userAgentClients.values()].some(({ transaction }) => UNANSWERED.includes(transaction.state));
  }

  /** What challenges within a call of ours are answered with. */
  credentialsWithinCalls(): Credentials | undefined {
    return this.#options.credentials(true);
  }

  /** Where a message came from, and whom it asks for if it is a request. */
  envelopeOf(message: IncomingRequestMessage | IncomingResponseMessage): Envelope {
    const envelope = this.#envelopes.get(message);
    if (envelope === undefined) throw new Error('a message that did not come through this stack');
    return envelope;
  }

  /** One message has come. Never throws. */
  receive(bytes: Buffer, source: SipSource): void {
    if (!this.#options.admits(source.address)) {
      this.#options.onDropped('address');
      return;
    }
    // A sign of life that keeps a NAT open (RFC 5626 §3.5.1); some send zero bytes.
    const text = bytes.toString('latin1');
    if (text.length <= 4 && /^[\r\n\0]*$/.test(text)) return;
    const origin = this.#admit(text, source);
    if (origin === null) return;
    try {
      this.#interpret(receiveSip(text, source, this.contact.toString()), origin);
    } catch (error) {
      if (error instanceof SipFault) {
        this.#refuse(text, origin, error);
        return;
      }
      this.#options.log.error({ err: error }, 'a SIP message could not be handled');
      this.#options.onDropped('error');
    }
  }

  /** The head of a message has come of which nobody can tell where it ends. Never throws. */
  receiveBroken(text: string, source: SipSource, fault: SipFault): void {
    const origin = this.#admit(text, source);
    if (origin !== null) this.#refuse(text, origin, fault);
  }

  /** Sends what sip.js wrote. Rejects when it cannot be sent. */
  async send(text: string): Promise<void> {
    const message = describeSip(text);
    if (message.destination === null) throw new Error(`a ${message.kind} without a destination`);
    const fitting = message.kind === 'response' ? this.#fit(message, text) : text;
    if (fitting === null) {
      this.#options.onDropped('short');
      return;
    }
    if (message.statusCode !== null && message.statusCode >= 400) this.#options.onRefused(message.statusCode);
    const isAddress = isIP(message.destination.host) !== 0;
    const destination = isAddress ? message.destination : await resolve(message.destination);
    // Within a call a request goes where the peer said (Contact, Record-Route) rather than where a setting does.
    if (message.kind === 'request' && glanceSip(text).toTag !== '') this.#refuseNeighbour(destination);
    const transmit = (): Promise<void> => this.#socket.send(fitting, destination);
    // An answer without a transaction is said again when its request comes again, and only then.
    const isRepeated = message.kind === 'request' || this.core.userAgentServers.has(message.transaction);
    if (this.protocol === 'UDP' && isRepeated)
      this.#retransmissions.sent(message, () => void transmit().catch(() => undefined));
    await transmit();
  }

  /** A sign of life that wants no answer (RFC 5626 §3.5.1). */
  ping(destination: SipDestination): void {
    void this.#socket.send('\r\n\r\n', destination).catch(() => undefined);
  }

  /** What is sent there next goes on a new connection. */
  disconnect(destination: SipDestination): void {
    this.#socket.disconnect(destination);
  }

  /** Ends all transactions and closes the socket. */
  async close(): Promise<void> {
    this.#retransmissions.close();
    this.core.dispose();
    await this.#socket.close();
  }

  /** Where a message came from, and how much may be answered; null = it is one too many. */
  #admit(text: string, source: SipSource): Origin | null {
    const glance = glanceSip(text);
    const isExpected = this.#isExpected(glance);
    const { mayAsk, mayAskWithin } = this.#options;
    const weightBytes = sipWeight(text);
    if (isExpected ? !mayAskWithin(glance.callId, weightBytes) : !mayAsk(source.address, weightBytes)) {
      this.#options.onDropped('rate');
      return null;
    }
    // Over UDP a source can be forged: what we send to it must not be more than what was sent to us.
    return { source, answerMaxBytes: isExpected || source.protocol === 'TCP' ? null : text.length };
  }

  /** Whether a message is of a call or answers a request of ours: nobody else knows those names. */
  #isExpected({ kind, method, branch, callId, fromTag, toTag }: SipGlance): boolean {
    if (kind === 'response')
      return this.core.userAgentClients.get(branch + method)?.transaction.request.callId === callId;
    return this.core.dialogs.has(callId + toTag + fromTag);
  }

  /**
   * An answer as its request allows it; null = not at all. That which accepts a call has a description, and needs its
   * ACK: its number is bounded instead.
   */
  #fit({ method, statusCode, transaction }: SentSip, text: string): string | null {
    const isCurrent = this.#current?.viaBranch === transaction;
    const request = isCurrent ? this.#current : this.core.userAgentServers.get(transaction)?.transaction.request;
    const { answerMaxBytes = null } = request == null ? {} : this.envelopeOf(request);
    const isAcceptance = method === 'INVITE' && statusCode === 200;
    return answerMaxBytes === null || isAcceptance ? text : fitSip(text, answerMaxBytes);
  }

  /** Answers a request that sip.js does not get to see, without a transaction; what cannot be answered is dropped. */
  #refuse(text: string, origin: Origin, fault: SipFault): void {
    const refusal = this.#refusals.write(text, origin, fault);
    if (typeof refusal === 'string') {
      this.#options.onDropped(refusal);
      return;
    }
    this.#options.onRefused(fault.statusCode);
    void this.#socket.send(refusal.text, refusal.destination).catch(() => undefined);
  }

  #interpret(received: ReceivedSip, origin: Origin): void {
    if (isScanner(received.userAgent)) {
      this.#options.onDropped('scanner');
      return;
    }
    const { kind, method, scheme } = received;
    if (kind === 'request' && !AllowedMethods.includes(method))
      throw new SipFault('another method', 'one of those in Allow', 405);
    if (kind === 'request' && !SCHEMES.includes(scheme)) throw new SipFault('another scheme', 'sip or tel', 416);
    const message = parseSip(received.text);
    this.#retransmissions.received(received);
    this.#envelopes.set(message, { ...origin, user: received.user });
    if (message instanceof IncomingResponseMessage) {
      this.#interpretResponse(message, origin.source);
      return;
    }
    message.viaBranch = this.#transactionOf(received);
    this.#interpretRequest(message);
  }

  /**
   * What sip.js, which takes the branch alone, is to know a request's transaction by. An ACK of our 200 is none of the
   * INVITE's, even where its sender gives it the same branch (RFC 6026 §7.1).
   */
  #transactionOf({ method, transaction }: ReceivedSip): string {
    const isOfAnswered =
      method === 'ACK' && this.core.userAgentServers.get(transaction)?.transaction.state === TransactionState.Accepted;
    return isOfAnswered ? `${transaction} ACK` : transaction;
  }

  #interpretResponse(message: IncomingResponseMessage, source: SipSource): void {
    if (this.#isStray(message)) {
      this.#options.onDropped('stray');
      return;
    }
    if (this.#isOfEarlierTry(message)) return;
    this.#options.delegate.onResponse(message, source);
    this.core.receiveIncomingResponseFromTransport(message);
  }

  #interpretRequest(message: IncomingRequestMessage): void {
    if (this.#isIdleAck(message)) return;
    this.#current = message;
    try {
      if (!this.#options.delegate.onRequest(message, this)) this.core.receiveIncomingRequestFromTransport(message);
    } finally {
      this.#current = null;
    }
  }

  /**
   * An ACK of what we remember nothing of, such as a refusal without a transaction. sip.js would take it for a request
   * that came twice, and answer it.
   */
  #isIdleAck({ method, viaBranch, callId, toTag, fromTag }: IncomingRequestMessage): boolean {
    if (method !== 'ACK') return false;
    return !this.core.userAgentServers.has(viaBranch) && !this.core.dialogs.has(callId + toTag + fromTag);
  }

  /**
   * Whether an answer is to no request of ours: sip.js looks at the branch alone, which has few values, but the Call-ID
   * of a request is known only to whom we sent it. One with two Vias is to somebody else's (RFC 3261 §8.1.3.3).
   */
  #isStray(message: IncomingResponseMessage): boolean {
    const client = this.core.userAgentClients.get(message.viaBranch + message.method);
    return client?.transaction.request.callId !== message.callId || message.getHeaders('via').length > 1;
  }

  /**
   * A request that was challenged is sent again with credentials, and sip.js hands to the second transaction what comes
   * for the first one, too: a challenge that comes twice would be taken for the refusal of the credentials.
   */
  #isOfEarlierTry({ viaBranch, method }: IncomingResponseMessage): boolean {
    const client = this.core.userAgentClients.get(viaBranch + method);
    return client !== undefined && client.transaction.id !== viaBranch;
  }

  /**
   * A peer says where its requests are to go, and is not to reach through us what only we can reach: our own network,
   * but for other peers in it.
   */
  #refuseNeighbour({ host }: SipDestination): void {
    if (isPublicAddress(host) || this.#options.admits(host)) return;
    this.#options.log.warn(
      { address: host },
      'a SIP peer wants requests at a private address that SIP_ALLOW does not list',
    );
    throw new Error('a private address that is no peer');
  }
}

async function resolve(destination: SipDestination): Promise<SipDestination> {
  const { address } = await lookup(destination.host);
  return { ...destination, host: address };
}

/** An address as URIs have it. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
