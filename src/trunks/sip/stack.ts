/**
 * One transport with sip.js's core on it: what comes is let in or dropped here, read, and handed to transactions and dialogs; what they say is routed and,
 * on UDP, sent again. Nothing that comes from the network throws out of here.
 */
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import {
  type IncomingInviteRequest,
  type IncomingRequestMessage,
  IncomingResponseMessage,
  LoggerFactory,
  Parser,
  Timers,
  TransactionState,
  type Transport,
  URI,
  UserAgentCore,
} from 'sip.js/lib/core/index.js';
import { AllowedMethods } from 'sip.js/lib/core/user-agent-core/allowed-methods.js';
import { isPublicAddress } from '../../addresses.ts';
import {
  describeSip,
  fitSip,
  glanceSip,
  isScanner,
  type ReceivedSip,
  receiveSip,
  type SentSip,
  type SipDestination,
  type SipGlance,
  type SipSource,
} from '../../carriers/sip.ts';
import type { Clock } from '../../clock.ts';
import { TrunklineError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Credentials } from './digest.ts';
import { Retransmissions } from './retransmissions.ts';
import type { SipSocket } from './udp.ts';

// As if every transport were reliable sip.js ends its transactions at once; whatever is repeated late would meet nothing (timers D, I, J and K).
Object.assign(Timers, { TIMER_D: 32_000, TIMER_I: 5000, TIMER_J: 32_000, TIMER_K: 5000 });

// What this user agent can do; sip.js refuses all else with 405.
AllowedMethods.splice(0, AllowedMethods.length, 'INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'INFO', 'UPDATE');
/** The methods that we know, as a header. */
export const ALLOW_HEADER = `Allow: ${AllowedMethods.join(', ')}`;

const PROGRAM = 'Trunkline';
const TAG_BYTES = 9;
/** Of a client's transaction before its final answer. */
const UNANSWERED: readonly string[] = [TransactionState.Calling, TransactionState.Trying, TransactionState.Proceeding];
/** Requests of ours that go where the peer said (Contact, Record-Route) rather than where a setting does. */
const WITHIN_CALLS: readonly string[] = ['ACK', 'BYE'];
/** The user in URIs of ours. */
const OWN_USER = 'trunkline';

/** Why a message was thrown away without an answer. */
export type DropReason = 'address' | 'rate' | 'scanner' | 'malformed' | 'short' | 'error';

/** What came, beside what sip.js keeps of it. */
export interface Envelope extends Pick<ReceivedSip, 'user'> {
  readonly source: SipSource;
  /** Most bytes that an answer may have; null = any number. */
  readonly answerMaxBytes: number | null;
}

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
  /** Asked for each message that belongs to no call: whether this address may send one more of so many bytes. */
  mayAsk(address: string, bytes: number): boolean;
  /** The same for each message that belongs to the call of this Call-ID. */
  mayAskWithin(callId: string, bytes: number): boolean;
  onDropped(reason: DropReason): void;
  credentials(): Credentials | undefined;
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

  constructor(socket: SipSocket, options: StackOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#retransmissions = new Retransmissions({ clock: options.clock });
    const host = bracketed(options.host);
    this.contact = new URI('sip', OWN_USER, host, socket.port, socket.protocol === 'TCP' ? { transport: 'tcp' } : {});
    this.core = new UserAgentCore(
      {
        aor: this.contact,
        contact: { pubGruu: undefined, tempGruu: undefined, uri: this.contact, toString: () => `<${this.contact.toString()}>` },
        displayName: '',
        loggerFactory: this.#loggers,
        hackViaTcp: false,
        routeSet: [],
        sipjsId: '',
        supportedOptionTags: [],
        supportedOptionTagsResponse: [],
        userAgentHeaderFieldValue: PROGRAM,
        viaForceRport: true,
        viaHost: `${host}:${socket.port}`,
        authenticationFactory: () => options.credentials(),
        transportAccessor: () => this,
      },
      {
        onInvite: (request) => {
          // That of sip.js could be foretold by whoever has seen a few; an ACK that brings ours shows where its sender is.
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
    const glance = glanceSip(text);
    const isExpected = this.#isExpected(glance);
    const { mayAsk, mayAskWithin } = this.#options;
    if (isExpected ? !mayAskWithin(glance.callId, text.length) : !mayAsk(source.address, text.length)) {
      this.#options.onDropped('rate');
      return;
    }
    try {
      // Over UDP a source can be forged: what we send to it must not be more than what was sent to us.
      const answerMaxBytes = isExpected || source.protocol === 'TCP' ? null : text.length;
      this.#interpret(receiveSip(text, source, this.contact.toString()), { source, answerMaxBytes });
    } catch (error) {
      const isMalformed = error instanceof TrunklineError;
      if (!isMalformed) this.#options.log.error({ err: error }, 'a SIP message could not be handled');
      this.#options.onDropped(isMalformed ? 'malformed' : 'error');
    }
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
    const destination = await this.#resolve(message.destination);
    if (message.kind === 'request' && WITHIN_CALLS.includes(message.method)) this.#refuseNeighbour(destination);
    const transmit = (): Promise<void> => this.#socket.send(fitting, destination);
    // An answer without a transaction is said again when its request comes again, and only then.
    const isRepeated = message.kind === 'request' || this.core.userAgentServers.has(message.branch);
    if (this.protocol === 'UDP' && isRepeated) this.#retransmissions.sent(message, () => void transmit().catch(() => undefined));
    await transmit();
  }

  /** Ends all transactions and closes the socket. */
  async close(): Promise<void> {
    this.#retransmissions.close();
    this.core.dispose();
    await this.#socket.close();
  }

  /** Whether a message is of a call or answers a request of ours: nobody else knows those names. */
  #isExpected({ kind, method, branch, callId, fromTag, toTag }: SipGlance): boolean {
    if (kind === 'response') return this.core.userAgentClients.get(branch + method)?.transaction.request.callId === callId;
    return this.core.dialogs.has(callId + toTag + fromTag);
  }

  /** An answer as its request allows it; null = not at all. That which accepts a call has a description, and needs its ACK: its number is bounded instead. */
  #fit({ method, statusCode, branch }: SentSip, text: string): string | null {
    const request = this.#current?.viaBranch === branch ? this.#current : this.core.userAgentServers.get(branch)?.transaction.request;
    const { answerMaxBytes = null } = request === undefined ? {} : this.envelopeOf(request);
    const isAcceptance = method === 'INVITE' && statusCode === 200;
    return answerMaxBytes === null || isAcceptance ? text : fitSip(text, answerMaxBytes);
  }

  #interpret(received: ReceivedSip, origin: Omit<Envelope, 'user'>): void {
    if (isScanner(received.userAgent)) {
      this.#options.onDropped('scanner');
      return;
    }
    this.#retransmissions.received(received);
    const message = Parser.parseMessage(received.text, this.#loggers.getLogger('parser'));
    if (message === undefined) throw new TrunklineError('message_malformed', 'SIP: got headers that cannot be read');
    this.#envelopes.set(message, { ...origin, user: received.user });
    if (message instanceof IncomingResponseMessage) this.#interpretResponse(message, origin.source);
    else this.#interpretRequest(message);
  }

  #interpretResponse(message: IncomingResponseMessage, source: SipSource): void {
    if (this.#isForged(message) || this.#isOfEarlierTry(message)) return;
    this.#options.delegate.onResponse(message, source);
    this.core.receiveIncomingResponseFromTransport(message);
  }

  #interpretRequest(message: IncomingRequestMessage): void {
    this.#current = message;
    try {
      if (!this.#options.delegate.onRequest(message, this)) this.core.receiveIncomingRequestFromTransport(message);
    } finally {
      this.#current = null;
    }
  }

  /** sip.js looks at the branch alone, which has few values. The Call-ID of a request of ours is known to whom we sent it. */
  #isForged({ viaBranch, method, callId }: IncomingResponseMessage): boolean {
    const client = this.core.userAgentClients.get(viaBranch + method);
    return client !== undefined && client.transaction.request.callId !== callId;
  }

  /**
   * A request that was challenged is sent again with credentials, and sip.js hands to the second transaction what comes for the first one, too: a challenge
   * that comes twice would be taken for the refusal of the credentials.
   */
  #isOfEarlierTry({ viaBranch, method }: IncomingResponseMessage): boolean {
    const client = this.core.userAgentClients.get(viaBranch + method);
    return client !== undefined && client.transaction.id !== viaBranch;
  }

  /** A peer says where its requests are to go, and is not to reach through us what only we can reach: our own network, but for other peers in it. */
  #refuseNeighbour({ host }: SipDestination): void {
    if (isPublicAddress(host) || this.#options.admits(host)) return;
    this.#options.log.warn({ address: host }, 'a SIP peer has its calls ended at a private address that SIP_ALLOW does not name');
    throw new Error('a private address that is no peer');
  }

  async #resolve(destination: SipDestination): Promise<SipDestination> {
    if (isIP(destination.host) !== 0) return destination;
    const { address } = await lookup(destination.host);
    return { ...destination, host: address };
  }
}

/** sip.js would print whole messages, with numbers in them. */
function silentLoggers(): LoggerFactory {
  const loggers = new LoggerFactory();
  loggers.builtinEnabled = false;
  return loggers;
}

/** An address as URIs have it. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
