/** The sockets of SIP, with a stack on each. */
import type { DigestAuthentication } from 'sip.js/lib/core/index.js';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Rate } from '../../foundation/token-buckets.ts';
import type { RefusalLog } from './refusal-log.ts';
import { RequestLimit } from './request-limit.ts';
import { SipStack, type StackDelegate } from './stack.ts';
import { openTcp } from './tcp.ts';
import { openTls } from './tls.ts';
import { TlsFiles } from './tls-files.ts';
import { openUdp, type SipSocket } from './udp.ts';
import type { SipDestination } from './wire/uris.ts';
import type { SipTransport } from './wire/via.ts';

/** The settings of the sockets. */
export type TransportSettings = Pick<
  Settings,
  'SIP_TLS_CA' | 'SIP_TLS_CERT' | 'SIP_TLS_CLIENTS' | 'SIP_TLS_KEY' | 'SIP_TRANSFERS'
>;

interface TransportOptions {
  readonly settings: TransportSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'sipDropped' | 'sipRefused'>;
  /** The address to listen on, and the one at which peers reach it. */
  readonly address: string;
  readonly ownAddress: string;
  readonly delegate: StackDelegate;
  admits(address: string): boolean;
  credentials(): DigestAuthentication | undefined;
  /** A connection that we had opened was closed, but not by us. */
  onLost(peer: SipDestination): void;
  /** What an address may send. */
  rateOf(address: string): Rate;
  readonly refusals: RefusalLog;
}

/** Opens what is asked for, one after the other. */
export class Transports {
  readonly #options: TransportOptions;
  readonly #requests: RequestLimit;
  readonly #stacks = new Map<SipTransport, SipStack>();
  #files: TlsFiles | null = null;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#requests = new RequestLimit(options.clock, (address) => options.rateOf(address));
  }

  get stacks(): readonly SipStack[] {
    return [...this.#stacks.values()];
  }

  /** The stack of a transport; undefined = it is not open. */
  of(transport: SipTransport): SipStack | undefined {
    return this.#stacks.get(transport);
  }

  /** UDP and TCP on the same port; 0 = any free one. Returns the port. Rejects when they cannot be opened. */
  async openPlain(port: number): Promise<number> {
    const { address } = this.#options;
    const udp = await openUdp({
      address,
      port,
      onMessage: (bytes, source) => this.of('UDP')?.receive(bytes, source),
    });
    const tcp = await openTcp({ ...this.#connectionOptions('TCP'), address, port: udp.port }).catch(
      async (error: unknown) => {
        await udp.close();
        throw error;
      },
    );
    this.#add(udp);
    this.#add(tcp);
    return udp.port;
  }

  /**
   * TLS; `port` null = only for connections that we open. Returns the port. Rejects when it cannot be opened.
   * @throws ConfigError when a file of its settings cannot be used
   */
  async openTls(port: number | null): Promise<number> {
    const { settings, address, clock, log } = this.#options;
    const files = await TlsFiles.open(settings, { clock, log });
    this.#files = files;
    const verifiesPeers = settings.SIP_TLS_CLIENTS === 'verified';
    const tls = await openTls({ ...this.#connectionOptions('TLS'), address, port, files, verifiesPeers, log });
    this.#add(tls);
    return tls.port;
  }

  /** Closes all of them. */
  async close(): Promise<void> {
    this.#files?.close();
    await Promise.all(this.stacks.map((stack) => stack.close()));
  }

  #connectionOptions(protocol: 'TCP' | 'TLS') {
    const { clock, admits, metrics, onLost, refusals } = this.#options;
    return {
      clock,
      admits,
      onLost,
      onMessage: (...args: Parameters<SipStack['receive']>) => this.of(protocol)?.receive(...args),
      onRefused: (address: string) => {
        metrics.sipDropped.inc({ reason: 'address' });
        if (!admits(address)) refusals.dropped('address', address);
      },
      onBroken: (...args: Parameters<SipStack['receiveBroken']>) => this.of(protocol)?.receiveBroken(...args),
    };
  }

  #add(socket: SipSocket): void {
    const { settings, ownAddress, clock, log, admits, delegate, metrics, credentials, refusals } = this.#options;
    const stack = new SipStack(socket, {
      host: ownAddress,
      clock,
      log,
      admits,
      delegate,
      takesRefer: settings.SIP_TRANSFERS !== 'off',
      mayAsk: (from, bytes) => this.#requests.take(from, bytes),
      mayAskWithin: (callId, bytes) => this.#requests.takeWithin(callId, bytes),
      onDropped: (reason, from) => {
        metrics.sipDropped.inc({ reason });
        if (from !== null && (reason === 'address' || reason === 'rate')) refusals.dropped(reason, from);
      },
      onRefused: (statusCode, invite) => {
        metrics.sipRefused.inc({ status: String(statusCode) });
        if (invite !== null) refusals.refused({ ...invite, statusCode });
      },
      credentials,
    });
    this.#stacks.set(socket.protocol, stack);
  }
}
