/**
 * Who is connected to a channel of Asterisk, and who it was given on to, told by events of that channel alone (main/
 * bridge.c, apps/app_queue.c and what a 22.10 says): BRIDGEPEER names the channels that it is bridged with, the
 * connected line their caller ID, BLINDTRANSFER who sent it on, and the dialplan's application the queue. A bridge
 * whose other side changes without having been left was transferred with attendance. Pure: events in, news of the call
 * out.
 */
import type { CarrierEvent } from '../../../protocols/dialect.ts';
import type { AriChannel, PartyEvent } from './ari.ts';

/** Whose call it is: the agent, the queue that it waited in, and who is heard on `outbound`; null = not known. */
export interface Assignment {
  readonly agent: string | null;
  readonly queue: string | null;
  readonly name: string | null;
}

const NO_LINE: Pick<AriChannel, 'connectedNumber' | 'connectedName'> = { connectedNumber: null, connectedName: null };
const NOBODY: Assignment = { agent: null, queue: null, name: null };
/** Channels that are nobody's phone: ours, recorders, announcers. */
const NO_PHONE = /^(?:Snoop|WebSocket|AudioSocket|UnicastRTP|MulticastRTP|Announcer|Recorder|CBAnn|CBRec)\//i;
/** What the application of a channel is called that was dialled, not that dials. */
const DIALLED = ['AppDial', 'AppQueue'];
const CONFERENCES = ['ConfBridge', 'MeetMe'];

/**
 * The endpoint of a channel by the channel's name: `PJSIP/6002-00000004` and `Local/6002@agents-00000001;1` → `6002`.
 * Null = it is no phone's.
 */
export function endpointOf(channelName: string): string | null {
  const [begin, end] = [channelName.indexOf('/') + 1, channelName.lastIndexOf('-')];
  if (NO_PHONE.test(channelName) || begin === 0 || end <= begin) return null;
  return channelName.slice(begin, end).replace(/@.*/, '') || null;
}

/** The party of one channel. */
export class ConnectedParty {
  /** What was said of the call before it began. */
  #given: Assignment;
  /** What the dialplan said since then, until the call is given on. */
  #said: Assignment = NOBODY;
  #told: Assignment & { readonly conference?: string | null };
  /** The agent's own phone, where the channel that we listen to is the agent's. */
  readonly #own: string | null;
  #queue: string | null = null;
  #conference: string | null = null;
  /** Whom it is, or was last, connected to. */
  #endpoint: string | null = null;
  #isConnected = false;
  /** More than one other was in the bridge. */
  #isShared = false;
  #line: Pick<AriChannel, 'connectedNumber' | 'connectedName'>;
  /** The connected line has changed since somebody was connected. */
  #lineIsNew = true;
  /** It is that of whom it is connected to. */
  #lineIsTheirs = true;
  /** Sent on, and not there yet. */
  #leaving: { readonly from: string | null; readonly exten: string | null; told: boolean; left: boolean } | null = null;

  constructor(channel: AriChannel, given: Assignment, told: Assignment = given) {
    this.#given = given;
    this.#told = told;
    this.#line = channel;
    this.#own = DIALLED.includes(channel.application?.name ?? '') ? endpointOf(channel.name) : null;
    this.#noteApplication(channel);
  }

  /** The conference that the channel is in; null = none. */
  get conference(): string | null {
    return this.#conference;
  }

  /** What follows for the call. */
  observe(event: PartyEvent): CarrierEvent[] {
    const { channel } = event;
    const news: CarrierEvent[] = [];
    this.#noteLine(channel);
    this.#noteApplication(channel);
    if (event.type === 'named') this.#said = { ...this.#said, [event.name]: event.value };
    if (event.type === 'sent-on')
      this.#leaving = { from: endpointOf(event.by), exten: channel.to, told: false, left: false };
    news.push(...this.#leave(channel));
    if (event.type === 'bridged') news.push(...this.#connect(event.peers));
    return [...news, ...this.#assign()];
  }

  /** Each event has the connected line as it is then; some time after a transfer it is still the one before. */
  #noteLine(channel: AriChannel): void {
    const { connectedName, connectedNumber } = this.#line;
    if (channel.connectedName === connectedName && channel.connectedNumber === connectedNumber) return;
    this.#line = channel;
    this.#lineIsNew = true;
    this.#lineIsTheirs = true;
  }

  #noteApplication({ application }: AriChannel): void {
    if (application === null) return;
    const argument = application.data.split(',')[0]?.trim() || null;
    if (application.name === 'Queue') this.#queue = argument;
    this.#conference = CONFERENCES.includes(application.name) ? argument : null;
  }

  /** A channel that was sent on is told of as soon as it is in its new extension. */
  #leave({ to }: AriChannel): CarrierEvent[] {
    const leaving = this.#leaving;
    if (leaving === null || leaving.told || to === null || to === leaving.exten) return [];
    leaving.told = true;
    return [this.#giveOn('blind', leaving.from, to)];
  }

  /** Whoever comes into a conference or leaves it gives nobody on. */
  #connect(peers: readonly string[]): CarrierEvent[] {
    if (this.#conference !== null) {
      this.#isConnected = false;
      this.#leaving = null;
      return [];
    }
    const endpoints = peers.map(endpointOf).filter((endpoint) => endpoint !== null);
    const [first] = endpoints;
    if (first === undefined) {
      this.#isConnected = false;
      this.#isShared = false;
      if (this.#leaving !== null) this.#leaving.left = true;
      return [];
    }
    const before = this.#isConnected ? this.#endpoint : null;
    const main = before !== null && endpoints.includes(before) ? before : first;
    const news = this.#changeOver(before, main);
    if (main !== this.#endpoint) {
      this.#lineIsTheirs = this.#lineIsNew || this.#line.connectedNumber === main;
      this.#lineIsNew = false;
    }
    this.#endpoint = main;
    this.#isConnected = true;
    this.#isShared = endpoints.length > 1;
    return news;
  }

  /** Who is connected in place of whom. */
  #changeOver(before: string | null, main: string): CarrierEvent[] {
    const leaving = this.#leaving;
    if (leaving !== null) {
      if (!leaving.left && main === leaving.from) return [];
      this.#leaving = null;
      return leaving.told ? [] : [this.#giveOn('blind', leaving.from, main)];
    }
    if (before === null || main === before) return [];
    return [this.#giveOn(this.#isShared ? 'warm' : 'attended', before, main)];
  }

  /** What named the one before names nobody any more. */
  #giveOn(kind: 'blind' | 'warm' | 'attended', from: string | null, to: string): CarrierEvent {
    this.#said = { ...NOBODY, queue: this.#said.queue };
    this.#given = { ...this.#given, name: null };
    return { type: 'transferred', by: 'asterisk', from, to, kind };
  }

  /** On the way to somebody else it is nobody's yet. */
  #assign(): CarrierEvent[] {
    if (this.#leaving !== null) return [];
    const now = { ...this.#now(), conference: this.#conference };
    const { agent, queue, name, conference = null } = this.#told;
    if (now.agent === agent && now.queue === queue && now.name === name && now.conference === conference) return [];
    this.#told = now;
    return [{ type: 'assigned', ...now }];
  }

  #now(): Assignment {
    const isThere = this.#endpoint !== null;
    const { connectedName, connectedNumber } = this.#lineIsTheirs ? this.#line : NO_LINE;
    const lineName = isThere ? (connectedName ?? (this.#own === null ? this.#endpoint : connectedNumber)) : null;
    return {
      agent: this.#said.agent ?? this.#given.agent ?? this.#own ?? this.#endpoint,
      queue: this.#said.queue ?? this.#given.queue ?? this.#queue,
      name: this.#said.name ?? this.#given.name ?? this.#conference ?? lineName ?? (isThere ? null : this.#told.name),
    };
  }
}
