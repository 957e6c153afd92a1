/** A collector of OpenTelemetry on this machine, which keeps what it gets. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface Pair {
  readonly key: string;
  readonly value: Value;
}

/** A span as OTLP writes it in JSON, as far as tests look at it. */
export interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Pair[];
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/**
 * What it does with a request. `hang` = it never answers; `drip` = a byte of its answer every 50 ms, without end;
 * `redirect` = to itself; `flood` = an answer without end, as fast as it is read; `later` = in 3,000 years; `now` = at
 * once, again and again; `cut` = it hangs up.
 */
export type Manner = 'take' | 'fail' | 'hang' | 'drip' | 'redirect' | 'flood' | 'later' | 'now' | 'cut';

const ANSWERS: Readonly<Record<Manner, (response: ServerResponse) => void>> = {
  take: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  fail: (response) => void response.writeHead(500).end(),
  hang: () => undefined,
  drip: (response) => {
    const timer = setInterval(() => response.write(' '), 50);
    response.writeHead(200).once('close', () => clearInterval(timer));
  },
  redirect: (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  flood: (response) =>
    void Readable.from(endless())
      .pipe(response)
      .on('error', () => undefined),
  later: (response) => void response.writeHead(429, { 'retry-after': '99999999999' }).end(),
  now: (response) => void response.writeHead(429, { 'retry-after': '-1' }).end(),
  cut: (response) => void response.socket?.destroy(),
};

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536, '[');
}

export class Collector {
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  manner: Manner = 'take';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      void buffer(request).then((bytes) => {
        this.requests.push({ path: request.url ?? '', headers: request.headers, body: bytes.toString() });
        ANSWERS[this.manner](response);
      });
    });
  }

  /** Listens on a free port. Returns the address. */
  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** How many are open. */
  async connections(): Promise<number> {
    return promisify(this.#server.getConnections).call(this.#server);
  }

  get spans(): SentSpan[] {
    return this.#resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  }

  /** What the spans say of the server. */
  get resource(): Record<string, unknown> {
    return attributesOf(this.#resourceSpans[0]?.resource.attributes ?? []);
  }

  get #resourceSpans() {
    return this.requests.flatMap(({ body }) => (JSON.parse(body) as Body).resourceSpans);
  }
}

/** Attributes by name. */
export function attributesOf(pairs: readonly Pair[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue]),
  );
}
