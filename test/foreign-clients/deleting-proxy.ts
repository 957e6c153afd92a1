/** A proxy in front of a gateway that leaves out one thing of what the gateway answers. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';

/** One thing that is left out. */
export type Left =
  /** A field of messages of that type, or of all (`*`); of each element where the path leads through a list. */
  | { readonly field: string; readonly of: string }
  /** All messages of that type. */
  | { readonly message: string }
  /** A header of all answers. */
  | { readonly header: string }
  /** The code with which the gateway closes. */
  | { readonly closeCode: true };

/** A running one. */
export interface DeletingProxy {
  readonly url: string;
  /** How often something was left out. */
  count(): number;
  close(): void;
}

const OWN_HEADERS = /^(host|connection|upgrade|sec-websocket-.*)$/;

/** Starts one on a free loopback port. @param left null = nothing */
export async function startDeletingProxy(gateway: string, left: Left | null): Promise<DeletingProxy> {
  let count = 0;
  const noted = (isLeft: boolean): boolean => {
    if (isLeft) count++;
    return isLeft;
  };
  const server = createServer((incoming, answer) => forward(gateway, incoming, answer, { left, noted }));
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0] ?? false });
  server.on('upgrade', (incoming, stream, head) => {
    const upstream = dial(gateway, incoming);
    upstream.once('unexpected-response', (_, { statusCode }) => refuse(stream, statusCode ?? 0));
    upstream.once('error', () => stream.destroy());
    upstream.once('upgrade', () => {
      sockets.handleUpgrade(incoming, stream, head, (client) => join(client, upstream, { left, noted }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    close() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Leaving {
  readonly left: Left | null;
  /** Counts, and answers what it is given. */
  readonly noted: (isLeft: boolean) => boolean;
}

function dial(gateway: string, { url, headers }: IncomingMessage): WebSocket {
  const offered = headers['sec-websocket-protocol'];
  const protocols = offered === undefined ? [] : offered.split(',').map((each) => each.trim());
  const others = Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name));
  return new WebSocket(`${gateway.replace('http', 'ws')}${url}`, protocols, {
    headers: Object.fromEntries(others) as Record<string, string>,
    perMessageDeflate: false,
  });
}

function refuse(stream: Duplex, status: number): void {
  stream.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function join(client: WebSocket, upstream: WebSocket, { left, noted }: Leaving): void {
  upstream.removeAllListeners('error');
  for (const socket of [client, upstream]) socket.on('error', () => socket.terminate());
  const early: [RawData, boolean][] = [];
  upstream.on('open', () => {
    for (const [data, isBinary] of early.splice(0)) upstream.send(data, { binary: isBinary });
  });
  client.on('message', (data, isBinary) => {
    if (upstream.readyState === WebSocket.CONNECTING) early.push([data, isBinary]);
    else if (upstream.readyState === WebSocket.OPEN) upstream.send(data, { binary: isBinary });
  });
  client.on('close', () => upstream.close());
  upstream.on('message', (data, isBinary) => {
    const sent = isBinary ? data : without(data.toString(), left, noted);
    if (sent !== null && client.readyState === WebSocket.OPEN) client.send(sent, { binary: isBinary });
  });
  upstream.on('close', (code) => {
    const isSaid = code >= 1000 && code !== 1005 && code !== 1006;
    if (isSaid && !(left !== null && 'closeCode' in left && noted(true))) client.close(code);
    else client.close();
  });
}

/** @returns null = the message is not to be sent */
function without(text: string, left: Left | null, noted: Leaving['noted']): string | null {
  const message = JSON.parse(text) as Record<string, unknown>;
  if (left === null) return text;
  if ('message' in left) return noted(message['type'] === left.message) ? null : text;
  if (!('field' in left) || (left.of !== '*' && left.of !== message['type'])) return text;
  return noted(remove(message, left.field.split('.'))) ? JSON.stringify(message) : text;
}

/** @returns whether it was there */
function remove(value: unknown, [name = '', ...rest]: readonly string[]): boolean {
  if (Array.isArray(value)) return value.map((each) => remove(each, [name, ...rest])).some(Boolean);
  if (typeof value !== 'object' || value === null || !(name in value)) return false;
  const record = value as Record<string, unknown>;
  return rest.length > 0 ? remove(record[name], rest) : delete record[name];
}

function forward(gateway: string, incoming: IncomingMessage, answer: ServerResponse, { left, noted }: Leaving): void {
  const { method, headers, url } = incoming;
  const upstream = request(`${gateway}${url}`, { method, headers: { ...headers, host: new URL(gateway).host } });
  upstream.on('response', (response) => {
    const kept: IncomingHttpHeaders = { ...response.headers };
    if (left !== null && 'header' in left && noted(left.header in kept)) delete kept[left.header];
    answer.writeHead(response.statusCode ?? 502, kept);
    response.pipe(answer);
  });
  upstream.on('error', () => answer.destroy());
  incoming.pipe(upstream);
}
