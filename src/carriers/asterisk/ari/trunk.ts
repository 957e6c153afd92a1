/**
 * Calls of an Asterisk by its REST interface (ARI): a channel enters our application (`Stasis(trunkline,talk)`,
 * `captions` or `assist`), or a request asks us to listen to a channel. On each connection, channels and bridges that
 * an earlier process left behind are removed.
 */
import { randomBytes } from 'node:crypto';
import type { CallRegistry } from '../../../calls/registry.ts';
import type { Clock } from '../../../foundation/clock.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import type { Lead, Leadership } from '../../../foundation/leadership.ts';
import type { Log } from '../../../foundation/log/log.ts';
import type { Metrics } from '../../../foundation/metrics.ts';
import type { Settings } from '../../../foundation/settings/settings.ts';
import { isObject } from '../../../protocols/json.ts';
import {
  type AriChannel,
  type AriEvent,
  readAriChannel,
  readIds,
  readStasisRequest,
  type StasisRequest,
} from '../wire/ari.ts';
import { Ari } from './ari.ts';
import { AriEvents } from './ari-events.ts';
import { ChannelSession, type ChannelSettings, sendOn } from './channel-session.ts';
import { Outage } from './outage.ts';

type TrunkSettings = ChannelSettings & Pick<Settings, 'ARI_URL' | 'ARI_USER' | 'ARI_PASSWORD' | 'ASTERISK_MEDIA_URL'>;

interface TrunkOptions {
  readonly settings: TrunkSettings;
  readonly registry: Pick<CallRegistry, 'admit' | 'accept' | 'callsMax'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'ariConnected' | 'refused' | 'waysIn'>;
  /** One of several gateways has the application of ARI_APP at a time; left out = this one has. */
  readonly lead?: Lead | null;
}

/** One Asterisk. */
export class AsteriskTrunk {
  readonly #options: TrunkOptions;
  readonly #ari: Ari;
  readonly #log: Log;
  /** Begins the name of everything that this gateway makes in Asterisk. */
  readonly #ownPrefix: string;
  readonly #mediaUrl: string;
  /** By the id of the channel that they are about, and by the name of what they made. */
  readonly #sessions = new Map<string, ChannelSession>();
  readonly #named = new Map<string, ChannelSession>();
  readonly #outage: Outage;
  #events: AriEvents | null = null;
  #leadership: Leadership | null = null;

  constructor(options: TrunkOptions) {
    const { settings, clock, log } = options;
    this.#options = options;
    this.#log = log.child({ trunk: 'asterisk' });
    this.#ari = new Ari(settings, clock);
    this.#outage = new Outage(clock);
    this.#ownPrefix = `trunkline-${settings.ARI_APP}-`;
    this.#mediaUrl = settings.ASTERISK_MEDIA_URL || mediaUrlBeside(settings.ARI_URL);
  }

  /** Connects as soon as no other gateway has the application, and whenever the connection is lost. */
  open(): void {
    const { settings, lead = null, metrics } = this.#options;
    metrics.ariConnected.set(0);
    if (lead === null) this.#connect();
    else
      this.#leadership = lead(`ari ${settings.ARI_APP} ${settings.ARI_URL}`, {
        onLead: () => this.#connect(),
        onLost: () => void this.#endAll(),
      });
  }

  #connect(): void {
    const { settings, clock } = this.#options;
    const query = new URLSearchParams({ app: settings.ARI_APP, subscribeAll: 'false' });
    this.#events = new AriEvents({
      url: `${settings.ARI_URL.replace(/^http/, 'ws')}/events?${query}`,
      authorization: this.#ari.authorization,
      clock,
      onUp: () => this.#onUp(),
      onDown: (reason) => this.#onDown(reason),
      onEvent: (event) => this.#onEvent(event),
      onMalformed: (error) => this.#log.warn({ err: error }, 'an Asterisk event cannot be read'),
    });
  }

  /**
   * Listens to both directions of a channel, by its id or name, until it is hung up; the channel notices nothing.
   * `parameters` = those of the call, such as the names of the speakers.
   * Resolves with its id when all is joined.
   * @throws TrunklineError `call_not_found`, `invalid_request`, `asterisk_unavailable`, and whatever a call is refused
   * with
   */
  async assist(name: string, parameters: StasisRequest['parameters'] = {}): Promise<{ callId: string }> {
    this.#options.registry.admit();
    if (this.#leadership?.isLeading === false)
      throw new TrunklineError('asterisk_unavailable', 'another server has the application of ARI_APP: ask that one');
    const channel = await this.#channelNamed(name);
    if (this.#sessions.has(channel.id))
      throw new TrunklineError('invalid_request', 'channel: Trunkline listens to it already');
    await new Promise<void>((resolve, reject) => {
      const over = (error: TrunklineError | null) =>
        reject(error ?? new TrunklineError('call_not_found', 'the channel was hung up meanwhile'));
      this.#begin(channel, { mode: 'assist', parameters }, { waits: false, onJoined: resolve, onOver: over });
    });
    return { callId: channel.id };
  }

  /** Ends every session, removes what it made and disconnects. Then another gateway may have the application. */
  async close(): Promise<void> {
    await this.#endAll();
    await this.#leadership?.resign();
  }

  async #endAll(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.end(null)));
    this.#events?.close();
    this.#options.metrics.ariConnected.set(0);
  }

  /** Looked for in the list: Asterisk takes a name with a `/` in it for two parts of a path. */
  async #channelNamed(name: string): Promise<AriChannel> {
    const channels = await this.#ari.get('/channels');
    const found = (Array.isArray(channels) ? channels : []).find(
      (channel) => isObject(channel) && (channel['id'] === name || channel['name'] === name),
    );
    if (found === undefined) throw new TrunklineError('call_not_found', 'Asterisk has no channel of that id or name');
    return readAriChannel(found);
  }

  #onUp(): void {
    const { attempts, lastedMs } = this.#outage.over() ?? {};
    this.#options.metrics.ariConnected.set(1);
    this.#options.metrics.waysIn.worked('ari', this.#options.clock.wall());
    this.#log.info({ app: this.#options.settings.ARI_APP, attempts, lastedMs }, 'connected to the events of Asterisk');
    this.#tidy().catch((err: unknown) =>
      this.#log.warn({ err }, 'left-over channels and bridges could not be removed from Asterisk'),
    );
  }

  /** Logs not every attempt. */
  #onDown(reason: string): void {
    this.#options.metrics.ariConnected.set(0);
    this.#options.metrics.waysIn.failed('ari', reason, this.#options.clock.wall());
    const what = this.#outage.failed(reason);
    if (what === 'new') this.#log.warn({ reason }, 'the events of Asterisk cannot be reached; connecting again');
    if (what === 'reminder')
      this.#log.warn(this.#outage.summary, 'the events of Asterisk still cannot be reached; connecting again');
    if (what === 'known') this.#log.debug({ reason }, 'another connection attempt failed');
  }

  #onEvent(event: AriEvent): void {
    switch (event.type) {
      case 'entered':
        this.#onEntered(event);
        return;
      case 'left':
        this.#sessions.get(event.channelId)?.onLeft();
        return;
      case 'destroyed':
        (this.#sessions.get(event.channelId) ?? this.#ownerOf(event.channelId))?.onDestroyed(event.channelId);
        return;
      case 'bridged':
      case 'connected':
      case 'application':
      case 'sent-on':
      case 'named':
        this.#sessions.get(event.channel.id)?.onParty(event);
        return;
      case 'held':
        this.#sessions.get(event.channelId)?.onHeld(event.isHeld);
        return;
      case 'replaced':
        this.#events?.close();
        this.#options.metrics.ariConnected.set(0);
        this.#log.error(
          'another program has taken over the application of ARI_APP in Asterisk: no more calls come from there',
        );
        return;
      case 'ignored':
        return;
    }
  }

  #onEntered({ channel, args }: Extract<AriEvent, { type: 'entered' }>): void {
    if (channel.id.startsWith(this.#ownPrefix)) {
      this.#ownerOf(channel.id)?.onEntered(channel.id);
      return;
    }
    try {
      this.#options.registry.admit();
      this.#begin(channel, readStasisRequest(args), {
        waits: true,
        onJoined: () => undefined,
        onOver: () => undefined,
      });
    } catch (error) {
      this.#refuse(channel.id, error);
    }
  }

  #begin(channel: AriChannel, request: StasisRequest, watch: Watch): void {
    const { settings, registry, clock } = this.#options;
    const name = `${this.#ownPrefix}${randomBytes(8).toString('hex')}`;
    if (this.#sessions.size >= registry.callsMax) {
      throw new TrunklineError(
        'too_many_calls',
        `${this.#sessions.size} channels are handled, expected at most MAX_CALLS`,
      );
    }
    const log = this.#log.child({ callId: channel.id, mode: request.mode });
    const session = new ChannelSession({
      ...request,
      name,
      channel,
      ari: this.#ari,
      mediaUrl: this.#mediaUrl,
      settings,
      registry,
      clock,
      log,
      waits: watch.waits,
      onJoined: watch.onJoined,
      onOver: (error) => {
        this.#sessions.delete(channel.id);
        this.#named.delete(name);
        if (error !== null)
          log.warn({ code: error.code, reason: error.message }, 'an Asterisk channel could not be served');
        watch.onOver(error);
      },
    });
    this.#sessions.set(channel.id, session);
    this.#named.set(name, session);
  }

  /** The channel goes on in the dialplan, so that the caller does not wait. */
  #refuse(channelId: string, error: unknown): void {
    const code = error instanceof TrunklineError ? error.code : 'internal';
    this.#options.metrics.refused.inc({ code });
    this.#log.warn(
      { callId: channelId, code, err: code === 'internal' ? error : undefined },
      'an Asterisk channel was refused',
    );
    sendOn(this.#ari, channelId, code).catch((err: unknown) =>
      this.#log.warn({ err }, 'a channel could not be continued in the dialplan'),
    );
  }

  #ownerOf(channelId: string): ChannelSession | undefined {
    return this.#named.get(channelId.slice(0, this.#ownPrefix.length + 16));
  }

  /**
   * What happened while no events came is looked up: sessions whose channel is gone end, channels and bridges of an
   * earlier life are removed, and callers that it left waiting go on in the dialplan.
   */
  async #tidy(): Promise<void> {
    const known = [...this.#sessions.values()];
    const [channels, bridges, application] = await Promise.all([
      this.#ari.get('/channels'),
      this.#ari.get('/bridges'),
      this.#ari.get(`/applications/${this.#options.settings.ARI_APP}`),
    ]);
    const there = new Set(readIds(channels));
    for (const session of known) if (!there.has(session.channel.id)) session.onDestroyed(session.channel.id);
    const leftOver = (id: string) => id.startsWith(this.#ownPrefix) && this.#ownerOf(id) === undefined;
    const paths = [
      ...[...there].filter(leftOver).map((id) => `/channels/${id}`),
      ...readIds(bridges)
        .filter(leftOver)
        .map((id) => `/bridges/${id}`),
    ];
    const waiting = waitingIn(application).filter(
      (id) => there.has(id) && !id.startsWith(this.#ownPrefix) && !this.#sessions.has(id),
    );
    await Promise.all(paths.map((path) => this.#ari.remove(path)));
    const sent = await Promise.all(waiting.map((id) => sendOn(this.#ari, id, 'lost')));
    const sentOn = sent.filter(Boolean).length;
    if (paths.length + sentOn > 0)
      this.#log.info({ removed: paths.length, sentOn }, 'left-over channels and bridges were removed from Asterisk');
  }
}

interface Watch {
  readonly waits: boolean;
  onJoined(): void;
  onOver(error: TrunklineError | null): void;
}

/** Asterisk's media endpoint is beside its REST interface: `http://host:8088/ari` → `ws://host:8088/media`. */
function mediaUrlBeside(ariUrl: string): string {
  return ariUrl.replace(/^http/, 'ws').replace(/(\/ari)?$/, '/media');
}

/** The channels that an application has, waiting or watched. */
function waitingIn(application: unknown): string[] {
  const ids = isObject(application) ? application['channel_ids'] : undefined;
  return Array.isArray(ids) ? ids.filter((id: unknown): id is string => typeof id === 'string') : [];
}
