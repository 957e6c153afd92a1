/** Our SIP with a socket, media and a clock of the test: raw messages in, raw messages out. */
import { type OutgoingRequestMessage, URI } from 'sip.js/lib/core/index.js';
import { Credentials } from '../../../src/carriers/sip/credentials.ts';
import type { CallDialog } from '../../../src/carriers/sip/dialog.ts';
import type { CallServices, OpenMedia } from '../../../src/carriers/sip/incoming.ts';
import type { CallWay } from '../../../src/carriers/sip/invitation.ts';
import type { MediaSession } from '../../../src/carriers/sip/media.ts';
import { OutgoingCall } from '../../../src/carriers/sip/outgoing.ts';
import { RefusalLog } from '../../../src/carriers/sip/refusal-log.ts';
import { RequestLimit } from '../../../src/carriers/sip/request-limit.ts';
import type { SessionListener } from '../../../src/carriers/sip/rtp/session.ts';
import type { RefreshEvent } from '../../../src/carriers/sip/session-timer.ts';
import { type SourceLimit, limitOf as sourceLimit } from '../../../src/carriers/sip/source-limits.ts';
import { SipStack } from '../../../src/carriers/sip/stack.ts';
import { Switchboard } from '../../../src/carriers/sip/switchboard.ts';
import { type TransferCall, TransferDialler } from '../../../src/carriers/sip/transfer-dialler.ts';
import type { RemoteMedia } from '../../../src/carriers/sip/wire/offer-answer.ts';
import type { SipDestination } from '../../../src/carriers/sip/wire/uris.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { Codec } from '../../../src/foundation/units.ts';
import { type Gateway, startCalls } from '../../calls/harness.ts';
import { settle } from '../../fakes/clock.ts';

export const PEER = { protocol: 'UDP', address: '192.0.2.7', port: 5062 } as const;
/** The address of a trunk of the settings. */
export const TRUNK_ADDRESS = '192.0.2.9';
const FIRST_PORT = 20_000;

/** Media that only remember what they were told. */
export class FakeMedia implements MediaSession {
  readonly port: number;
  readonly remotes: RemoteMedia[] = [];
  /** Where the descriptions came from. */
  readonly peers: string[] = [];
  readonly sent: Uint8Array[] = [];
  readonly pressed: string[] = [];
  readonly stats = { received: 0, lost: 0, jitterMs: 0, sent: 0, refused: 0, peerReport: null };
  /** Takes what the peer sends; null before the media flow. */
  listener: SessionListener | null = null;
  /** Of the call, where a leg before has chosen it. */
  codec: Codec | null = null;
  closed = false;

  constructor(port: number) {
    this.port = port;
  }

  attach(listener: SessionListener, codec: Codec | null = null): void {
    this.listener = listener;
    this.codec = codec;
  }

  setRemote(remote: RemoteMedia, peerAddress: string): void {
    this.remotes.push(remote);
    this.peers.push(peerAddress);
  }

  send(bytes: Uint8Array): void {
    this.sent.push(bytes);
  }

  press(digit: string): boolean {
    this.pressed.push(digit);
    return true;
  }

  /** No packet comes for the time-out. */
  timeOut(): void {
    this.listener?.fail(new TrunklineError('media_timeout', 'no RTP within 60000 ms'));
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

/** Of the user `bridge`. */
function credentialsOf(withinCalls: boolean): Credentials {
  return new Credentials({ user: 'bridge', password: 'secret', withinCalls, clientNonce: () => '0a4f113b' });
}

/** Answers challenges to INVITEs that were signed, and to all else. */
class SignedCredentials extends Credentials {
  readonly #signed: WeakSet<OutgoingRequestMessage>;

  constructor(signed: WeakSet<OutgoingRequestMessage>) {
    super({ user: 'bridge', password: 'secret', clientNonce: () => '0a4f113b' });
    this.#signed = signed;
  }

  override authenticate(...[request, challenge]: Parameters<Credentials['authenticate']>): boolean {
    return (request.method !== 'INVITE' || this.#signed.has(request)) && super.authenticate(request, challenge);
  }
}

interface Sent extends SipDestination {
  readonly text: string;
}

export class SipLine {
  readonly gateway: Gateway;
  readonly stack: SipStack;
  readonly services: CallServices;
  readonly switchboard: Switchboard;
  /** What calls of ours need to know of the trunk. */
  readonly trunk = {
    scheme: 'sip',
    route: [],
    onRequest: (message: OutgoingRequestMessage) => void this.#signed.add(message),
    credentials: () => credentialsOf(true),
  } as const;
  /** What trunks have shown: `name sign`. */
  readonly signs: string[] = [];
  readonly mayCall = (host: string): boolean => host.startsWith('192.0.2.');
  /** INVITEs whose challenges are answered. */
  readonly #signed = new WeakSet<OutgoingRequestMessage>();
  readonly media: FakeMedia[] = [];
  readonly dropped: string[] = [];
  readonly refused: number[] = [];
  readonly sent: Sent[] = [];
  /** How sessions were kept up. */
  readonly refreshes: string[] = [];
  readonly disconnected: SipDestination[] = [];
  /** Where OPTIONS came from. */
  readonly asked: string[] = [];
  /** Answers that may wait for their ACK because of the ports. */
  portsMax = 4;
  /** While set, media are not opened. */
  held: Promise<void> | null = null;
  #read = 0;

  constructor(environment: Record<string, string> = {}) {
    this.gateway = startCalls(environment);
    const { settings, clock, log, metrics } = this.gateway.context;
    const openMedia: OpenMedia = async () => {
      await this.held;
      const media = new FakeMedia(FIRST_PORT + 2 * this.media.length);
      this.media.push(media);
      return media;
    };
    const { registry } = this.gateway;
    const timers = {
      clock,
      wantedS: settings.SIP_SESSION_EXPIRES_SECONDS,
      onRefresh: ({ by, result }: RefreshEvent) => void this.refreshes.push(`${by} ${result}`),
    };
    const ownUsers = ['trunkline', 'bridge'];
    this.services = {
      registry,
      openMedia,
      openRecordingMedia: openMedia,
      mediaAddress: '198.51.100.1',
      codecs: settings.SIP_CODECS,
      ownUsers,
      timers,
      srtp: settings.SIP_SRTP,
      transfers: new TransferDialler({
        policy: settings.SIP_TRANSFERS,
        peers: {
          knows: this.mayCall,
          hostAt: (address) => (address === TRUNK_ADDRESS ? 'pbx.example.com' : null),
        },
        trunks: [],
        call: (call) => this.#callInstead(call),
      }),
      log,
    };
    const { SIP_DIALOGS_MAX: dialogsMax } = settings;
    const limitOf = (from: string): SourceLimit =>
      sourceLimit(from === TRUNK_ADDRESS, { callsMax: registry.callsMax, dialogsMax, portsMax: this.portsMax });
    const refusals = new RefusalLog(clock, log);
    this.switchboard = new Switchboard({
      services: this.services,
      limitOf,
      refusals,
      metrics,
      onAsked: (from) => void this.asked.push(from),
    });
    const requests = new RequestLimit(clock, (from) => limitOf(from).rate);
    const socket = {
      protocol: 'UDP' as const,
      port: 5060,
      send: async (text: string, destination: SipDestination) => void this.sent.push({ ...destination, text }),
      has: () => false,
      disconnect: (destination: SipDestination) => void this.disconnected.push(destination),
      close: async () => undefined,
    };
    this.stack = new SipStack(socket, {
      host: '198.51.100.1',
      clock,
      log,
      delegate: this.switchboard,
      takesRefer: settings.SIP_TRANSFERS !== 'off',
      admits: (address) => address !== '203.0.113.66',
      mayAsk: (address, bytes) => requests.take(address, bytes),
      mayAskWithin: (callId, bytes) => requests.takeWithin(callId, bytes),
      onDropped: (reason) => void this.dropped.push(reason),
      onRefused: (statusCode, invite) => {
        this.refused.push(statusCode);
        if (invite !== null) refusals.refused({ ...invite, statusCode });
      },
      credentials: () => new SignedCredentials(this.#signed),
    });
  }

  /** A trunk at `host`, which is asked for `to` by `from`. */
  way(host: string, { to, from }: { readonly to: string; readonly from: string }): CallWay {
    return {
      ...this.trunk,
      name: host,
      stack: this.stack,
      srtp: this.services.srtp,
      toUri: new URI('sip', to, host),
      fromUri: new URI('sip', from, host),
      onSign: (sign) => void this.signs.push(`${host} ${sign}`),
    };
  }

  #callInstead({ sipCallId, toUri, asUser, stack, ...transfer }: TransferCall): Promise<void> {
    let dialog: CallDialog | null = null;
    const call = new OutgoingCall({
      ...this.services,
      request: { callId: sipCallId, to: toUri.user ?? '', from: asUser, parameters: {} },
      ways: [
        {
          ...this.way('192.0.2.7', { to: '', from: '' }),
          stack,
          toUri,
          fromUri: new URI('sip', asUser, '198.51.100.1'),
        },
      ],
      mayCall: this.mayCall,
      clock: this.gateway.clock,
      transfer,
      onEarly: (id, early) => this.switchboard.setEarly(id, early),
      onDialog: (opened) => {
        dialog = opened;
        this.switchboard.remember(opened);
      },
      onGone: () => this.switchboard.forget(dialog),
    });
    return call.dial();
  }

  /** A message from the peer; lets it be handled. */
  async receive(
    text: string,
    source: { address: string; port: number; protocol: 'UDP' | 'TCP' } = PEER,
  ): Promise<this> {
    this.stack.receive(Buffer.from(text, 'latin1'), source);
    await settle();
    return this;
  }

  /** What was sent since the last look. */
  take(): string[] {
    const news = this.sent.slice(this.#read).map(({ text }) => text);
    this.#read = this.sent.length;
    return news;
  }

  /** First lines of what was sent since the last look. */
  lines(): string[] {
    return this.take().map((text) => text.split('\r\n')[0] ?? '');
  }

  /** The call ends and everything of it is let go. */
  async close(): Promise<void> {
    await this.stack.close();
  }
}

/** A message with CRLF line ends and its length. */
export function sip(lines: readonly string[], body = ''): string {
  return `${[...lines, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

export const OFFER = [
  'v=0',
  'o=u 7 1 IN IP4 192.0.2.7',
  's=-',
  'c=IN IP4 192.0.2.7',
  't=0 0',
  'm=audio 4000 RTP/AVP 8 0 101',
  'a=rtpmap:101 telephone-event/8000',
  '',
].join('\r\n');

interface RequestOptions {
  readonly to?: string;
  readonly uri?: string;
  readonly cseq?: number;
  readonly branch?: string;
  readonly body?: string;
  readonly type?: string;
  readonly headers?: readonly string[];
  readonly callId?: string;
}

let branches = 0;

/** A request of the peer. */
export function request(method: string, options: RequestOptions = {}): string {
  const {
    to = '<sip:+14155550100@198.51.100.1>',
    uri = 'sip:+14155550100@198.51.100.1',
    cseq = 1,
    body = '',
    headers = [],
  } = options;
  const { branch = `z9hG4bK${++branches}`, callId = 'call-1@192.0.2.7', type = 'application/sdp' } = options;
  return sip(
    [
      `${method} ${uri} SIP/2.0`,
      `Via: SIP/2.0/UDP 192.0.2.7:5062;branch=${branch};rport`,
      'Max-Forwards: 70',
      'From: "Caller" <sip:+14155550199@192.0.2.7>;tag=peer',
      `To: ${to}`,
      `Call-ID: ${callId}`,
      `CSeq: ${cseq} ${method}`,
      ...(method === 'INVITE' || method === 'UPDATE' ? ['Contact: <sip:caller@192.0.2.7:5062>'] : []),
      ...headers,
      ...(body === '' ? [] : [`Content-Type: ${type}`]),
    ],
    body,
  );
}

/** The value of a header in a raw message. */
export function headerIn(text: string, name: string): string {
  return new RegExp(`^${name}: *(.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';
}

/** The body of a raw message. */
export function bodyIn(text: string): string {
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

/** An answer to a raw request of ours. */
export function answer(requestText: string, status: string, headers: readonly string[] = [], body = ''): string {
  const copied = ['Via', 'From', 'Call-ID', 'CSeq'].map((name) => `${name}: ${headerIn(requestText, name)}`);
  const to = headerIn(requestText, 'To');
  const tagged = to.includes('tag=') || status.startsWith('100') ? to : `${to};tag=far`;
  return sip(
    [
      `SIP/2.0 ${status}`,
      ...copied,
      `To: ${tagged}`,
      ...headers,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
    ],
    body,
  );
}
