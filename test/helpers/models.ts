/** A pretend model, its package, and a server that has it. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CatalogFile, CatalogModel, HashedBytes } from '../../src/models/catalog-model.ts';
import { makeZip } from './zip.ts';

/** Bytes that do not compress, the same for the same `seed`. */
export function noise(bytes: number, seed: number): Buffer {
  const made = Buffer.alloc(bytes);
  let state = seed;
  for (let i = 0; i < bytes; i++) {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    made[i] = state >>> 24;
  }
  return made;
}

/** Size and SHA-256. */
export function knownBytes(data: Uint8Array): HashedBytes {
  return { bytes: data.length, sha256: createHash('sha256').update(data).digest('hex') };
}

/** The model's files by their paths. `tail.bin` is published in two pieces. */
export const LARK_FILES: Readonly<Record<string, Buffer>> = {
  LICENSE: Buffer.from('Sing as you like.\n'),
  'lark.onnx': noise(300_000, 1),
  'tail.bin': noise(50_001, 2),
  'voices/a.bin': noise(1000, 3),
};

/** A further voice, which its package has not. */
export const LARK_VOICE = noise(1000, 4);

/** The package, with names and places of its own. */
export function larkWheel(change: Readonly<Record<string, Buffer>> = {}): Buffer {
  const tail = LARK_FILES['tail.bin'] ?? Buffer.alloc(0);
  const files: Record<string, Buffer | undefined> = {
    'lark/__init__.py': Buffer.from('raise SystemExit\n'),
    'lark/assets/model.onnx': LARK_FILES['lark.onnx'],
    'lark/assets/tail.1': tail.subarray(0, 25_000),
    'lark/assets/tail.2': tail.subarray(25_000),
    'lark/assets/a.bin': LARK_FILES['voices/a.bin'],
    'lark-1.0.dist-info/licenses/LICENSE': LARK_FILES['LICENSE'],
    ...change,
  };
  return makeZip(Object.entries(files).map(([path, data = Buffer.alloc(0)]) => ({ path, data })));
}

/** A table with the one model; `url` has its package. */
export function larkCatalog(url = 'http://127.0.0.1:1/lark.whl', version = '1.0'): readonly CatalogModel[] {
  const wheel = larkWheel();
  const files = Object.entries(LARK_FILES).map(([path, data]): CatalogFile => {
    if (path !== 'tail.bin') return { path, ...knownBytes(data) };
    return { path, ...knownBytes(data), pieces: [data.subarray(0, 25_000), data.subarray(25_000)].map(knownBytes) };
  });
  return [
    {
      name: 'lark',
      family: 'hibari',
      version,
      about: 'a bird',
      licence: 'MIT',
      owner: 'Nobody',
      languages: ['en'],
      isAdvised: true,
      files,
      extras: [{ path: 'more.onnx', ...knownBytes(LARK_VOICE) }],
      packages: [
        {
          kind: 'pip',
          name: 'lark-tts',
          version: '1.0',
          file: 'lark_tts-1.0-py3-none-any.whl',
          url,
          ...knownBytes(wheel),
        },
      ],
      addresses: [],
    },
  ];
}

/** A publisher on this machine. */
export interface Publisher {
  readonly url: string;
  /** The `Range` of each request; '' = none. */
  readonly ranges: readonly string[];
  close(): Promise<void>;
}

/** How a publisher answers; by default with the whole package or the range that is asked for. */
export type Answer = (request: IncomingMessage, response: ServerResponse, wheel: Buffer, nth: number) => void;

/** Answers as a server that knows ranges. RFC 9110, 14 */
export const sendRange: Answer = ({ headers }, response, wheel) => {
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  if (from === undefined) {
    response.end(wheel);
    return;
  }
  response.writeHead(206, { 'content-range': `bytes ${from}-${wheel.length - 1}/${wheel.length}` });
  response.end(wheel.subarray(Number(from)));
};

/** Begins to publish the package on a free port. */
export async function publish(answer: Answer = sendRange): Promise<Publisher> {
  const wheel = larkWheel();
  return serve('/lark.whl', (request, response, nth) => answer(request, response, wheel, nth));
}

/** Begins to publish `files`, each at its path below the address, on a free port; others are not found. */
export function publishFiles(files: Readonly<Record<string, Buffer>>, answer: Answer = sendRange): Promise<Publisher> {
  return serve('/model', (request, response, nth) => {
    const data = files[(request.url ?? '').replace(/^\/model\//, '')];
    if (data === undefined) response.writeHead(404).end();
    else answer(request, response, data, nth);
  });
}

async function serve(
  path: string,
  answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void,
): Promise<Publisher> {
  const ranges: string[] = [];
  const server: Server = createServer((request, response) => {
    ranges.push(request.headers.range ?? '');
    answer(request, response, ranges.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    ranges,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
