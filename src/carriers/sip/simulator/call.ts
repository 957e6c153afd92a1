/** One call of a {@link SipPhone}: its dialog (RFC 3261 §12), and the sound in it. */

import type { Clock, Timer } from '../../../foundation/clock.ts';
import { RTP_FORMATS } from '../wire/rtp-codecs.ts';
import { type HeaderList, PhoneDialog } from './dialog.ts';
import { answerChallenge, headerOf, methodOf, reasonPhraseOf, type SipMessage, statusOf, uriOf } from './message.ts';
import { PhoneMedia, type PhoneSound } from './phone-media.ts';
import { describe, type Hold, readAgreement } from './phone-sdp.ts';
import type { Peer } from './socket.ts';
import type { SipWire } from './wire.ts';

/** How long an accepted call waits for its ACK, at first and in all. */
const FIRST_REPEAT_MS = 500;
const REPEATS_MAX = 7;

/** How a call went. */
export interface PhoneCallReport {
  readonly callId: string;
  readonly sentMs: number;
  readonly received: { readonly packets: number; readonly digits: string };
  /** Who ended it; `refused` = it never began. */
  readonly endedBy: 'phone' | 'bridge' | 'refused';
  /** The last answer to our INVITE; null for a call that came in. */
  readonly status: number | null;
}

/** The call was not taken. */
export class RefusedError extends Error {
  readonly status: number;
  /** The reason phrase that came with it; empty = none. */
  readonly words: string;

  /** @param words the reason phrase that came with it; empty = none */
  constructor(status: number, words = '') {
    super(`the server answered ${status}${words === '' ? '' : ` ${words}`}`);
    this.status = status;
    this.words = words;
  }
}

/** Whose call it is, and where it goes. */
export interface PhoneCallOptions {
  readonly clock: Clock;
  readonly wire: SipWire;
  readonly address: string;
  readonly user: string;
  readonly password: string;
  readonly onEnded: (call: PhoneCall) => void;
  /** Calls somebody else because the other side asked for it (REFER); resolves with the status of the answer. */
  readonly onReferred: (uri: string) => Promise<number>;
}

/** One call, from its INVITE to its end. It is made by its phone. */
export class PhoneCall {
  readonly #options: PhoneCallOptions;
  readonly #dialog: PhoneDialog;
  /** Resolves when the call is answered; fails with a {@link RefusedError} when it is not. */
  readonly answered: Promise<void>;
  readonly ended: Promise<PhoneCallReport>;
  /** The INVITE of a call that came in; null for our own. */
  readonly invite: SipMessage | null;
  /** Its sound, from when it was dialled or answered. */
  media: PhoneMedia | null = null;
  #state: 'calling' | 'live' | 'over' = 'calling';
  #ringing = false;
  #givenUp = false;
  #ownInvite: SipMessage | null = null;
  #version = 1;
  #status: number | null = null;
  #repeating: Timer | null = null;
  #settle: { answered(): void; refused(error: Error): void; ended(report: PhoneCallReport): void } = {
    answered: () => undefined,
    refused: () => undefined,
    ended: () => undefined,
  };

  /** Of our own with `uri` to be dialled, or of an INVITE that came from `peer`. */
  constructor(
    options: PhoneCallOptions,
    origin:
      | { readonly uri: string; readonly peer: Peer; readonly callId?: string }
      | { readonly invite: SipMessage; readonly peer: Peer },
  ) {
    this.#options = options;
    const identity = {
      user: options.user,
      address: options.address,
      port: options.wire.port,
      protocol: options.wire.protocol,
    };
    this.invite = 'invite' in origin ? origin.invite : null;
    this.#dialog =
      'invite' in origin
        ? PhoneDialog.from(origin.invite, origin.peer, identity)
        : PhoneDialog.to(origin.uri, origin.peer, identity, origin.callId);
    this.answered = new Promise((resolve, reject) => {
      this.#settle.answered = resolve;
      this.#settle.refused = reject;
    });
    // Whoever waits only for the end is told there.
    this.answered.catch(() => undefined);
    this.ended = new Promise((resolve) => {
      this.#settle.ended = resolve;
    });
  }

  get callId(): string {
    return this.#dialog.callId;
  }

  /** Sends the INVITE, with our offer or, with `late`, without one. */
  async dial(
    sound: PhoneSound,
    { headers = {}, late = false }: { headers?: Readonly<Record<string, string>>; late?: boolean },
  ): Promise<void> {
    this.media = await this.#openMedia(sound);
    const body = late ? '' : this.#describe(null);
    this.#sendInvite(body, Object.entries(headers));
  }

  /** Takes a call that came in. */
  async answer(sound: PhoneSound): Promise<void> {
    if (this.invite === null || this.#state !== 'calling') return;
    this.media = await this.#openMedia(sound);
    const offered = this.invite.body !== '';
    if (offered) this.media.agree(readAgreement(this.invite.body, this.media.format));
    this.#accept(this.invite, this.#describe(null));
    this.#begin();
  }

  /** Refuses a call that came in, with a status such as `486 Busy Here`. */
  refuse(status: string): void {
    if (this.invite === null || this.#state !== 'calling') return;
    this.#respond(this.invite, status);
    this.#finish('refused');
  }

  /** Ends the call; before it is answered, takes it back. */
  hangup(): void {
    if (this.#state === 'over') return;
    if (this.#state === 'calling') {
      this.#cancel();
      return;
    }
    this.#request('BYE', '', []);
    this.#finish('phone');
  }

  /** Holds the call; resolves when the server has agreed. */
  hold(how: Hold): Promise<void> {
    return this.#agreeAnew(how);
  }

  /** Goes on after a hold. */
  resume(): Promise<void> {
    return this.#agreeAnew(null);
  }

  press(digits: string): void {
    this.media?.press(digits);
  }

  /** Vanishes: nothing is said any more and nobody is told. */
  vanish(): void {
    this.#finish('phone');
  }

  /** A request in the dialog. */
  receive(request: SipMessage): void {
    const method = methodOf(request);
    switch (method) {
      case 'ACK':
        this.#repeating?.cancel();
        if (request.body !== '' && this.media !== null)
          this.media.agree(readAgreement(request.body, this.media.format));
        return;
      case 'BYE':
        this.#respond(request, '200 OK');
        this.#finishOnceHeard();
        return;
      case 'INVITE':
        if (request.body !== '' && this.media !== null)
          this.media.agree(readAgreement(request.body, this.media.format));
        this.#accept(request, this.#describe(null));
        return;
      case 'CANCEL':
        this.#respond(request, '200 OK');
        if (this.#state !== 'calling' || this.invite === null) return;
        this.#respond(this.invite, '487 Request Terminated');
        this.#finish('refused');
        return;
      case 'REFER':
        this.#respond(request, '202 Accepted');
        void this.#follow(uriOf(headerOf(request, 'Refer-To')));
        return;
      default:
        this.#respond(request, '200 OK');
    }
  }

  /** Calls whom the other side names, and tells it what becomes of that (RFC 3515 §2.4.4). */
  async #follow(uri: string): Promise<void> {
    this.#tellReferrer(100, 'active;expires=60');
    const status = await this.#options.onReferred(uri);
    if (this.#state === 'live') this.#tellReferrer(status, 'terminated;reason=noresource');
  }

  #tellReferrer(status: number, state: string): void {
    this.#request('NOTIFY', `SIP/2.0 ${status} Told\r\n`, [
      ['Event', 'refer'],
      ['Subscription-State', state],
      ['Content-Type', 'message/sipfrag'],
    ]);
  }

  /** Tells the caller of a call that came in that it rings. */
  ring(): void {
    if (this.invite !== null) this.#respond(this.invite, '180 Ringing');
  }

  #openMedia(sound: PhoneSound): Promise<PhoneMedia> {
    const { clock, address } = this.#options;
    return PhoneMedia.open({ ...sound, clock, address, onSpoken: () => this.hangup() });
  }

  #describe(hold: Hold | null): string {
    const { format = RTP_FORMATS.mulaw, port = 0, ptimeMs = 20, srtpKey = null } = this.media ?? {};
    return describe({ address: this.#options.address, port, format, ptimeMs, version: this.#version++, hold, srtpKey });
  }

  #sendInvite(body: string, headers: HeaderList): void {
    const request = this.#request('INVITE', body, headers, (response, status) => {
      this.#status = status;
      if (status < 200) this.#onRinging();
      else if (status < 300) this.#onAccepted(response, request);
      else if ((status === 401 || status === 407) && !hasCredentials(headers) && this.#options.password !== '') {
        this.#sendInvite(body, [...headers, this.#credentials(response, status, request)]);
      } else this.#onRefused(response, status);
    });
    this.#ownInvite = request;
  }

  #onRinging(): void {
    this.#ringing = true;
    if (this.#givenUp) this.#cancel();
  }

  #onAccepted(response: SipMessage, request: SipMessage): void {
    const isFirst = this.#state === 'calling';
    const { format = RTP_FORMATS.mulaw } = this.media ?? {};
    this.#dialog.confirm(response);
    const late = request.body === '';
    this.#acknowledge(request, late ? this.#describe(null) : '');
    if (!isFirst) return;
    try {
      this.media?.agree(readAgreement(response.body, format));
    } catch (error) {
      this.#settle.refused(error instanceof Error ? error : new Error(String(error)));
    }
    this.#begin();
    if (this.#givenUp) this.hangup();
  }

  #onRefused(response: SipMessage, status: number): void {
    this.#settle.refused(new RefusedError(status, reasonPhraseOf(response)));
    this.#finish('refused');
  }

  #begin(): void {
    this.#state = 'live';
    this.#settle.answered();
  }

  /** A CANCEL may only follow a first answer (RFC 3261 §9.1). */
  #cancel(): void {
    if (this.invite !== null) {
      this.refuse('603 Decline');
      return;
    }
    this.#givenUp = true;
    const invite = this.#ownInvite;
    if (!this.#ringing || invite === null) return;
    this.#ringing = false;
    this.#options.wire.request(this.#dialog.cancellation(invite), this.#dialog.peer, () => undefined);
  }

  /** A new offer in the dialog; asked again a little later when the other side makes one, too (491). */
  #agreeAnew(hold: Hold | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = this.#request('INVITE', this.#describe(hold), [], (response, status) => {
        if (status < 200) return;
        if (status >= 300) {
          reject(new RefusedError(status, reasonPhraseOf(response)));
          return;
        }
        this.#acknowledge(request, '');
        this.media?.agree(readAgreement(response.body, this.media.format));
        resolve();
      });
    });
  }

  #request(
    method: string,
    body: string,
    headers: HeaderList,
    onResponse: (response: SipMessage, status: number) => void = () => undefined,
  ): SipMessage {
    const request = this.#dialog.request(method, body, headers);
    this.#options.wire.request(request, this.#dialog.peer, (response) => onResponse(response, statusOf(response) ?? 0));
    return request;
  }

  #acknowledge(invite: SipMessage, body: string): void {
    this.#options.wire.send(this.#dialog.acknowledgement(invite, body), this.#dialog.peer);
  }

  #credentials(response: SipMessage, status: number, request: SipMessage): [string, string] {
    const { user, password } = this.#options;
    const challenge = headerOf(response, status === 401 ? 'WWW-Authenticate' : 'Proxy-Authenticate');
    const uri = request.start.split(' ')[1] ?? '';
    return [
      status === 401 ? 'Authorization' : 'Proxy-Authorization',
      answerChallenge(challenge, { user, password, method: 'INVITE', uri }),
    ];
  }

  #accept(request: SipMessage, sdp: string): void {
    const response = this.#respond(request, '200 OK', sdp);
    this.#repeatUntilAcknowledged(response, FIRST_REPEAT_MS, REPEATS_MAX);
  }

  #repeatUntilAcknowledged(response: SipMessage, afterMs: number, left: number): void {
    this.#repeating?.cancel();
    this.#repeating = this.#options.clock.after(afterMs, () => {
      if (left === 0 || this.#state === 'over') return;
      this.#options.wire.respond(response, this.#dialog.peer);
      this.#repeatUntilAcknowledged(response, Math.min(afterMs * 2, 4000), left - 1);
    });
  }

  #respond(request: SipMessage, status: string, sdp = ''): SipMessage {
    const response = this.#dialog.response(request, status, sdp);
    this.#options.wire.respond(response, this.#dialog.peer);
    return response;
  }

  /** A BYE comes on a socket of its own: what was spoken before it may still wait on the other. */
  #finishOnceHeard(): void {
    setImmediate(() => setImmediate(() => this.#finish('bridge')));
  }

  #finish(endedBy: PhoneCallReport['endedBy']): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#repeating?.cancel();
    const { sentMs = 0, received = { packets: 0, digits: '' } } = this.media ?? {};
    void this.media?.close();
    this.#options.onEnded(this);
    this.#settle.refused(new RefusedError(this.#status ?? 0));
    this.#settle.ended({ callId: this.callId, sentMs, received, endedBy, status: this.#status });
  }
}

function hasCredentials(headers: HeaderList): boolean {
  return headers.some(([name]) => name.endsWith('Authorization'));
}
