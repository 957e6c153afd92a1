/**
 * One transport with sip.js's core on top. Incoming messages are admitted or dropped, parsed, and passed to
 * transactions and dialogs. Outgoing messages are routed and, on UDP, retransmitted. No message from the network makes
 * this throw.
 */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type DigestAuthentication,
  type IncomingInviteRequest,
  type IncomingRequestMessage,
  IncomingResponseMessage,
  Timers,
  TransactionState,
  type Transport,
  URI,
  UserAgentCore,
} from 'sip.js/lib/core/index.js';
import { isPublicAddress } from '../../foundation/addresses.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { bracketed, resolveName } from './destinations.ts';
import { Flows } from './flows.ts';
import { allowedMethods, METHODS } from './methods.ts';
import { parseSip, silentLoggers } from './parser.ts';
import type { SipRefused } from './refusal-log.ts';
import { type Origin, Refusals } from './refusals.ts';
import { Retransmissions } from './retransmissions.ts';
import type { SipSocket } from './udp.ts';
import { SipFault } from './wire/fault.ts';
import { glanceSip, type SipGlance } from './wire/glance.ts';
import { sipWeight } from './wire/parsing-cost.ts';
import { type ReceivedSip, receiveSip } from './wire/received-message.ts';
import { REPLACES_TAG } from './wire/replaces.ts';
import { isScanner } from './wire/scanners.ts';
import { describeSip, fitSip, type SentSip } from './wire/sent-message.ts';
import { TIMER_TAG } from './wire/session-timer.ts';
import { SIPREC_TAG } from './wire/siprec/recording-request.ts';
import type { SipDestination } from './wire/uris.ts';
import type { SipSource, SipTransport } from './wire/via.ts';

// sip.js ends its transactions at once, as if every transport were reliable. Late repeats would then match no
// transaction (timers D, I, J and K).
Object.assign(Timers, { TIMER_D: 32_000, TIMER_I: 5000, TIMER_J: 32_000, TIMER_K: 5000 });

const PROGRAM = 'Trunkline';
const TAG_BYTES = 9;
/** The states of a client transaction before its final answer. */
const UNANSWERED: readonly string[] = [TransactionState.Calling, TransactionState.Trying, TransactionState.Proceeding];
/** The user part of our URIs. */
const OWN_USER = 'trunkline';

/** Schemes of URIs that can name us. */
const SCHEMES: readonly (string | null)[] = ['sip', 'sips', 'tel'];

/** Why a message was dropped without an answer. */
export type DropReason = 'address' | 'rate' | 'scanner' | 'malformed' | 'short' | 'stray' | 'error';

/** Data about a received message that sip.js does not keep. */
export interface Envelope extends Origin, Pick<ReceivedSip, 'user' | 'uri' | 'referTo' | 'metadata' | 'scheme'> {}

/** The user agent that uses this stack. */
export interface StackDelegate {
  /** Called before sip.js handles a request; true = the request has been answered. */
  onRequest(message: IncomingRequestMessage, stack: SipStack): boolean;
  /** A new call. */
  onInvite(request: IncomingInviteRequest, stack: SipStack): void;
  /** Called before sip.js handles a response. */
  onResponse(message: IncomingResponseMessage, source: SipSource): void;
}

interface StackOptions {
  /** Whether Allow has REFER; left out = not. */
  readonly takesRefer?: boolean;
  /** The address or name at which peers reach us. */
  readonly host: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether we accept messages from this address. */
  admits(address: string): boolean;
  /**
   * Whether this address may send one more message that belongs to no call. Reading it takes as long as reading this
   * many bytes.
   */
  mayAsk(address: string, bytes: number): boolean;
  /** The same for each message that belongs to the call of this Call-ID. */
  mayAskWithin(callId: string, bytes: number): boolean;
  onDropped(reason: DropReason, address: string | null): void;
  /** A request is answered with this status, 400 or above; `invite` = it is an INVITE, or changes a call. */
  onRefused(statusCode: number, invite: Pick<SipRefused, 'callId' | 'address' | 'isWithin'> | null): void;
  /** What answers a challenge to a request. */
  credentials(): DigestAuthentication | undefined;
  readonly delegate: StackDelegate;
}

export class SipStack implements Transport {
  readonly core: UserAgentCore;
  /** Our URI in Contact headers. */
  readonly contact: URI;
  /** `Allow: …` of our messages. */
  readonly allowHeader: string;
  readonly #options: StackOptions;
  readonly #socket: SipSocket;
  readonly #retransmissions: Retransmissions;
  readonly #flows: Flows;
  readonly #envelopes = new WeakMap<IncomingRequestMessage | IncomingResponseMessage, Envelope>();
  /** The request that is being handled. */
  #current: IncomingRequestMessage | null = null;
  readonly #loggers = silentLoggers();
  readonly #refusals: Refusals;

  constructor(socket: SipSocket, options: StackOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#retransmissions = new Retransmissions({ clock: options.clock });
    this.allowHeader = `Allow: ${allowedMethods(options.takesRefer === true)}`;
    this.#refusals = new Refusals(this.allowHeader);
    const host = bracketed(options.host);
    const transport = socket.protocol === 'UDP' ? {} : { transport: socket.protocol.toLowerCase() };
    // Without a listener of ours there is no port to be called at.
    const port = socket.port === 0 ? undefined : socket.port;
    this.contact = new URI('sip', OWN_USER, host, port, transport);
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
        supportedOptionTags: [TIMER_TAG, REPLACES_TAG],
        supportedOptionTagsResponse: [TIMER_TAG, SIPREC_TAG, REPLACES_TAG],
        userAgentHeaderFieldValue: PROGRAM,
        viaForceRport: true,
        viaHost: port === undefined ? host : `${host}:${port}`,
        authenticationFactory: () => options.credentials(),
        transportAccessor: () => this,
      },
      {
        onInvite: (request) => {
          // The tag of sip.js could be predicted after seeing a few. Ours cannot, so an ACK with it proves that its
          // sender received our answer.
          Object.assign(request, { toTag: randomBytes(TAG_BYTES).toString('base64url') });
          options.delegate.onInvite(request, this);
        },
      },
    );
    this.#flows = new Flows(this.core.dialogs);
  }

  /** The scheme by which a request is to be answered: `sips:` where it came by that (RFC 3261 §12.1.1). */
  schemeOf(request: IncomingRequestMessage): 'sip' | 'sips' {
    const route = request.getHeader('record-route') ?? request.getHeader('contact') ?? '';
    const isSips = this.envelopeOf(request).scheme === 'sips' || /^[^<]*<?sips:/i.test(route);
    return isSips ? 'sips' : 'sip';
  }

  /** Our URI in Contact headers. */
  contactAs(scheme: 'sip' | 'sips'): URI {
    if (scheme === 'sip') return this.contact;
    return new URI(scheme, OWN_USER, this.contact.host, this.contact.port);
  }

  get protocol(): SipTransport {
    return this.#socket.protocol;
  }

  /** The port on which it listens. */
  get port(): number {
    return this.#socket.port;
  }

  /** Whether a request of ours still waits for its final answer; a question whether somebody is there needs none. */
  get isWaiting(): boolean {
    return [...this.core.userAgentClients.values()].some(
      ({ transaction }) => transaction.request.method !== 'OPTIONS' && UNANSWERED.includes(transaction.state),
    );
  }

  /** Where a message came from and, for a request, the user that it is for. */
  envelopeOf(message: IncomingRequestMessage | IncomingResponseMessage): Envelope {
    const envelope = this.#envelopes.get(message);
    if (envelope === undefined) throw new Error('the message was not received by this stack');
    return envelope;
  }

  /** Handles one received message. Never throws. */
  receive(bytes: Buffer, source: SipSource): void {
    if (!this.#options.admits(source.address)) {
      this.#options.onDropped('address', source.address);
      return;
    }
    // A keep-alive for a NAT (RFC 5626 §3.5.1); some phones send NUL bytes.
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
      this.#options.onDropped('error', source.address);
    }
  }

  /** Handles the head of a message whose length cannot be determined. Never throws. */
  receiveBroken(text: string, source: SipSource, fault: SipFault): void {
    const origin = this.#admit(text, source);
    if (origin !== null) this.#refuse(text, origin, fault);
  }

  /** Sends a message of sip.js. Rejects when it cannot be sent. */
  async send(text: string): Promise<void> {
    const message = describeSip(text);
    if (message.destination === null) throw new Error(`the ${message.kind} has no destination`);
    const fitting = message.kind === 'response' ? this.#fit(message, text) : text;
    if (fitting === null) {
      this.#options.onDropped('short', message.destination.host);
      return;
    }
    this.#noteRefusal(message, text, message.destination.host);
    const wanted = this.#flowOf(text) ?? message.destination;
    // An answer must not wait: its transaction may be over a moment later.
    const destination = isIP(wanted.host) === 0 ? await resolveName(wanted) : wanted;
    // The destination of a request within a call comes from the peer (Contact, Record-Route), not from our settings.
    if (message.kind === 'request' && glanceSip(text).toTag !== '') this.#refusePrivateTarget(destination);
    const transmit = (): Promise<void> => this.#socket.send(fitting, destination);
    // An answer without a transaction is sent again only when its request comes again.
    const isRepeated = message.kind === 'request' || this.core.userAgentServers.has(message.transaction);
    if (this.protocol === 'UDP' && isRepeated)
      this.#retransmissions.sent(message, () => void transmit().catch(() => undefined));
    await transmit();
  }

  /** Of answers: what they refuse. A call that was cancelled is not refused by us. */
  #noteRefusal({ kind, method, statusCode }: SentSip, text: string, address: string): void {
    if (kind !== 'response' || statusCode === null || statusCode < 400) return;
    const { callId, toTag, fromTag } = glanceSip(text);
    const isWithin = this.core.dialogs.has(callId + toTag + fromTag);
    const changesCall = statusCode !== 487 && (method === 'INVITE' || (method === 'UPDATE' && isWithin));
    this.#options.onRefused(statusCode, changesCall ? { callId, address, isWithin } : null);
  }

  /** Of a call over TLS the connection that it came over; null = it is another, or that is closed. */
  #flowOf(text: string): SipDestination | null {
    const flow = this.protocol === 'TLS' ? this.#flows.of(glanceSip(text)) : null;
    const connection = flow === null ? null : { host: flow.address, port: flow.port };
    return connection !== null && this.#socket.has(connection) ? connection : null;
  }

  /** Sends a keep-alive that needs no answer (RFC 5626 §3.5.1). */
  ping(destination: SipDestination): void {
    void this.#socket.send('\r\n\r\n', destination).catch(() => undefined);
  }

  /** Closes the connection to `destination`; the next message there opens a new one. */
  disconnect(destination: SipDestination): void {
    this.#socket.disconnect(destination);
  }

  /** Ends all transactions and closes the socket. */
  async close(): Promise<void> {
    this.#retransmissions.close();
    this.core.dispose();
    await this.#socket.close();
  }

  /** Where a message came from, and how long an answer may be; null = it exceeds the rate limit and is dropped. */
  #admit(text: string, source: SipSource): Origin | null {
    const glance = glanceSip(text);
    const isExpected = this.#isExpected(glance);
    const { mayAsk, mayAskWithin } = this.#options;
    const weightBytes = sipWeight(text);
    if (isExpected ? !mayAskWithin(glance.callId, weightBytes) : !mayAsk(source.address, weightBytes)) {
      this.#options.onDropped('rate', source.address);
      return null;
    }
    // Over UDP a source can be forged, so we must not send it more bytes than we received.
    return { source, answerMaxBytes: isExpected || source.protocol !== 'UDP' ? null : text.length };
  }

  /** Whether a message belongs to a call or answers our request: an outsider does not know their identifiers. */
  #isExpected({ kind, method, branch, callId, fromTag, toTag }: SipGlance): boolean {
    if (kind === 'response')
      return this.core.userAgentClients.get(branch + method)?.transaction.request.callId === callId;
    return this.core.dialogs.has(callId + toTag + fromTag);
  }

  /**
   * An answer cut to the length that its request allows; null = it must not be sent. The 200 that accepts a call is not
   * limited, because it carries a session description and must reach the peer. The number of calls is limited instead.
   */
  #fit({ method, statusCode, transaction }: SentSip, text: string): string | null {
    const isCurrent = this.#current?.viaBranch === transaction;
    const request = isCurrent ? this.#current : this.core.userAgentServers.get(transaction)?.transaction.request;
    const { answerMaxBytes = null } = request == null ? {} : this.envelopeOf(request);
    const isAcceptance = method === 'INVITE' && statusCode === 200;
    return answerMaxBytes === null || isAcceptance ? text : fitSip(text, answerMaxBytes);
  }

  /** Answers a request without a transaction, so that sip.js does not see it. Drops it if it cannot be answered. */
  #refuse(text: string, origin: Origin, fault: SipFault): void {
    const refusal = this.#refusals.write(text, origin, fault);
    if (typeof refusal === 'string') {
      this.#options.onDropped(refusal, origin.source.address);
      return;
    }
    const { method, callId } = glanceSip(text);
    const { address } = origin.source;
    this.#options.onRefused(fault.statusCode, method === 'INVITE' ? { callId, address } : null);
    void this.#socket.send(refusal.text, refusal.destination).catch(() => undefined);
  }

  #interpret(received: ReceivedSip, origin: Origin): void {
    if (isScanner(received.userAgent)) {
      this.#options.onDropped('scanner', origin.source.address);
      return;
    }
    const { kind, method, scheme } = received;
    if (kind === 'request' && !METHODS.includes(method))
      throw new SipFault('another method', 'one of those in Allow', 405);
    if (kind === 'request' && !SCHEMES.includes(scheme)) throw new SipFault('another scheme', 'sip or tel', 416);
    const message = parseSip(received.text);
    this.#retransmissions.received(received);
    this.#envelopes.set(message, { ...received, ...origin });
    this.#flows.handle(glanceSip(received.text), origin.source, () => {
      if (message instanceof IncomingResponseMessage) this.#interpretResponse(message, origin.source);
      else this.#interpretRequest(Object.assign(message, { viaBranch: this.#transactionOf(received) }));
    });
  }

  /**
   * The key by which sip.js finds a request's transaction; sip.js itself uses only the branch. An ACK of our 200 does
   * not belong to the INVITE's transaction, even if its sender gives it the same branch (RFC 6026 §7.1).
   */
  #transactionOf({ method, transaction }: ReceivedSip): string {
    const isOfAnswered =
      method === 'ACK' && this.core.userAgentServers.get(transaction)?.transaction.state === TransactionState.Accepted;
    return isOfAnswered ? `${transaction} ACK` : transaction;
  }

  #interpretResponse(message: IncomingResponseMessage, source: SipSource): void {
    if (this.#isStray(message)) {
      this.#options.onDropped('stray', source.address);
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
   * An ACK for which there is no transaction or dialog, such as the ACK of a refusal that we sent without a
   * transaction. sip.js would take it for a repeated request and answer it.
   */
  #isIdleAck({ method, viaBranch, callId, toTag, fromTag }: IncomingRequestMessage): boolean {
    if (method !== 'ACK') return false;
    return !this.core.userAgentServers.has(viaBranch) && !this.core.dialogs.has(callId + toTag + fromTag);
  }

  /**
   * Whether an answer belongs to none of our requests. sip.js checks only the branch, which has few values, but the
   * Call-ID of a request is known only to its receiver. An answer with two Vias is not for us (RFC 3261 §8.1.3.3).
   */
  #isStray(message: IncomingResponseMessage): boolean {
    const client = this.core.userAgentClients.get(message.viaBranch + message.method);
    return client?.transaction.request.callId !== message.callId || message.getHeaders('via').length > 1;
  }

  /**
   * A challenged request is sent again with credentials, and sip.js passes answers to the first transaction on to the
   * second. A challenge that arrives twice would then look like a refusal of the credentials.
   */
  #isOfEarlierTry({ viaBranch, method }: IncomingResponseMessage): boolean {
    const client = this.core.userAgentClients.get(viaBranch + method);
    return client !== undefined && client.transaction.id !== viaBranch;
  }

  /**
   * A peer chooses where our requests within its call go. It must not use us to reach our private network, except for
   * addresses there that are peers themselves.
   */
  #refusePrivateTarget({ host }: SipDestination): void {
    if (isPublicAddress(host) || this.#options.admits(host)) return;
    this.#options.log.warn(
      { address: host },
      'a SIP peer wants requests at a private address that SIP_ALLOW does not list',
    );
    throw new Error('the destination is a private address that is not a peer');
  }
}
