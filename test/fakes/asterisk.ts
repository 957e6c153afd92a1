/**
 * An Asterisk as its REST interface shows it: channels, bridges, an application with its events, and media channels
 * that wait to be dialled. Written from rest-api/api-docs and recordings of a 22.10, with everything that happens in
 * the hand of the test.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { eventually } from '../helpers/eventually.ts';

const USER = 'trunkline';
const PASSWORD = 'pass';
const AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;

interface PretendChannel {
  readonly id: string;
  readonly name: string;
  readonly number: string;
  readonly exten: string;
  inApp: boolean;
  readonly variables: Record<string, string>;
  /** Of a snoop: the channel that it listens to, and in which direction. */
  readonly spies: string | null;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

export class PretendAsterisk {
  readonly channels = new Map<string, PretendChannel>();
  readonly bridges = new Map<string, string[]>();
  /** The sockets of media channels, by the channel. */
  readonly media = new Map<string, WebSocket>();
  /** `POST /channels/x/answer` …, without what changes from call to call. */
  readonly requests: { readonly line: string; readonly query: Readonly<Record<string, string>> }[] = [];
  /** Connections of the events, those that ended included. */
  connections = 0;
  /** Connections of the events that are open, and most at once. */
  readonly listeners = new Set<WebSocket>();
  listenersMax = 0;
  /** Connections that were refused. */
  refusals = 0;
  /** Refuses what it returns an answer for. */
  refuse: (line: string) => Answer | null = () => null;
  /** Whether media channels come into the application when they are dialled. */
  joins = true;
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols: () => 'media' });
  readonly #waiting = new Map<string, string>();
  readonly #subscribed = new Set<string>();
  #events: WebSocket | null = null;

  async listen(): Promise<this> {
    this.#server.on('upgrade', (request, socket, head) => {
      const refusal = this.refuse(`UPGRADE ${request.url ?? ''}`);
      if (refusal !== null) {
        this.refusals++;
        socket.end(`HTTP/1.1 ${refusal.status} No\r\nConnection: close\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => this.#onSocket(webSocket, request));
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  /** What a gateway has to know. */
  get environment(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo;
    return { ARI_URL: `http://127.0.0.1:${port}/ari`, ARI_USER: USER, ARI_PASSWORD: PASSWORD };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** The lines of the requests that match. */
  asked(pattern: RegExp): string[] {
    return this.requests.map(({ line }) => line).filter((line) => pattern.test(line));
  }

  /** Resolves when the events are listened to. */
  async connected(): Promise<void> {
    await eventually(() => this.#events ?? Promise.reject(new Error('nobody listens to the events')));
  }

  loseEvents(): void {
    this.#events?.terminate();
    this.#events = null;
  }

  /** A channel that is in the dialplan. */
  add(id: string, { inApp = false, spies = null as string | null } = {}): PretendChannel {
    const channel = { id, name: `PJSIP/alice-${id}`, number: '100', exten: '600', inApp, variables: {}, spies };
    this.channels.set(id, channel);
    return channel;
  }

  /** A channel comes to `Stasis(trunkline,…args)`. */
  enter(id: string, ...args: string[]): void {
    const channel = this.channels.get(id) ?? this.add(id);
    channel.inApp = true;
    this.tell({ type: 'StasisStart', args, channel: jsonOf(channel) });
  }

  /** A channel is hung up; whoever listens to it ends with it. */
  hangUp(id: string): void {
    const channel = this.channels.get(id);
    if (channel === undefined) return;
    this.channels.delete(id);
    for (const [bridge, members] of this.bridges)
      this.bridges.set(
        bridge,
        members.filter((member) => member !== id),
      );
    if (channel.inApp) this.tell({ type: 'StasisEnd', channel: jsonOf(channel) });
    if (channel.inApp || this.#subscribed.has(id))
      this.tell({ type: 'ChannelDestroyed', cause: 16, channel: jsonOf(channel) });
    this.media.get(id)?.close(1000);
    for (const other of [...this.channels.values()]) if (other.spies === id) this.hangUp(other.id);
  }

  tell(event: object): void {
    this.#events?.send(
      JSON.stringify({ ...event, application: 'trunkline', timestamp: '2026-01-01T00:00:00.000+0000' }),
    );
  }

  #onSocket(socket: WebSocket, request: IncomingMessage): void {
    const { pathname } = new URL(request.url ?? '', 'http://asterisk');
    if (pathname === '/ari/events' && request.headers.authorization === AUTHORIZATION) {
      this.connections++;
      this.#events = socket;
      this.listeners.add(socket);
      this.listenersMax = Math.max(this.listenersMax, this.listeners.size);
      socket.on('close', () => this.listeners.delete(socket));
      return;
    }
    const channelId = this.#waiting.get(pathname.replace('/media/', ''));
    // One that was hung up before it is dialled is not there any more.
    if (channelId === undefined || !this.channels.has(channelId)) socket.terminate();
    else this.#startMedia(channelId, socket);
  }

  #startMedia(channelId: string, socket: WebSocket): void {
    this.media.set(channelId, socket);
    const variables = { MEDIA_WEBSOCKET_OPTIMAL_FRAME_SIZE: '640' };
    const media = { format: 'slin16', optimal_frame_size: 640, ptime: 20, channel_variables: variables };
    socket.send(
      JSON.stringify({
        event: 'MEDIA_START',
        connection_id: 'c',
        channel: 'WebSocket/INCOMING/0x1',
        channel_id: channelId,
        ...media,
      }),
    );
    socket.on('message', (data, isBinary) => {
      if (!isBinary && data.toString().includes('HANGUP')) this.hangUp(channelId);
    });
    if (this.joins) this.enter(channelId);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://asterisk');
    const line = `${request.method} ${decodeURIComponent(pathname.replace('/ari', ''))}`;
    const query = Object.fromEntries(searchParams);
    this.requests.push({ line, query });
    const allowed = request.headers.authorization === AUTHORIZATION;
    const { status, body = null } = allowed
      ? (this.refuse(line) ?? this.#obey(line, query))
      : { status: 401, body: { error: 'no' } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(status === 204 ? '' : JSON.stringify(body));
  }

  #obey(line: string, query: Record<string, string>): Answer {
    const [, verb = '', room = '', id = '', what = '', snoop = ''] =
      /^(\S+) \/([a-z]+)(?:\/([^/]+))?(?:\/(\w+))?(?:\/([^/]+))?$/.exec(line) ?? [];
    if (room === 'applications') return this.#application(verb, query);
    if (room === 'bridges') return this.#bridge(verb, id, what, query);
    if (id === '') return { status: 200, body: [...this.channels.values()].map(jsonOf) };
    if (id === 'externalMedia') return this.#externalMedia(query['channelId'] ?? '');
    const channel = this.channels.get(id);
    if (channel === undefined) return { status: 404, body: { message: 'Channel not found' } };
    if (what === 'snoop') return this.#snoop(id, snoop);
    if (verb === 'DELETE') queueMicrotask(() => this.hangUp(id));
    if (what === 'variable' && verb === 'GET') {
      const value = channel.variables[query['variable'] ?? ''];
      if (value === undefined) return { status: 404, body: { message: 'Provided variable was not found' } };
      return { status: 200, body: { value } };
    }
    if (what === 'variable') channel.variables[query['variable'] ?? ''] = query['value'] ?? '';
    if (what === 'continue') return this.#leave(channel);
    return { status: 204 };
  }

  #application(verb: string, query: Record<string, string>): Answer {
    if (verb === 'POST') this.#subscribed.add((query['eventSource'] ?? '').replace('channel:', ''));
    const ids = [...this.channels.values()].filter(({ inApp }) => inApp).map(({ id }) => id);
    return { status: 200, body: { name: 'trunkline', channel_ids: [...ids, ...this.#subscribed] } };
  }

  #bridge(verb: string, id: string, what: string, query: Record<string, string>): Answer {
    if (id === '')
      return { status: 200, body: [...this.bridges.keys()].map((bridge) => ({ id: bridge, channels: [] })) };
    if (verb === 'DELETE')
      return this.bridges.delete(id) ? { status: 204 } : { status: 404, body: { message: 'Bridge not found' } };
    if (what === '') this.bridges.set(id, []);
    const members = (query['channel'] ?? '').split(',').filter((member) => member !== '');
    if (members.some((member) => this.channels.get(member)?.inApp !== true))
      return { status: 422, body: { message: 'not in Stasis' } };
    this.bridges.get(id)?.push(...members);
    return { status: what === '' ? 200 : 204, body: { id } };
  }

  #externalMedia(id: string): Answer {
    this.#waiting.set(`uuid-${this.#waiting.size}`, id);
    const channel = this.add(id);
    return {
      status: 200,
      body: { ...jsonOf(channel), channelvars: { MEDIA_WEBSOCKET_CONNECTION_ID: `uuid-${this.#waiting.size - 1}` } },
    };
  }

  #snoop(id: string, snoop: string): Answer {
    const channel = this.add(snoop, { spies: id });
    queueMicrotask(() => this.enter(snoop));
    return { status: 200, body: jsonOf(channel) };
  }

  #leave(channel: PretendChannel): Answer {
    if (!channel.inApp) return { status: 409, body: { message: 'Channel not in Stasis application' } };
    channel.inApp = false;
    for (const [bridge, members] of this.bridges)
      this.bridges.set(
        bridge,
        members.filter((member) => member !== channel.id),
      );
    queueMicrotask(() => this.tell({ type: 'StasisEnd', channel: jsonOf(channel) }));
    return { status: 204 };
  }
}

function jsonOf({ id, name, number, exten }: PretendChannel): object {
  return {
    id,
    name,
    state: 'Ring',
    caller: { name: '', number },
    dialplan: { context: 'default', exten, priority: 1 },
  };
}
