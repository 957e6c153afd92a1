/** Where a call of ours goes on to when it is answered with 301 or 302 (RFC 3261 §8.1.3.4). */
import { type IncomingResponseMessage, NameAddrHeader, type URI } from 'sip.js/lib/core/index.js';
import { isTlsUri } from './wire/uris.ts';
import { SIP_DEFAULT_PORT, SIPS_DEFAULT_PORT, type SipTransport } from './wire/via.ts';

/** Answers whose Contact says where else to call: 300, 301 and 302. One of 305 names a proxy, which is not followed. */
const FOLLOWED: readonly number[] = [300, 301, 302];
/** How many other places one call is led to in all. */
export const REDIRECTS_MAX = 5;

/** Where a call is sent. */
export interface CallTarget {
  readonly uri: URI;
  /** It is the trunk itself, whose challenges are answered. */
  readonly isTrunk: boolean;
}

interface RedirectionOptions {
  readonly first: URI;
  readonly transport: SipTransport;
  /** Whether calls may be led to this address, or to this name. */
  mayCall(host: string): boolean;
  /** Where an answer came from. */
  sourceOf(answer: IncomingResponseMessage): { readonly address: string; readonly port: number };
}

/** The places that one call was led to and is still to be led to. */
export class Redirection {
  readonly #options: RedirectionOptions;
  readonly #tried: Set<string>;
  #waiting: CallTarget[] = [];
  /** Somebody wanted the call elsewhere than it may go, or too often. */
  #refused = false;

  constructor(options: RedirectionOptions) {
    this.#options = options;
    this.#tried = new Set([keyOf(options.first, options.transport)]);
  }

  /** Whether the call was to go where it may not go, to where it was already, or on for too long. */
  get refused(): boolean {
    return this.#refused;
  }

  /** The next place after `from` has answered so; null = there is none. */
  next(answer: IncomingResponseMessage, from: CallTarget): CallTarget | null {
    const status = answer.statusCode ?? 500;
    // 6xx holds for all places (RFC 3261 §21.6).
    if (status >= 600) return null;
    if (FOLLOWED.includes(status)) this.#waiting = [...this.#read(answer, from), ...this.#waiting];
    while (true) {
      const target = this.#waiting.shift();
      if (target === undefined) return null;
      const key = keyOf(target.uri, this.#options.transport);
      if (this.#tried.has(key) || this.#tried.size > REDIRECTS_MAX) {
        this.#refused = true;
        continue;
      }
      this.#tried.add(key);
      return target;
    }
  }

  /** The places that an answer names and that may be called, the most wanted one first. */
  #read(answer: IncomingResponseMessage, from: CallTarget): CallTarget[] {
    const found: { readonly target: CallTarget; readonly wish: number }[] = [];
    for (let index = 0; index < answer.getHeaders('contact').length; index++) {
      const contact: unknown = answer.parseHeader('contact', index);
      if (!(contact instanceof NameAddrHeader)) continue;
      const uri = usableUri(contact.uri, this.#options);
      if (uri === null) this.#refused = true;
      else found.push({ target: { uri, isTrunk: this.#isTrunk(uri, answer, from) }, wish: wishOf(contact) });
    }
    return found.sort((a, b) => b.wish - a.wish).map(({ target }) => target);
  }

  /** Only the trunk itself is shown that we know the password: the same host and port, or where it answered from. */
  #isTrunk(uri: URI, answer: IncomingResponseMessage, from: CallTarget): boolean {
    if (!from.isTrunk) return false;
    const { transport, sourceOf } = this.#options;
    const { address, port } = sourceOf(answer);
    const own = hostAndPort(uri, transport);
    return own === hostAndPort(from.uri, transport) || own === `${address} ${port}`;
  }
}

/**
 * The URI that somebody else wants called, without what would make more of it than a call; null = we do not call there.
 */
export function usableUri(
  named: URI,
  { transport, mayCall }: Pick<RedirectionOptions, 'transport' | 'mayCall'>,
): URI | null {
  const uri = named.clone();
  uri.clearHeaders();
  const method = uri.getParam('method');
  if (uri.scheme !== 'sip' && uri.scheme !== 'sips') return null;
  if (method != null && method.toUpperCase() !== 'INVITE') return null;
  // A call stays on the transport on which it began, so that nobody leads it off TLS.
  const wanted = isTlsUri(uri.toString()) ? 'TLS' : (uri.getParam('transport')?.toUpperCase() ?? transport);
  if (wanted !== transport) return null;
  // Without this it would be called at the port of UDP and TCP.
  if (transport === 'TLS' && !isTlsUri(uri.toString())) uri.setParam('transport', 'tls');
  return mayCall(plainHost(uri)) ? uri : null;
}

/** `q`, from 0 to 1; without it a Contact is wanted as much as possible. */
function wishOf(contact: NameAddrHeader): number {
  const wish = Number(contact.getParam('q') ?? 1);
  return wish >= 0 && wish <= 1 ? wish : 0;
}

/** The host of a URI in lower case, without brackets. */
export function plainHost(uri: URI): string {
  return uri.host.replace(/^\[|\]$/g, '').toLowerCase();
}

/** What two URIs of the same server have in common. */
export function hostAndPort(uri: URI, transport: SipTransport): string {
  return `${plainHost(uri)} ${uri.port ?? (transport === 'TLS' ? SIPS_DEFAULT_PORT : SIP_DEFAULT_PORT)}`;
}

/** What two URIs of the same place have in common. */
function keyOf(uri: URI, transport: SipTransport): string {
  return `${uri.user ?? ''}@${hostAndPort(uri, transport)}`;
}
