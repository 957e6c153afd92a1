/** Trunkline as a SIP user agent: takes calls from peers, registers at registrars, and makes calls. */
import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import type { URI } from 'sip.js/lib/core/index.js';
import type { CallRegistry } from '../../calls/registry.ts';
import { AddressRanges } from '../../foundation/addresses.ts';
import { type Clock, sleep } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Lead } from '../../foundation/leadership.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { Accounts } from './accounts.ts';
import { bracketed, reachableAddress } from './destinations.ts';
import type { CallDialog } from './dialog.ts';
import type { CallServices, OpenMedia } from './incoming.ts';
import type { CallWay } from './invitation.ts';
import { OutgoingCall } from './outgoing.ts';
import { Peers } from './peers.ts';
import { RefusalLog } from './refusal-log.ts';
import { Registrations } from './registrations.ts';
import { RtpPorts } from './rtp/ports.ts';
import { RtpSession } from './rtp/session.ts';
import type { RefreshEvent } from './session-timer.ts';
import { type SourceLimit, limitOf as sourceLimit } from './source-limits.ts';
import type { SipStack } from './stack.ts';
import { Switchboard } from './switchboard.ts';
import { type TransferCall, TransferDialler } from './transfer-dialler.ts';
import { type TransportSettings, Transports } from './transports.ts';
import { trunksFor } from './trunk-choice.ts';
import {
  firstHop,
  readTrunks,
  routeOver,
  type SipServer,
  type SipTrunk,
  type TrunkSettings,
  uriAt,
} from './trunk-list.ts';
import { TrunkWatch } from './trunk-watch.ts';
import { userOf } from './wire/uris.ts';

/** How long the shutdown waits for the answers to the last requests (BYE, the end of the registration). */
const FAREWELL_MS = 2000;
const FAREWELL_STEP_MS = 50;
/** The sender of a recording may send nothing while its call is on hold; beyond this it is gone. */
const RECORDING_PAUSE_MAX_MS = 2 * 3_600_000;

type SipSettings = TransportSettings &
  TrunkSettings &
  Pick<
    Settings,
    | 'COMFORT_NOISE'
    | 'MEDIA_TIMEOUT_MS'
    | 'RTP_ALLOW'
    | 'RTP_PORTS'
    | 'SIP_ALLOW'
    | 'SIP_CODECS'
    | 'SIP_DIALOGS_MAX'
    | 'SIP_PUBLIC_ADDRESS'
    | 'SIP_SESSION_EXPIRES_SECONDS'
    | 'SIP_TLS_PORT'
  >;

interface SipAgentOptions {
  readonly settings: SipSettings;
  readonly registry: Pick<CallRegistry, 'accept' | 'admit' | 'callsMax'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** One of several gateways registers at a time; left out = this one does. */
  readonly lead?: Lead | null;
}

/** Everything that is open while the agent listens. */
interface Open {
  readonly address: string;
  readonly transports: Transports;
  readonly switchboard: Switchboard;
  readonly services: CallServices;
  readonly refusals: RefusalLog;
}

/** What calls differ in. */
type CallTarget = Pick<ConstructorParameters<typeof OutgoingCall>[0], 'request' | 'ways' | 'transfer'>;

/** A call to make. */
export interface DialRequest {
  /** A user or telephone number at the trunk. */
  readonly to: string;
  readonly from: string | null;
  /** The app's WebSocket URL; null = the gateway's own. */
  readonly app: string | null;
  readonly parameters: Readonly<Record<string, string>>;
  /** The name of the trunk, which is the only one that is tried; null = those that take the number. */
  readonly trunk?: string | null;
  /** How long it may ring; left out = a minute. */
  readonly timeoutMs?: number;
}

export class SipAgent {
  readonly #options: SipAgentOptions;
  readonly #peers: Peers;
  readonly #trunks: readonly SipTrunk[];
  readonly #accounts = new Accounts();
  readonly #registrations: Registrations;
  /** By the names of the trunks. */
  readonly #watches: ReadonlyMap<string, TrunkWatch>;
  #open: Open | null = null;

  /**
   * The agent does not listen yet.
   * @throws ConfigError when SIP_TRUNKS cannot be used
   */
  constructor(options: SipAgentOptions) {
    const { settings, clock, log } = options;
    this.#options = options;
    this.#trunks = readTrunks(settings);
    this.#registrations = new Registrations({
      ...options,
      accounts: this.#accounts,
      expected: this.#trunks.filter(({ registrar }) => registrar !== null).length,
      // The registrar may have a new address, whose answers would be dropped.
      onFailure: () => void this.#peers.open(),
      onSign: (trunk, sign) => this.#watches.get(trunk)?.note(sign),
    });
    this.#watches = new Map(this.#trunks.map((trunk) => [trunk.name, this.#watch(trunk)]));
    const servers = this.#trunks.flatMap(({ registrar, server, proxy }) => [registrar, server, proxy]);
    this.#peers = new Peers({
      allowed: settings.SIP_ALLOW,
      hosts: [...new Set(servers.flatMap((server) => server?.host ?? []))],
      clock,
      onUnknown: (host, err) => log.warn({ host, err }, 'a SIP host name could not be resolved'),
    });
  }

  /** Whether all registrations stand; false where there is none. */
  get registered(): boolean {
    return this.#registrations.registered;
  }

  /**
   * Listens on UDP and TCP, and registers where that leads. `port` 0 = any free one, the same for both. Returns
   * `host:port`. Rejects with what the system says when it cannot.
   */
  async listen(host: string, port: number): Promise<string> {
    const open = await this.#prepare(host);
    const bound = await open.transports.openPlain(port);
    // Trunks over TLS need no listener of ours.
    if (this.#options.settings.SIP_TLS_PORT === 0 && this.#trunks.some(usesTls)) await open.transports.openTls(null);
    this.#register(open);
    return `${bracketed(open.address)}:${bound}`;
  }

  /**
   * Listens on TLS, and registers where that leads. As {@link listen}.
   * @throws ConfigError when a file of its settings cannot be used
   */
  async listenTls(host: string, port: number): Promise<string> {
    const open = await this.#prepare(host);
    const bound = await open.transports.openTls(port);
    this.#register(open);
    return `${bracketed(open.address)}:${bound}`;
  }

  /**
   * Makes a call. It rings from now on, and is answered, or ends, later.
   * @throws TrunklineError `dialing_unavailable`, `invalid_request` (no such trunk, or none for this number),
   * `too_many_calls`, `draining`
   */
  async dial({ to, app, trunk, ...request }: DialRequest): Promise<{ callId: string }> {
    const open = this.#open;
    const trunks = this.#trunksFor(to, trunk ?? null);
    const ways = trunks.flatMap((each) => this.#wayOver(open, each, { to, from: request.from }));
    const [first, ...others] = ways;
    if (open === null || first === undefined) {
      const names = trunks.map(({ name }) => name).join(', ');
      throw new TrunklineError('dialing_unavailable', `the transport of the SIP trunk ${names} is not open`);
    }
    open.services.registry.admit();
    const from = request.from ?? (trunks[0]?.user || null);
    const callId = randomUUID();
    const parameters = app === null ? request.parameters : { ...request.parameters, app };
    await this.#call(open, {
      request: { ...request, callId, to, from, parameters },
      ways: [first, ...others],
      transfer: null,
    });
    return { callId };
  }

  /** How a call goes over a trunk; nothing where its transport is not open. */
  #wayOver(open: Open | null, trunk: SipTrunk, { to, from }: { to: string; from: string | null }): CallWay[] {
    const stack = open?.transports.of(firstHop(trunk, trunk.server).transport);
    if (stack === undefined) return [];
    const fromUri = fromUriOf(trunk, from ?? (trunk.user || null), stack);
    const { scheme } = trunk.server;
    return [this.#way(trunk, { stack, fromUri, toUri: uriAt(trunk.server, to), srtp: trunk.srtp, scheme })];
  }

  /** `trunk` = whose proxy and password are used; null = nobody's. */
  #way(trunk: SipTrunk | null, to: Pick<CallWay, 'stack' | 'fromUri' | 'toUri' | 'srtp' | 'scheme'>): CallWay {
    return {
      ...to,
      name: trunk?.name ?? null,
      route: trunk === null ? [] : routeOver(trunk),
      onRequest: (message) => {
        if (trunk !== null) this.#accounts.sign(message, trunk);
      },
      credentials: () => (trunk === null ? undefined : this.#accounts.credentialsOf(trunk)),
      onSign: (sign) => {
        if (trunk !== null) this.#watches.get(trunk.name)?.note(sign);
      },
    };
  }

  /** Calls whom a peer wants to have one of our calls. */
  #callInstead({ trunk, toUri, stack, sipCallId, asUser, ...transfer }: TransferCall): Promise<void> {
    const open = this.#open;
    if (open === null) throw new TrunklineError('draining', 'the server is shutting down');
    const from = (trunk?.user ?? asUser) || null;
    const way = this.#way(trunk, {
      stack,
      srtp: trunk?.srtp ?? open.services.srtp,
      scheme: toUri.scheme === 'sips' ? 'sips' : 'sip',
      toUri,
      fromUri: trunk === null ? ownUri(stack, from) : fromUriOf(trunk, from, stack),
    });
    const request = { callId: sipCallId, to: userOf(toUri.toString()) ?? toUri.host, from, parameters: {} };
    return this.#call(open, { request, ways: [way], transfer });
  }

  async #call(open: Open, target: CallTarget): Promise<void> {
    let dialog: CallDialog | null = null;
    const call = new OutgoingCall({
      ...open.services,
      ...target,
      clock: this.#options.clock,
      mayCall: (host) => this.#peers.knows(host),
      onEarly: (id, early) => open.switchboard.setEarly(id, early),
      onDialog: (opened) => {
        dialog = opened;
        open.switchboard.remember(opened);
      },
      onFailover: ({ name }) => this.#options.metrics.sipFailovers.inc({ trunk: name ?? '' }),
      onGone: () => open.switchboard.forget(dialog),
    });
    await call.dial();
  }

  /** Ends the registrations, so that no more calls come; another gateway may register. */
  drain(): void {
    this.#registrations.end();
  }

  /** Closes everything when the last requests are answered, or after two seconds. The calls are ended by then. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    this.#peers.close();
    for (const watch of this.#watches.values()) watch.close();
    if (open === null) return;
    this.#registrations.end();
    open.switchboard.close();
    const { stacks } = open.transports;
    for (
      let waitedMs = 0;
      waitedMs < FAREWELL_MS && stacks.some((stack) => stack.isWaiting);
      waitedMs += FAREWELL_STEP_MS
    ) {
      await sleep(this.#options.clock, FAREWELL_STEP_MS);
    }
    await open.transports.close();
    open.refusals.close();
  }

  /** What all sockets share; made by whichever is opened first. */
  async #prepare(host: string): Promise<Open> {
    if (this.#open !== null) return this.#open;
    const { settings, clock, log, metrics, registry } = this.#options;
    const { address } = await lookup(host);
    const ownAddress = settings.SIP_PUBLIC_ADDRESS || reachableAddress(address);
    await this.#peers.open();
    const [first, last] = settings.RTP_PORTS.split('-').map(Number);
    const ports = new RtpPorts({ first: first ?? 0, last: last ?? 0 });
    const services = this.#services(address, ownAddress, ports);
    // Never more than half of the ports, of which a recording takes two pairs.
    const portsMax = Math.ceil(ports.free / 4);
    const { SIP_DIALOGS_MAX: dialogsMax } = settings;
    const limitOf = (from: string): SourceLimit =>
      sourceLimit(this.#peers.hostAt(from) !== null, { callsMax: registry.callsMax, dialogsMax, portsMax });
    const refusals = new RefusalLog(clock, log);
    const switchboard = new Switchboard({
      services,
      limitOf,
      refusals,
      metrics,
      onAsked: (from) => this.#registrations.asked(from),
    });
    const transports = new Transports({
      settings,
      clock,
      log,
      metrics,
      address,
      ownAddress,
      delegate: switchboard,
      admits: (from) => this.#peers.admits(from),
      credentials: () => this.#accounts.credentials(),
      onLost: (peer) => this.#registrations.connectionClosed(peer),
      rateOf: (from) => limitOf(from).rate,
      refusals,
    });
    this.#open = { address, transports, switchboard, services, refusals };
    return this.#open;
  }

  #services(address: string, mediaAddress: string, ports: RtpPorts): CallServices {
    const { settings, registry, clock, log, metrics } = this.#options;
    const timeoutMs = settings.MEDIA_TIMEOUT_MS;
    const relays = new AddressRanges(settings.RTP_ALLOW);
    const isRelay = (from: string): boolean => relays.has(from);
    const comfortNoise = settings.COMFORT_NOISE === 'auto';
    const openMedia: OpenMedia = () => RtpSession.open({ address, ports, clock, timeoutMs, isRelay, comfortNoise });
    const pauseMaxMs = Math.max(timeoutMs, RECORDING_PAUSE_MAX_MS);
    const openRecordingMedia: OpenMedia = () =>
      RtpSession.open({ address, ports, clock, timeoutMs, pauseMaxMs, isRelay });
    const ownUsers = ['trunkline', ...this.#trunks.map(({ user }) => user)];
    const timers = {
      clock,
      wantedS: settings.SIP_SESSION_EXPIRES_SECONDS,
      onRefresh: ({ by, result }: RefreshEvent) => metrics.sipRefreshes.inc({ by, result }),
    };
    const { SIP_SRTP: srtp, SIP_CODECS: codecs } = settings;
    const transfers = new TransferDialler({
      policy: settings.SIP_TRANSFERS,
      peers: this.#peers,
      trunks: this.#trunks,
      call: (call) => this.#callInstead(call),
    });
    return { registry, openMedia, openRecordingMedia, mediaAddress, codecs, ownUsers, timers, transfers, log, srtp };
  }

  /** Begins what has not begun and whose transport is open: registrations, and OPTIONS where calls go elsewhere. */
  #register({ transports }: Open): void {
    for (const trunk of this.#trunks) {
      const { registrar, server } = trunk;
      const stack = registrar === null ? undefined : transports.of(firstHop(trunk, registrar).transport);
      if (stack !== undefined) this.#registrations.begin(trunk, stack);
      const isOther = registrar === null || hostPort(registrar) !== hostPort(server);
      const asked = isOther ? transports.of(firstHop(trunk, server).transport) : undefined;
      if (asked !== undefined) this.#watches.get(trunk.name)?.ask(asked);
    }
  }

  /**
   * Where a call may go, in the order in which that is tried; never empty.
   * @throws TrunklineError `dialing_unavailable`, `invalid_request`
   */
  #trunksFor(to: string, name: string | null): readonly SipTrunk[] {
    if (this.#trunks.length === 0)
      throw new TrunklineError(
        'dialing_unavailable',
        'no SIP trunk is set: set SIP_PORT, and SIP_TRUNK or SIP_REGISTRAR',
      );
    const named = this.#trunks.filter((each) => each.name === name);
    if (named.length > 0) return named;
    if (name !== null) {
      const names = this.#trunks.map((each) => each.name).join(', ');
      throw new TrunklineError('invalid_request', `got a trunk that is not set, expected one of ${names}`, 'trunk');
    }
    const fitting = trunksFor(to, this.#trunks, (trunk) => this.#watches.get(trunk.name)?.isDown === true);
    if (fitting.length > 0) return fitting;
    throw new TrunklineError(
      'invalid_request',
      'got a number that no trunk takes, expected one that begins with one of their `prefixes` in SIP_TRUNKS',
      'to',
    );
  }

  #watch(trunk: SipTrunk): TrunkWatch {
    const { clock, log, metrics } = this.#options;
    const onChange = (isUp: boolean): void => metrics.sipTrunkUp.set({ trunk: trunk.name }, isUp ? 1 : 0);
    return new TrunkWatch({ trunk, clock, log, onChange });
  }
}

function hostPort({ host, port }: SipServer): string {
  return `${host.toLowerCase()} ${port}`;
}

function usesTls({ registrar, server, proxy }: SipTrunk): boolean {
  return [registrar, server, proxy].some((each) => each?.transport === 'TLS');
}

/** Whom a call of ours comes from: a user of the registrar, or where there is none of this gateway. */
function fromUriOf({ registrar, user }: SipTrunk, from: string | null, stack: SipStack): URI {
  if (registrar !== null) {
    const uri = uriAt(registrar, from ?? user);
    uri.clearParams();
    return uri;
  }
  return ownUri(stack, from);
}

function ownUri(stack: SipStack, user: string | null): URI {
  const own = stack.contact.clone();
  own.clearParams();
  if (user !== null) own.user = user;
  return own;
}
