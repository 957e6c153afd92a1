/** A phone's side of a dialog (RFC 3261 §12): writes the requests and responses that belong to it. */
import { headerOf, headersOf, newToken, type SipMessage, tagOf, uriOf } from './message.ts';
import type { Peer } from './socket.ts';

const ALLOW = 'INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO, REFER';

/** Further headers of a message. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Where the phone is, and as whom. */
export interface PhoneIdentity {
  readonly user: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: 'UDP' | 'TLS';
}

interface Names {
  readonly callId: string;
  /** From and To of our requests, tags included. */
  readonly local: string;
  remote: string;
  /** Request-URI of our requests. */
  target: string;
  routes: readonly string[];
}

export class PhoneDialog {
  readonly peer: Peer;
  readonly #phone: PhoneIdentity;
  readonly #names: Names;
  #sequence = 0;

  private constructor(phone: PhoneIdentity, peer: Peer, names: Names) {
    this.#phone = phone;
    this.peer = peer;
    this.#names = names;
  }

  /** One that we begin by calling `uri`, under a Call-ID of our choice. */
  static to(uri: string, peer: Peer, phone: PhoneIdentity, callId = newToken()): PhoneDialog {
    const local = `<sip:${phone.user}@${hostOf(phone)}>;tag=${newToken()}`;
    return new PhoneDialog(phone, peer, { callId, local, remote: `<${uri}>`, target: uri, routes: [] });
  }

  /** One that an INVITE begins. The other way round: what was From is whom our requests go to. */
  static from(invite: SipMessage, peer: Peer, phone: PhoneIdentity): PhoneDialog {
    return new PhoneDialog(phone, peer, {
      callId: headerOf(invite, 'Call-ID'),
      local: `${headerOf(invite, 'To')};tag=${newToken()}`,
      remote: headerOf(invite, 'From'),
      target: uriOf(headerOf(invite, 'Contact')),
      routes: headersOf(invite, 'Record-Route'),
    });
  }

  get callId(): string {
    return this.#names.callId;
  }

  /** The other side has accepted our INVITE: its tag, its address and the way there are known. */
  confirm(response: SipMessage): void {
    this.#names.remote = headerOf(response, 'To');
    this.#names.target = uriOf(headerOf(response, 'Contact')) || this.#names.target;
    this.#names.routes = headersOf(response, 'Record-Route').toReversed();
  }

  /** The next request. */
  request(method: string, body: string, headers: HeaderList): SipMessage {
    this.#sequence++;
    return this.#write(method, this.#sequence, body, headers);
  }

  /** The ACK of an accepted INVITE. */
  acknowledgement(invite: SipMessage, body: string): SipMessage {
    return this.#write('ACK', Number(headerOf(invite, 'CSeq').split(' ')[0]), body, []);
  }

  /** The CANCEL of an INVITE (RFC 3261 §9.1). */
  cancellation(invite: SipMessage): SipMessage {
    const headers = invite.headers.filter(([name]) => /^(Via|From|To|Call-ID|Max-Forwards|Route)$/.test(name));
    const sequence = headerOf(invite, 'CSeq').replace('INVITE', 'CANCEL');
    return { start: invite.start.replace('INVITE', 'CANCEL'), headers: [...headers, ['CSeq', sequence]], body: '' };
  }

  /** A response to a request of the other side. */
  response(request: SipMessage, status: string, body: string): SipMessage {
    const copied = ['Via', 'Record-Route', 'From', 'Call-ID', 'CSeq'].flatMap((name) =>
      headersOf(request, name).map((value): [string, string] => [name, value]),
    );
    const to = headerOf(request, 'To');
    const tagged = tagOf(to) === '' ? `${to};tag=${tagOf(this.#names.local)}` : to;
    return {
      start: `SIP/2.0 ${status}`,
      headers: [...copied, ['To', tagged], ...timerIn(request, status), ...this.#own(body)],
      body,
    };
  }

  #write(method: string, sequence: number, body: string, headers: HeaderList): SipMessage {
    const { callId, local, remote, target, routes } = this.#names;
    return {
      start: `${method} ${target} SIP/2.0`,
      headers: [
        ['Via', `SIP/2.0/${this.#phone.protocol} ${hostOf(this.#phone)};branch=z9hG4bK${newToken()};rport`],
        ['Max-Forwards', '70'],
        ...routes.map((route): [string, string] => ['Route', route]),
        ['From', local],
        ['To', remote],
        ['Call-ID', callId],
        ['CSeq', `${sequence} ${method}`],
        ...headers,
        ...this.#own(headers.some(([name]) => name === 'Content-Type') ? '' : body),
      ],
      body,
    };
  }

  #own(body: string): [string, string][] {
    const own: [string, string][] = [
      [
        'Contact',
        `<sip:${this.#phone.user}@${hostOf(this.#phone)}${this.#phone.protocol === 'TLS' ? ';transport=tls' : ''}>`,
      ],
      ['Allow', ALLOW],
    ];
    return body === '' ? own : [...own, ['Content-Type', 'application/sdp']];
  }
}

/** A session timer as the request asks for it (RFC 4028 §9), who asks being the one to refresh. */
function timerIn(request: SipMessage, status: string): [string, string][] {
  const [, interval, refresher = 'uac'] =
    /^(\d+)(?:;refresher=(ua[cs]))?/.exec(headerOf(request, 'Session-Expires')) ?? [];
  if (interval === undefined || !status.startsWith('200')) return [];
  const expires: [string, string] = ['Session-Expires', `${interval};refresher=${refresher}`];
  return refresher === 'uac' ? [expires, ['Require', 'timer']] : [expires];
}

/** A phone that cannot be called has no port to name. */
function hostOf({ address, port }: PhoneIdentity): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return port === 0 ? host : `${host}:${port}`;
}
