/** Calls whom a peer names by REFER: only servers of ours and peers, by the transport of the call. */
import { randomUUID } from 'node:crypto';
import { Grammar, URI } from 'sip.js/lib/core/index.js';
import { isOwnAddress } from './destinations.ts';
import type { TransferOrder, Transfers } from './peer-transfer.ts';
import type { Peers } from './peers.ts';
import { hostAndPort, plainHost, usableUri } from './redirection.ts';
import type { SipStack } from './stack.ts';
import { type SipTrunk, uriAt } from './trunk-list.ts';
import { SipFault } from './wire/fault.ts';
import type { ReferRequest } from './wire/refer-request.ts';
import { REPLACES_TAG, writeReplaces } from './wire/replaces.ts';
import { userOf } from './wire/uris.ts';

/** An INVITE of ours that a peer asked for. */
export interface TransferCall extends Omit<TransferOrder, 'refer' | 'session' | 'address'> {
  /** The Call-ID of the new dialog. */
  readonly sipCallId: string;
  readonly toUri: URI;
  /** Whom it is called as where no trunk says that. */
  readonly asUser: string;
  /** Null = it goes to a peer that is no trunk. */
  readonly trunk: SipTrunk | null;
  /** Whether whoever asked spoke with them before. */
  readonly kind: 'blind' | 'attended';
  readonly headers: readonly string[];
}

interface DiallerOptions {
  /** SIP_TRANSFERS */
  readonly policy: 'off' | 'trunk' | 'peers';
  readonly peers: Pick<Peers, 'knows' | 'hostAt'>;
  readonly trunks: readonly SipTrunk[];
  /** Makes the call; rejects when it cannot. */
  call(call: TransferCall): Promise<void>;
}

export class TransferDialler implements Transfers {
  readonly #options: DiallerOptions;

  constructor(options: DiallerOptions) {
    this.#options = options;
  }

  get takesRefer(): boolean {
    return this.#options.policy !== 'off';
  }

  mayAsk(address: string): boolean {
    return this.takesRefer && this.mayTakeOver(address);
  }

  mayTakeOver(address: string): boolean {
    const { policy, peers } = this.#options;
    return policy === 'peers' || peers.hostAt(address) !== null;
  }

  dial({ refer, session, address, ...order }: TransferOrder): Promise<void> {
    const { stack } = order;
    const toUri = this.#target(refer, { stack, address, from: session.remoteURI });
    const asUser = session.localURI.user ?? '';
    const sipCallId = randomUUID();
    const trunk = this.#trunkOf(toUri, stack);
    const kind = refer.replaces === null ? 'blind' : 'attended';
    return this.#options.call({ ...order, sipCallId, toUri, asUser, trunk, kind, headers: headersOf(refer) });
  }

  /** @throws SipFault when it may not be called */
  #target(
    { uri }: ReferRequest,
    { stack, address, from }: { readonly stack: SipStack; readonly address: string; readonly from: URI },
  ): URI {
    const { peers } = this.#options;
    const named = /^tel:/i.test(uri) ? this.#numberAt(uri, address, from) : Grammar.URIParse(uri);
    if (!(named instanceof URI)) throw new SipFault('a Refer-To that cannot be read', 'sip:user@host');
    const mayCall = (host: string): boolean => peers.knows(host);
    const target = usableUri(named, { transport: stack.protocol, mayCall });
    if (target === null)
      throw new SipFault('a Refer-To elsewhere', `a host of the settings or of SIP_ALLOW, by ${stack.protocol}`, 403);
    if (isOwn(target, stack)) throw new SipFault('a Refer-To that names us', 'somebody else', 482);
    return target;
  }

  /** A telephone number is called at the trunk that asks, or at the host that the call is with. */
  #numberAt(uri: string, address: string, { host, port }: URI): URI {
    const name = this.#options.peers.hostAt(address);
    const trunk = this.#options.trunks.find(({ server }) => server.host === name);
    const number = userOf(uri) ?? '';
    return trunk === undefined ? new URI('sip', number, host, port) : uriAt(trunk.server, number);
  }

  /** Whose password answers challenges: only where the very server is called. */
  #trunkOf(target: URI, { protocol }: SipStack): SipTrunk | null {
    const { trunks, peers } = this.#options;
    const places = [target, atHost(target, peers.hostAt(plainHost(target)))].map((uri) => hostAndPort(uri, protocol));
    const isThere = ({ server, registrar }: SipTrunk): boolean =>
      [server, registrar].some((each) => each !== null && places.includes(hostAndPort(uriAt(each, null), protocol)));
    return trunks.find(isThere) ?? null;
  }
}

function isOwn(target: URI, { contact, protocol, port }: SipStack): boolean {
  const place = hostAndPort(target, protocol);
  const host = plainHost(target);
  return place === hostAndPort(contact, protocol) || (isOwnAddress(host) && place === `${host} ${port}`);
}

/** Names in the settings may be written otherwise than addresses. */
function atHost(uri: URI, host: string | null): URI {
  const other = uri.clone();
  if (host !== null) other.host = host;
  return other;
}

function headersOf({ replaces, requiresReplaces, referredBy }: ReferRequest): string[] {
  return [
    ...(replaces === null ? [] : [`Replaces: ${writeReplaces(replaces)}`]),
    ...(requiresReplaces ? [`Require: ${REPLACES_TAG}`] : []),
    ...(referredBy === null ? [] : [`Referred-By: ${referredBy}`]),
  ];
}
