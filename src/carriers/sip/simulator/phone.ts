/**
 * A simulated SIP phone: calls a server and is called by it, over UDP or TLS. Its SIP and RTP are its own, written from
 * the RFCs, so that each side tests the other.
 */
import type { Clock } from '../../../foundation/clock.ts';
import { PhoneCall, type PhoneCallOptions, RefusedError } from './call.ts';
import { headerOf, headersOf, methodOf, newToken, type SipMessage } from './message.ts';
import type { PhoneSound } from './phone-media.ts';
import type { Peer, PhoneTls } from './socket.ts';
import { SipWire } from './wire.ts';

const UDP_PORT = 5060;
const TLS_PORT = 5061;

/** A phone. */
export interface SipPhoneOptions {
  readonly clock: Clock;
  /** The address that it is on; 127.0.0.1 unless said otherwise. */
  readonly address?: string;
  readonly user?: string;
  /** Its answer to a challenge; empty = none. */
  readonly password?: string;
  /** Share (0–1) of its SIP messages that never leave. */
  readonly signalLossShare?: number;
  readonly seed?: number;
  /** Its SIP goes over TLS; left out = over UDP. */
  readonly tls?: PhoneTls;
}

/** A call to place. */
export interface DialOptions extends PhoneSound {
  /** `sip:user@host[:port]` or, over TLS, `sips:…`. */
  readonly uri: string;
  /** Its Call-ID; a new one unless said otherwise. */
  readonly callId?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The offer is left to the server. */
  readonly late?: boolean;
}

/** One phone with its socket. Calls end with it. */
export class SipPhone {
  readonly #options: SipPhoneOptions;
  readonly #calls = new Map<string, PhoneCall>();
  readonly #arrived: PhoneCall[] = [];
  #waiter: ((call: PhoneCall) => void) | null = null;
  #wire: SipWire | null = null;

  /** Use {@link SipPhone.open}. */
  private constructor(options: SipPhoneOptions) {
    this.#options = options;
  }

  /** Opens the phone on any free port. */
  static async open(options: SipPhoneOptions): Promise<SipPhone> {
    const phone = new SipPhone(options);
    phone.#wire = await SipWire.open({
      clock: options.clock,
      address: phone.#address,
      lossShare: options.signalLossShare ?? 0,
      seed: options.seed ?? 1,
      tls: options.tls ?? null,
      onRequest: (request, from) => phone.#receive(request, from),
    });
    return phone;
  }

  get port(): number {
    return this.#openWire.port;
  }

  /** Where it can be called. */
  get uri(): string {
    return `sip:${this.#user}@${this.#address}:${this.port}${this.#options.tls === undefined ? '' : ';transport=tls'}`;
  }

  /**
   * Places a call, which rings when this resolves or a little later: see {@link PhoneCall.answered}. It ends with its
   * sound unless that is endless.
   */
  async dial({ uri, callId, headers, late, ...sound }: DialOptions): Promise<PhoneCall> {
    const [, address, port] = /^sips?:(?:[^@]*@)?(\[[^\]]+\]|[^:;]+)(?::(\d+))?/.exec(uri) ?? [];
    if (address === undefined) throw new RangeError(`got ${uri}, expected sip:user@host[:port]`);
    const standard = this.#options.tls === undefined ? UDP_PORT : TLS_PORT;
    const peer = { address: address.replace(/[[\]]/g, ''), port: Number(port ?? standard) };
    const call = new PhoneCall(this.#callOptions, { uri, peer, ...(callId === undefined ? {} : { callId }) });
    this.#calls.set(call.callId, call);
    await call.dial(sound, { ...(headers === undefined ? {} : { headers }), ...(late === undefined ? {} : { late }) });
    return call;
  }

  /** The next call that comes in: it rings, and is to be answered or refused. */
  nextCall(): Promise<PhoneCall> {
    const arrived = this.#arrived.shift();
    if (arrived !== undefined) return Promise.resolve(arrived);
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  /** Hangs up and closes. */
  async close(): Promise<void> {
    for (const call of this.#calls.values()) call.hangup();
    await this.#openWire.close();
  }

  get #openWire(): SipWire {
    if (this.#wire === null) throw new Error('the phone is not open');
    return this.#wire;
  }

  get #address(): string {
    return this.#options.address ?? '127.0.0.1';
  }

  get #user(): string {
    return this.#options.user ?? 'phone';
  }

  get #callOptions(): PhoneCallOptions {
    const { clock, password = '' } = this.#options;
    const onEnded = (call: PhoneCall): void => void this.#calls.delete(call.callId);
    const onReferred = (uri: string): Promise<number> => this.#callInstead(uri);
    return { clock, password, onEnded, onReferred, address: this.#address, user: this.#user, wire: this.#openWire };
  }

  /** The caller says nothing more in the new call. */
  async #callInstead(uri: string): Promise<number> {
    try {
      const call = await this.dial({ uri, audio: new Int16Array(0), endless: true });
      await call.answered;
      return 200;
    } catch (error) {
      return error instanceof RefusedError ? error.status : 500;
    }
  }

  #receive(request: SipMessage, from: Peer): void {
    const call = this.#calls.get(headerOf(request, 'Call-ID'));
    const method = methodOf(request);
    if (call !== undefined) call.receive(request);
    else if (method === 'INVITE') this.#arrive(request, from);
    else if (method !== 'ACK')
      this.#refuse(request, from, method === 'OPTIONS' ? '200 OK' : '481 Call/Transaction Does Not Exist');
  }

  #arrive(invite: SipMessage, peer: Peer): void {
    const call = new PhoneCall(this.#callOptions, { invite, peer });
    this.#calls.set(call.callId, call);
    call.ring();
    if (this.#waiter === null) this.#arrived.push(call);
    else this.#waiter(call);
    this.#waiter = null;
  }

  #refuse(request: SipMessage, from: Peer, status: string): void {
    const copied = ['Via', 'From', 'Call-ID', 'CSeq'].flatMap((name) =>
      headersOf(request, name).map((value): [string, string] => [name, value]),
    );
    const headers: [string, string][] = [...copied, ['To', `${headerOf(request, 'To')};tag=${newToken()}`]];
    this.#openWire.respond({ start: `SIP/2.0 ${status}`, headers, body: '' }, from);
  }
}
