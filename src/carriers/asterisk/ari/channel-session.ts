/**
 * One Asterisk channel that we listen to or talk with, and everything made in Asterisk for it: the channels that bring
 * its audio to us (externalMedia), for agent assist two channels that listen to it (snoop), and the bridges that join
 * them. Their names begin with the session's name, so a later process recognises them. All of them are removed when the
 * session ends.
 */

import { WebSocket } from 'ws';
import { readCallParameters } from '../../../calls/call-parameters.ts';
import type { LegEnd, LegHandlers, TransferOutcome, TransferRequest } from '../../../calls/leg.ts';
import type { CallRegistry } from '../../../calls/registry.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { asTrunklineError, TrunklineError } from '../../../foundation/errors.ts';
import type { Log } from '../../../foundation/log/log.ts';
import { nextTurn } from '../../../foundation/next-turn.ts';
import type { Settings } from '../../../foundation/settings/settings.ts';
import { settlesWithin } from '../../../foundation/settles-within.ts';
import type { CallStart, CarrierEvent, Track } from '../../../protocols/dialect.ts';
import { isObject } from '../../../protocols/json.ts';
import { type LegSettings, legLimits } from '../../shared/leg-limits.ts';
import { openWebSocketLeg } from '../../shared/websocket/trunk.ts';
import { type AriChannel, type PartyEvent, readPeers, type StasisRequest } from '../wire/ari.ts';
import { AsteriskDialect } from '../wire/chan-websocket.ts';
import { ConnectedParty } from '../wire/connected-party.ts';
import { type Ari, AriError, isGone } from './ari.ts';
import { ChannelLeg, type Wire } from './channel-leg.ts';
import { transferChannel } from './channel-transfer.ts';

/** Linear PCM at the rate of the recogniser; Asterisk converts. */
const FORMAT = 'slin16';
/** How long the caller waits, in silence, until everything is joined. */
const SETUP_MAX_MS = 10_000;
/** How long the end waits for requests that are under way, so that what they made is removed. */
const SETTLE_MS = 6000;
const HANDSHAKE_TIMEOUT_MS = 5000;
/** News of who is connected that one call tells: whoever is sent on in circles would fill the records. */
const PARTY_NEWS_MAX = 256;
const RENEWALS_MAX = 256;
/** How long one that is removed may be there. */
const GONE_MAX_MS = 1000;
const CONNECTION_ID = /^[\w-]{1,64}$/;

/** The settings of a session. */
export type ChannelSettings = LegSettings & Pick<Settings, 'ARI_APP' | 'ASTERISK_FILL_SILENCE' | 'MESSAGE_MAX_BYTES'>;

interface ChannelSessionOptions extends StasisRequest {
  /** Begins the name of everything that it makes in Asterisk. */
  readonly name: string;
  readonly channel: AriChannel;
  /** Whether the channel waits in our application and must be sent on in the dialplan. */
  readonly waits: boolean;
  readonly ari: Ari;
  readonly mediaUrl: string;
  readonly settings: ChannelSettings;
  readonly registry: Pick<CallRegistry, 'accept'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Everything is joined and audio comes. */
  onJoined(): void;
  /** All is removed; `error` = why it could not go on, null where the call just ended. */
  onOver(error: TrunklineError | null): void;
}

/** What brings one track: a channel to us, and for agent assist one that listens. */
interface Pair {
  readonly track: Track;
  readonly bridge: string;
  readonly media: string;
  snoop: string | null;
  joined: boolean;
}

export class ChannelSession {
  readonly channel: AriChannel;
  readonly #options: ChannelSessionOptions;
  readonly #pairs: readonly Pair[];
  /** Ours that are in our application by now. */
  readonly #entered = new Set<string>();
  readonly #opening: Promise<void>;
  readonly #timer: Timer;
  readonly #party: ConnectedParty;
  #partyNews = 0;
  /** The latest of it, from before there is a leg that could tell it. */
  #early: CarrierEvent | null = null;
  /** Whom it was connected to last; empty = to nobody yet. */
  #peers = '';
  #renewals = 0;
  #renewing: Promise<void> = Promise.resolve();
  /** Channels that listened and are being removed: who waits for that. */
  readonly #leaving = new Map<string, () => void>();
  #leg: ChannelLeg | null = null;
  #waits: boolean;
  /** Whether the channel is connected to another one; null = not known yet. */
  #isBridged: boolean | null = null;
  /** Since when, by the clock, whoever is on the channel holds it; null = it is not held. */
  #heldSinceMs: number | null = null;
  #ending: Promise<void> | null = null;
  /** While the channel is being given to somebody else: says what became of that. */
  #settleTransfer: ((outcome: TransferOutcome) => void) | null = null;

  /** Opens the session at once. */
  constructor(options: ChannelSessionOptions) {
    this.channel = options.channel;
    this.#options = options;
    this.#waits = options.waits;
    const { names, agent, queue } = readCallParameters(options);
    const given = { agent, queue, name: names.outbound };
    this.#party = new ConnectedParty(this.channel, given, {
      ...given,
      name: names.outbound ?? this.channel.connectedName,
    });
    const tracks: readonly Track[] = options.mode === 'assist' ? ['inbound', 'outbound'] : ['inbound'];
    this.#pairs = tracks.map((track) => this.#nameOf(track));
    this.#timer = options.clock.after(SETUP_MAX_MS, () => {
      void this.end(new AriError(null, `Asterisk did not join the channels within ${SETUP_MAX_MS} ms`));
    });
    this.#opening = this.#open();
    this.#opening.catch((error: unknown) => this.#fail(error));
  }

  /** A channel of ours has come into the application. */
  onEntered(channelId: string): void {
    this.#entered.add(channelId);
    const renewed = this.#pairs.find(({ snoop, joined }) => joined && snoop === channelId);
    const joining = renewed === undefined ? this.#join() : this.#rejoin(renewed.bridge, channelId);
    joining.catch((error: unknown) => this.#fail(error));
  }

  /** The channel that it is about, or one of ours, is no more. */
  onDestroyed(channelId: string): void {
    if (channelId !== this.channel.id) {
      const isOurs = this.#pairs.some(({ media, snoop }) => channelId === media || channelId === snoop);
      if (isOurs) void this.end(null);
      else this.#leaving.get(channelId)?.();
      return;
    }
    this.#waits = false;
    this.#endOnceTold();
  }

  /** In agent assist: who the channel is connected to, or that it waits and hears prompts. */
  onParty(event: PartyEvent): void {
    if (this.#options.mode !== 'assist') return;
    this.#tellParty(event);
    if (event.type !== 'bridged') return;
    this.#isBridged = event.peers.length > 0;
    this.#tellState();
    this.#notePeers(this.#party.conference ?? event.peers.join());
  }

  /**
   * Where one channel is listened to in both directions, Asterisk may give nothing more of what it hears once it is in
   * another bridge (seen with a 22.10.1; https://github.com/asterisk/asterisk/issues/507): until nobody listens to it,
   * and somebody does again.
   */
  #notePeers(peers: string): void {
    if (peers === '' || peers === this.#peers) return;
    const isFirst = this.#peers === '';
    this.#peers = peers;
    if (isFirst || ++this.#renewals > RENEWALS_MAX) return;
    this.#renewing = this.#renewing
      .then(() => this.#renewSnoops())
      .catch((error: unknown) => {
        // The channel was hung up meanwhile: that is told by itself.
        if (!isGone(error)) this.#fail(error);
      });
  }

  async #renewSnoops(): Promise<void> {
    const { ari, clock } = this.#options;
    if (this.#ending !== null || !this.#pairs.every(({ joined }) => joined)) return;
    const before = this.#pairs.map(({ snoop }) => snoop).filter((snoop) => snoop !== null);
    for (const pair of this.#pairs) pair.snoop = `${this.#options.name}-${pair.track}-snoop-${this.#renewals}`;
    // Asterisk answers before they are gone.
    const gone = Promise.all(before.map((snoop) => new Promise<void>((resolve) => this.#leaving.set(snoop, resolve))));
    await Promise.all(before.map((snoop) => ari.remove(`/channels/${snoop}`)));
    await settlesWithin(clock, gone, GONE_MAX_MS);
    this.#leaving.clear();
    if (this.#ending !== null) return;
    await Promise.all(this.#pairs.map(({ track, snoop }) => this.#snoop(track, snoop ?? '')));
  }

  #snoop(track: Track, name: string): Promise<unknown> {
    const { ari, settings, channel } = this.#options;
    const spy = track === 'inbound' ? 'in' : 'out';
    return ari.post(`/channels/${encodeURIComponent(channel.id)}/snoop/${name}`, { app: settings.ARI_APP, spy });
  }

  async #rejoin(bridge: string, snoop: string): Promise<void> {
    if (this.#ending === null) await this.#options.ari.post(`/bridges/${bridge}/addChannel`, { channel: snoop });
  }

  #tellParty(event: PartyEvent): void {
    for (const news of this.#party.observe(event)) {
      if (this.#partyNews++ >= PARTY_NEWS_MAX) return;
      if (this.#leg === null) this.#early = news;
      else this.#leg.tellParty(news);
    }
  }

  /** Whoever is on the channel holds the other side, or no longer. */
  onHeld(isHeld: boolean): void {
    if (!isHeld) this.#heldSinceMs = null;
    else this.#heldSinceMs ??= this.#options.clock.nowMs();
    this.#tellState();
  }

  /** The channel that it is about has left the application: in agent assist we sent it on ourselves. */
  onLeft(): void {
    const sentOn = this.#options.mode === 'assist' && !this.#waits;
    this.#waits = false;
    if (!sentOn && this.#options.waits) this.#endOnceTold();
  }

  /** Whoever waits for a transfer is told of it first: the call is to end as one that was given to somebody else. */
  #endOnceTold(): void {
    const settle = this.#settleTransfer;
    if (settle === null) {
      void this.end(null);
      return;
    }
    settle('transferred');
    void nextTurn().then(() => this.end(null));
  }

  /** Gives the channel to somebody else; one at a time. */
  async #transfer(request: TransferRequest): Promise<TransferOutcome> {
    if (!this.#waits || this.#ending !== null || this.#settleTransfer !== null) return 'unsupported';
    const { ari, clock, log } = this.#options;
    const settled = new Promise<TransferOutcome>((resolve) => {
      this.#settleTransfer = resolve;
    });
    let timer: Timer | null = null;
    try {
      // Asterisk may tell that the channel has left before it answers the request that it should.
      const result = await Promise.race([transferChannel(ari, this.channel.id, request), settled]);
      if (result === 'transferred') this.#waits = false;
      if (result !== 'asked') return result;
      timer = clock.after(request.timeoutMs, () => this.#settleTransfer?.('unanswered'));
      return await settled;
    } catch (err) {
      log.warn({ err }, 'an Asterisk channel could not be given to somebody else');
      return 'refused';
    } finally {
      timer?.cancel();
      this.#settleTransfer = null;
    }
  }

  /**
   * Ends it: the channel goes on in the dialplan, all of ours is removed. Resolves when that is done, and never
   * rejects.
   */
  end(error: TrunklineError | null): Promise<void> {
    this.#ending ??= this.#end(error);
    return this.#ending;
  }

  #nameOf(track: Track): Pair {
    const name = `${this.#options.name}-${track}`;
    const snoop = this.#options.mode === 'assist' ? `${name}-snoop` : null;
    return { track, bridge: `${name}-bridge`, media: `${name}-media`, snoop, joined: false };
  }

  async #open(): Promise<void> {
    const { ari, mode, settings, channel } = this.#options;
    if (mode === 'assist')
      await ari.post(`/applications/${settings.ARI_APP}/subscription`, { eventSource: `channel:${channel.id}` });
    else if (channel.state !== 'Up') await ari.post(`/channels/${encodeURIComponent(channel.id)}/answer`);
    const wires = await Promise.all(this.#pairs.map((pair) => this.#openPair(pair)));
    if (this.#ending !== null) return;
    const { registry } = this.#options;
    registry.accept({
      carrier: 'asterisk',
      tokenRequired: false,
      trusted: true,
      connect: (handlers) => this.#connect(wires, handlers),
    });
  }

  /** Nobody talks into the channels of agent assist and captions, so nothing of ours could be heard there. */
  async #openPair({ track, bridge, media, snoop }: Pair): Promise<Wire> {
    const { ari, settings, mode } = this.#options;
    const app = settings.ARI_APP;
    const mediaRequest = {
      app,
      channelId: media,
      transport: 'websocket',
      encapsulation: 'none',
      connection_type: 'server',
      external_host: 'INCOMING',
      format: FORMAT,
      transport_data: 'f(json)',
      ...(mode === 'talk' ? {} : { direction: 'in' }),
    };
    const requests = [
      ari.post('/channels/externalMedia', mediaRequest),
      ari.post(`/bridges/${bridge}`, { type: 'mixing', name: bridge }),
      ...(snoop === null ? [] : [this.#snoop(track, snoop)]),
    ];
    // All of them are waited for, so that whatever was made can be removed.
    await Promise.allSettled(requests);
    const [made] = await Promise.all(requests);
    const url = `${this.#options.mediaUrl}/${connectionIdOf(made)}`;
    return { track, connect: this.#wireTo(url) };
  }

  #wireTo(url: string): Wire['connect'] {
    const { settings, clock, mode } = this.#options;
    const fillSilence = mode === 'talk' && settings.ASTERISK_FILL_SILENCE;
    return (handlers) => {
      const socket = new WebSocket(url, 'media', {
        perMessageDeflate: false,
        maxPayload: settings.MESSAGE_MAX_BYTES,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      });
      return openWebSocketLeg({
        socket,
        dialect: new AsteriskDialect(),
        limits: legLimits(settings),
        clock,
        handlers,
        fillSilence,
        heldSinceMs: () => this.#heldSinceMs,
      });
    };
  }

  #connect(wires: readonly Wire[], handlers: LegHandlers): ChannelLeg {
    const { channel, parameters, mode, name } = this.#options;
    const { from = channel.from, to = channel.to, ...given } = parameters;
    const rest = mode === 'assist' ? withAgentName(given, channel.connectedName) : given;
    this.#leg = new ChannelLeg({
      wires,
      identity: {
        callId: channel.id,
        streamId: name,
        from: from || null,
        to: to || null,
        parameters: rest,
        ...(channel.callerName === null ? {} : { details: { callerName: channel.callerName } }),
      },
      playback: mode === 'talk' ? 'buffered' : 'none',
      transfer: (request) => this.#transfer(request),
      handlers: {
        onEvent: (event) => handlers.onEvent(event),
        onClosed: (end) => {
          handlers.onClosed(end);
          void this.end(this.#failureOf(end));
        },
      },
    });
    if (this.#early !== null) this.#leg.tellParty(this.#early);
    return this.#leg;
  }

  /** Why the session could not go on; null where its audio simply ended. */
  #failureOf({ code, error }: LegEnd): TrunklineError | null {
    if (code !== null) return new TrunklineError(code, error?.message ?? code);
    if (this.#pairs.every(({ joined }) => joined)) return null;
    return new AriError(
      null,
      `no audio came from ${this.#options.mediaUrl}: ${error?.message ?? 'Asterisk closed the connection'}`,
    );
  }

  /** Joins each pair whose channels have all entered the application. */
  async #join(): Promise<void> {
    const ready = this.#pairs.filter(
      ({ joined, media, snoop }) => !joined && this.#has(media) && (snoop === null || this.#has(snoop)),
    );
    if (ready.length === 0 || this.#ending !== null) return;
    for (const pair of ready) pair.joined = true;
    const { ari, channel, mode, onJoined } = this.#options;
    await Promise.all(
      ready.map(({ bridge, media, snoop }) =>
        ari.post(`/bridges/${bridge}/addChannel`, { channel: `${snoop ?? channel.id},${media}` }),
      ),
    );
    if (!this.#pairs.every(({ joined }) => joined) || this.#ending !== null) return;
    this.#timer.cancel();
    if (mode === 'assist') {
      await this.#lookUpPeer();
      await this.#sendOn('ok');
    }
    onJoined();
  }

  /** One that waits in our application is connected to nobody; of others Asterisk says it, unless events were first. */
  async #lookUpPeer(): Promise<void> {
    const { channel } = this;
    const peers = this.#waits ? [] : await bridgePeersOf(this.#options.ari, channel.id);
    if (this.#isBridged === null) this.onParty({ type: 'bridged', channel, peers });
    else this.#tellState();
  }

  #tellState(): void {
    if (this.#heldSinceMs !== null) this.#leg?.tellState('held');
    else this.#leg?.tellState(this.#isBridged === false ? 'queued' : 'live');
  }

  #has(channelId: string): boolean {
    return this.#entered.has(channelId);
  }

  #fail(error: unknown): void {
    const coded = asTrunklineError(error, String(error));
    void this.end(coded);
  }

  async #end(error: TrunklineError | null): Promise<void> {
    const { clock, ari, log, onOver } = this.#options;
    this.#timer.cancel();
    this.#settleTransfer?.('refused');
    this.#leg?.close(1000, 'the channel ended');
    await this.#sendOn(error === null ? 'ended' : error.code).catch((err: unknown) =>
      log.warn({ err }, 'a channel could not be continued in the dialplan'),
    );
    await settlesWithin(clock, Promise.all([this.#opening, this.#renewing]), SETTLE_MS);
    this.#leg?.close(1000, 'the channel ended');
    const channels = this.#pairs.flatMap(({ media, snoop }) => [media, ...(snoop === null ? [] : [snoop])]);
    const paths = [
      ...channels.map((id) => `/channels/${id}`),
      ...this.#pairs.map(({ bridge }) => `/bridges/${bridge}`),
    ];
    const removed = await Promise.allSettled(paths.map((path) => ari.remove(path)));
    const left = removed.filter(({ status }) => status === 'rejected').length;
    if (left > 0)
      log.warn({ left }, 'channels or bridges could not be removed from Asterisk; the next connection removes them');
    onOver(error);
  }

  /** The channel goes on behind `Stasis()`; the dialplan finds in TRUNKLINE_STATUS how it went. */
  async #sendOn(status: string): Promise<void> {
    if (!this.#waits) return;
    this.#waits = false;
    await sendOn(this.#options.ari, this.channel.id, status);
  }
}

/**
 * Sends a channel that waits in our application on in the dialplan; false where it does not wait there.
 * @throws AriError
 */
export async function sendOn(ari: Ari, channelId: string, status: string): Promise<boolean> {
  const channel = `/channels/${encodeURIComponent(channelId)}`;
  try {
    await ari.post(`${channel}/variable`, { variable: 'TRUNKLINE_STATUS', value: status });
    await ari.post(`${channel}/continue`);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

async function bridgePeersOf(ari: Ari, channelId: string): Promise<string[]> {
  try {
    const found = await ari.get(`/channels/${encodeURIComponent(channelId)}/variable`, { variable: 'BRIDGEPEER' });
    return readPeers(isObject(found) && typeof found['value'] === 'string' ? found['value'] : '');
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** The other side of the channel has the name that Asterisk knows, unless the parameters say another. */
function withAgentName(parameters: CallStart['parameters'], connectedName: string | null): CallStart['parameters'] {
  const isNamed = Object.keys(parameters).some((name) => name.toLowerCase() === 'agentname');
  return connectedName === null || isNamed ? parameters : { ...parameters, agentName: connectedName };
}

/** Where Asterisk waits for us, from its answer about the channel that it made. */
function connectionIdOf(made: unknown): string {
  const variables = isObject(made) ? made['channelvars'] : undefined;
  const id = isObject(variables) ? variables['MEDIA_WEBSOCKET_CONNECTION_ID'] : undefined;
  if (typeof id === 'string' && CONNECTION_ID.test(id)) return id;
  throw new AriError(null, 'Asterisk made a channel without MEDIA_WEBSOCKET_CONNECTION_ID: is chan_websocket loaded?');
}
