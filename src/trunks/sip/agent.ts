/** Trunkline as a SIP user agent: takes calls from peers, registers at a registrar, and makes calls. */
import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { URI } from 'sip.js/lib/core/index.js';
import type { CallRegistry } from '../../calls/registry.ts';
import { AddressRanges } from '../../foundation/addresses.ts';
import { type Clock, sleep } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Lead, Leadership } from '../../foundation/leadership.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { hostOf, type SipDestination } from '../../protocols/sip/uris.ts';
import { RtpPorts } from '../rtp/ports.ts';
import { RtpSession } from '../rtp/session.ts';
import { Credentials } from './credentials.ts';
import type { CallDialog } from './dialog.ts';
import type { CallServices, OpenMedia } from './incoming.ts';
import { OutgoingCall } from './outgoing.ts';
import { Peers } from './peers.ts';
import { Registration } from './registration.ts';
import { RequestLimit } from './request-limit.ts';
import type { RefreshEvent } from './session-timer.ts';
import { bracketed, SipStack } from './stack.ts';
import { Switchboard } from './switchboard.ts';
import { openTcp } from './tcp.ts';
import { openUdp } from './udp.ts';

/** How long the shutdown waits for the answers to the last requests (BYE, the end of the registration). */
const FAREWELL_MS = 2000;
const FAREWELL_STEP_MS = 50;
/**
 * Calls of one address that may wait for an ACK, and never more than half of the ports. The answer to each of them is
 * repeated ten times.
 */
const UNACKNOWLEDGED_MAX = 32;

type SipSettings = Pick<
  Settings,
  | 'MEDIA_TIMEOUT_MS'
  | 'RTP_ALLOW'
  | 'RTP_PORTS'
  | 'SIP_ALLOW'
  | 'SIP_CODECS'
  | 'SIP_DIALOGS_MAX'
  | 'SIP_PASSWORD'
  | 'SIP_PUBLIC_ADDRESS'
  | 'SIP_REGISTRAR'
  | 'SIP_SESSION_EXPIRES_SECONDS'
  | 'SIP_TRUNK'
  | 'SIP_USER'
>;

interface SipAgentOptions {
  readonly settings: SipSettings;
  readonly registry: Pick<CallRegistry, 'accept' | 'admit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** One of several gateways registers at a time; left out = this one does. */
  readonly lead?: Lead | null;
}

/** A registrar or trunk. */
interface Server extends SipDestination {
  readonly transport: 'UDP' | 'TCP';
}

/** Everything that is open while the agent listens. */
interface Open {
  readonly stacks: Readonly<Record<'UDP' | 'TCP', SipStack>>;
  readonly switchboard: Switchboard;
  readonly services: CallServices;
}

/** A call to make. */
export interface DialRequest {
  /** A user or telephone number at the trunk. */
  readonly to: string;
  readonly from: string | null;
  /** The app's WebSocket URL; null = the gateway's own. */
  readonly app: string | null;
  readonly parameters: Readonly<Record<string, string>>;
}

export class SipAgent {
  readonly #options: SipAgentOptions;
  readonly #peers: Peers;
  readonly #registrar: Server | null;
  readonly #trunk: Server | null;
  #open: Open | null = null;
  #registration: Registration | null = null;
  #leadership: Leadership | null = null;

  /** The agent does not listen yet. */
  constructor(options: SipAgentOptions) {
    const { settings, clock, log } = options;
    this.#options = options;
    this.#registrar = readServer(settings.SIP_REGISTRAR);
    this.#trunk = readServer(settings.SIP_TRUNK) ?? this.#registrar;
    this.#peers = new Peers({
      allowed: settings.SIP_ALLOW,
      hosts: [this.#registrar, this.#trunk].flatMap((server) => server?.host ?? []),
      clock,
      onUnknown: (host, err) => log.warn({ host, err }, 'a SIP host name could not be resolved'),
    });
  }

  /** Whether we are registered; false where no registrar is set. */
  get registered(): boolean {
    return this.#registration?.registered ?? false;
  }

  /**
   * Listens on UDP and TCP, and registers where SIP_REGISTRAR says. `port` 0 = any free one, the same for both.
   * Returns `host:port`. Rejects with what the system says when it cannot.
   */
  async listen(host: string, port: number): Promise<string> {
    const { settings, metrics } = this.#options;
    const { address } = await lookup(host);
    const ownAddress = settings.SIP_PUBLIC_ADDRESS || reachableAddress(address);
    await this.#peers.open();
    const [first, last] = settings.RTP_PORTS.split('-').map(Number);
    const ports = new RtpPorts({ first: first ?? 0, last: last ?? 0 });
    const services = this.#services(address, ownAddress, ports);
    const unacknowledgedMax = Math.min(UNACKNOWLEDGED_MAX, Math.ceil(ports.free / 2));
    const switchboard = new Switchboard({
      services,
      dialogsMax: settings.SIP_DIALOGS_MAX,
      unacknowledgedMax,
      metrics,
      onAsked: (from) => this.#registration?.asked(from),
    });
    const stacks = await this.#openStacks({ address, port, ownAddress, switchboard });
    this.#open = { stacks, switchboard, services };
    if (this.#registrar !== null) this.#seekToRegister(this.#registrar, stacks);
    return `${bracketed(address)}:${stacks.UDP.port}`;
  }

  /**
   * Makes a call. It rings from now on, and is answered, or ends, later.
   * @throws TrunklineError `dialing_unavailable`, `too_many_calls`, `draining`
   */
  async dial(request: DialRequest): Promise<{ callId: string }> {
    const open = this.#open;
    const trunk = this.#trunk;
    if (open === null || trunk === null) {
      throw new TrunklineError(
        'dialing_unavailable',
        'no SIP trunk is set: set SIP_PORT, and SIP_TRUNK or SIP_REGISTRAR',
      );
    }
    open.services.registry.admit();
    const { SIP_USER } = this.#options.settings;
    const stack = open.stacks[trunk.transport];
    const from = request.from ?? (SIP_USER || null);
    const callId = randomUUID();
    const parameters = request.app === null ? request.parameters : { ...request.parameters, app: request.app };
    let dialog: CallDialog | null = null;
    const call = new OutgoingCall({
      ...open.services,
      request: { callId, to: request.to, from, parameters },
      stack,
      clock: this.#options.clock,
      toUri: uriAt(trunk, request.to),
      fromUri:
        this.#registrar === null
          ? uriOf(stack, from)
          : uriAt({ ...this.#registrar, transport: 'UDP' }, from ?? SIP_USER),
      onDialog: (opened) => {
        dialog = opened;
        open.switchboard.remember(opened);
      },
      onGone: () => open.switchboard.forget(dialog),
    });
    await call.dial();
    return { callId };
  }

  /** Ends the registration, so that no more calls come; another gateway may register. */
  drain(): void {
    this.#registration?.end();
    void this.#leadership?.resign();
  }

  /** Closes everything when the last requests are answered, or after two seconds. The calls are ended by then. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    this.#peers.close();
    if (open === null) return;
    this.#registration?.end();
    open.switchboard.close();
    const stacks = Object.values(open.stacks);
    for (
      let waitedMs = 0;
      waitedMs < FAREWELL_MS && stacks.some((stack) => stack.isWaiting);
      waitedMs += FAREWELL_STEP_MS
    ) {
      await sleep(this.#options.clock, FAREWELL_STEP_MS);
    }
    await Promise.all(stacks.map((stack) => stack.close()));
  }

  #services(address: string, mediaAddress: string, ports: RtpPorts): CallServices {
    const { settings, registry, clock, log, metrics } = this.#options;
    const timeoutMs = settings.MEDIA_TIMEOUT_MS;
    const relays = new AddressRanges(settings.RTP_ALLOW);
    const isRelay = (from: string): boolean => relays.has(from);
    const openMedia: OpenMedia = () => RtpSession.open({ address, ports, clock, timeoutMs, isRelay });
    const ownUsers = ['trunkline', settings.SIP_USER];
    const timers = {
      clock,
      wantedS: settings.SIP_SESSION_EXPIRES_SECONDS,
      onRefresh: ({ by, result }: RefreshEvent) => metrics.sipRefreshes.inc({ by, result }),
    };
    return { registry, openMedia, mediaAddress, codecs: settings.SIP_CODECS, ownUsers, timers, log };
  }

  async #openStacks(options: {
    address: string;
    port: number;
    ownAddress: string;
    switchboard: Switchboard;
  }): Promise<Open['stacks']> {
    const { settings, clock, log, metrics } = this.#options;
    const { address, ownAddress, switchboard } = options;
    const { SIP_USER: user, SIP_PASSWORD: password } = settings;
    const admits = (from: string): boolean => this.#peers.admits(from);
    const requests = new RequestLimit(clock);
    const stacks: { UDP?: SipStack; TCP?: SipStack } = {};
    const udp = await openUdp({
      address,
      port: options.port,
      onMessage: (bytes, source) => stacks.UDP?.receive(bytes, source),
    });
    const tcp = await openTcp({
      address,
      port: udp.port,
      clock,
      admits,
      onMessage: (bytes, source) => stacks.TCP?.receive(bytes, source),
      onRefused: () => metrics.sipDropped.inc({ reason: 'address' }),
      onBroken: (text, source, fault) => stacks.TCP?.receiveBroken(text, source, fault),
      onLost: (peer) => this.#registration?.connectionClosed(peer),
    }).catch(async (error: unknown) => {
      await udp.close();
      throw error;
    });
    const stackOptions = {
      host: ownAddress,
      clock,
      log,
      admits,
      delegate: switchboard,
      mayAsk: (from: string, bytes: number) => requests.take(from, bytes),
      mayAskWithin: (callId: string, bytes: number) => requests.takeWithin(callId, bytes),
      onDropped: (reason: string) => metrics.sipDropped.inc({ reason }),
      onRefused: (status: number) => metrics.sipRefused.inc({ status: String(status) }),
      credentials: (withinCalls: boolean) =>
        user === '' ? undefined : new Credentials({ user, password, withinCalls }),
    };
    stacks.UDP = new SipStack(udp, stackOptions);
    stacks.TCP = new SipStack(tcp, stackOptions);
    return { UDP: stacks.UDP, TCP: stacks.TCP };
  }

  #seekToRegister(registrar: Server, stacks: Open['stacks']): void {
    const { lead = null, settings } = this.#options;
    const begin = (): void => {
      this.#registration = this.#register(registrar, stacks);
      this.#registration.start();
    };
    if (lead === null) {
      begin();
      return;
    }
    this.#leadership = lead(`sip ${settings.SIP_USER} ${settings.SIP_REGISTRAR}`, {
      onLead: begin,
      onLost: () => this.#registration?.end(),
    });
  }

  #register(registrar: Server, stacks: Open['stacks']): Registration {
    const { settings, clock, log, metrics } = this.#options;
    return new Registration({
      clock,
      log,
      user: settings.SIP_USER,
      stack: stacks[registrar.transport],
      registrar: uriAt(registrar, null),
      onChange: (registered) => {
        metrics.sipRegistered.set(registered ? 1 : 0);
        if (registered) metrics.waysIn.worked('sip_registration', clock.wall());
      },
      onFailure: (reason) => {
        metrics.sipRegistrationFailures.inc({ reason });
        metrics.waysIn.failed('sip_registration', reason, clock.wall());
        // The registrar may have a new address, whose answers would be dropped.
        void this.#peers.open();
      },
    });
  }
}

/** `sip:host[:port][;transport=tcp]`; null when empty. */
function readServer(text: string): Server | null {
  const host = hostOf(text);
  return host === null ? null : { ...host, transport: /;transport=tcp$/i.test(text) ? 'TCP' : 'UDP' };
}

function uriAt({ host, port, transport }: Server, user: string | null): URI {
  const parameters = transport === 'TCP' ? { transport: 'tcp' } : {};
  return new URI('sip', user ?? '', bracketed(host), port === 5060 ? undefined : port, parameters);
}

function uriOf(stack: SipStack, user: string | null): URI {
  const own = stack.contact.clone();
  own.clearParams();
  if (user !== null) own.user = user;
  return own;
}

/** Where peers reach a socket that listens on all addresses: the machine's first one beyond loopback. */
function reachableAddress(address: string): string {
  if (address !== '0.0.0.0' && address !== '::') return address;
  const family = address === '::' ? 'IPv6' : 'IPv4';
  const known = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outer = known.find((each) => !each.internal && each.family === family) ?? known.find((each) => !each.internal);
  return outer?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1');
}
