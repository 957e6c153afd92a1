import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Mp3Encoder } from '../../../src/audio/encode.ts';
import { applyGain, phoneGain } from '../../../src/audio/loudness.ts';
import type * as wav from '../../../src/audio/wav.ts';
import { writeWav } from '../../../src/audio/wav.ts';
import { audioFetcher } from '../../../src/calls/app/audio-fetch.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';
import { flacOfSilence } from '../../helpers/flac.ts';
import { readSettings } from '../../helpers/settings.ts';

/** Decoding has no business on the gateway's own thread; others have the real decoder. */
vi.mock(import('../../../src/audio/wav.ts'), async (importOriginal) => ({
  ...(await importOriginal()),
  readWav: (): wav.WavAudio => {
    throw new Error('a recording was decoded where calls are served');
  },
}));

const SOUND = Int16Array.from({ length: 800 }, (_, i) => (i % 2 === 0 ? 1000 : -1000));
const LEVELLED = applyGain(SOUND, phoneGain(SOUND, 8000));
const WAV = Buffer.from(writeWav([SOUND], 8000));
/** Whatever the name, it is a host of the internet that happens to be this machine. */
const here: LookupFunction = (_name, options, done) => {
  if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

/** Samples at 24 kHz as an MP3 file. */
async function mp3Of(samples: Int16Array): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const sound = (async function* () {
    yield new Uint8Array(samples.buffer);
  })();
  for await (const part of new Mp3Encoder().encode(sound, 24_000)) parts.push(part);
  return Buffer.concat(parts);
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Serves on a free port; returns the port. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function fetcher(
  environment: Record<string, string> = { OUTBOUND_ALLOW: 'apps=127.0.0.0/8' },
  clock = new FakeClock(),
) {
  const fetch = audioFetcher(readSettings(environment), clock, here);
  return (source: string, signal = new AbortController().signal) => fetch(source, signal);
}

describe('a recording', () => {
  it('is fetched, read and brought to the loudness of everything else', async () => {
    const port = await serve((_request, response) => response.end(WAV));
    expect(await fetcher()(`http://127.0.0.1:${port}/a.wav`)).toEqual({ samples: LEVELLED, rateHz: 8000 });
  });

  it('is mixed to one channel', async () => {
    const mixed = Int16Array.of(200, 0);
    const stereo = writeWav([Int16Array.of(100, 200), Int16Array.of(300, -200)], 16_000);
    const port = await serve((_request, response) => response.end(stereo));
    expect(await fetcher()(`http://127.0.0.1:${port}/a.wav`)).toEqual({
      samples: applyGain(mixed, phoneGain(mixed, 16_000)),
      rateHz: 16_000,
    });
  });

  it('is looked for where its server sends us', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/new.wav') response.end(WAV);
      else response.writeHead(302, { location: '/new.wav' }).end();
    });
    expect((await fetcher()(`http://127.0.0.1:${port}/old.wav`)).samples).toEqual(LEVELLED);
  });

  it('is not followed in circles', async () => {
    const port = await serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
    await expect(fetcher()(`http://127.0.0.1:${port}/`)).rejects.toThrow(/redirects more than 3 times/);
  });

  it.each([
    ['file:///etc/passwd', /begins with file:, expected http: or https:/],
    ['http://[', /redirects to something that is not a URL/],
  ])('is not followed to %s', async (location, message) => {
    const port = await serve((_request, response) => response.writeHead(302, { location }).end());
    await expect(fetcher()(`http://127.0.0.1:${port}/`)).rejects.toThrow(message);
  });

  it.each([
    ['says so', 404, {}],
    ['wants another protocol', 101, { connection: 'Upgrade', upgrade: 'websocket' }],
  ])('is not there when its server %s', async (_what, status, headers) => {
    const port = await serve((_request, response) => response.writeHead(status, headers).end());
    await expect(fetcher()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`its server answered ${status}`),
    });
  });

  it('is not there when nobody answers', async () => {
    const port = await serve(() => undefined);
    server?.close();
    await expect(fetcher()(`http://127.0.0.1:${port}/`)).rejects.toThrow('its server cannot be reached (ECONNREFUSED)');
  });

  it('may be MP3, whatever its name says, and has the silence that it came with', async () => {
    const file = await mp3Of(Int16Array.from({ length: 48_000 }, (_, at) => (at < 24_000 ? 0 : (at % 48) * 200)));
    const port = await serve((_request, response) => response.end(file));
    const { samples, rateHz } = await fetcher()(`http://127.0.0.1:${port}/a.wav`);
    expect(rateHz).toBe(16_000);
    const loudest = (fromMs: number, toMs: number) =>
      Math.max(...samples.subarray(fromMs * 16, toMs * 16).map((sample) => Math.abs(sample)));
    expect(loudest(0, 900)).toBeLessThan(100);
    expect(loudest(1200, 1900)).toBeGreaterThan(1000);
  });

  it('may be FLAC', async () => {
    const port = await serve((_request, response) => response.end(flacOfSilence(3)));
    expect((await fetcher()(`http://127.0.0.1:${port}/`)).samples).toEqual(new Int16Array(65_535));
  });

  it.each([
    ['a page', '<html>', /it is text, expected WAV, MP3, FLAC or Ogg/],
    ['a film', Buffer.from('\0\0\0 ftypisom', 'latin1'), /it is of another kind, expected WAV, MP3, FLAC or Ogg/],
    ['half a header', WAV.subarray(0, 20), /^not a WAV file that can be/],
    ['a file without sound', writeWav([new Int16Array(0)], 8000), /there is no sound in it/],
  ])('may not be %s', async (_what, file, message) => {
    const port = await serve((_request, response) => response.end(file));
    await expect(fetcher()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(message),
    });
  });

  it('may not be longer than a WAV file of the largest size can be', async () => {
    const port = await serve((_request, response) => response.end(flacOfSilence(30)));
    const fetch = fetcher({ OUTBOUND_ALLOW: 'apps=127.0.0.0/8', APP_PLAY_MAX_BYTES: '80000' });
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'the recording is longer than 10 s, the most allowed',
    });
  });

  it.each([
    ['says so', { 'content-length': '2000000' }],
    ['does not say so', {}],
  ])('may not be larger than the limit, even if its server %s', async (_, headers) => {
    const port = await serve((_request, response) => {
      response.writeHead(200, headers);
      const pump = (): void => {
        while (response.write(Buffer.alloc(1024))) if (response.destroyed) return;
      };
      response.on('drain', pump).on('error', () => undefined);
      pump();
    });
    const fetch = fetcher({ OUTBOUND_ALLOW: 'apps=127.0.0.0/8', APP_PLAY_MAX_BYTES: '4096' });
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(/more than 4096 bytes/);
  });

  it('must come in time', async () => {
    const clock = new FakeClock();
    const port = await serve((_request, response) => {
      response.write(WAV.subarray(0, 100));
      setImmediate(() => clock.advance(200));
    });
    const fetch = fetcher({ OUTBOUND_ALLOW: 'apps=127.0.0.0/8', APP_PLAY_TIMEOUT_MS: '200' }, clock);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('it did not come within 200 ms');
    expect(clock.pending).toBe(0);
  });

  it('is given up when nobody wants it any more', async () => {
    const wanted = new AbortController();
    const port = await serve(() => wanted.abort());
    await expect(fetcher()(`http://127.0.0.1:${port}/`, wanted.signal)).rejects.toThrow();
  });
});

describe('recordings that are decoded at once', () => {
  it('do not get in the way of each other, and leave no timer behind', async () => {
    const port = await serve((request, response) => {
      const samples = Int16Array.from({ length: 50_000 }, () => Number(request.url?.slice(1)));
      response.end(Buffer.from(writeWav([samples], 8000)));
    });
    const clock = new FakeClock();
    const fetch = fetcher({ OUTBOUND_ALLOW: 'apps=127.0.0.0/8' }, clock);
    const found = await Promise.all([1, 2, 3, 4, 5, 6].map((name) => fetch(`http://127.0.0.1:${port}/${name}`)));
    expect(found.map(({ samples }) => [samples[0], samples.length])).toEqual(
      [1, 2, 3, 4, 5, 6].map((name) => [name, 50_000]),
    );
    // Idle threads go after 10 s.
    await clock.run(10_000);
    expect(clock.pending).toBe(0);
  });

  it('are given up when the call ends meanwhile', async () => {
    const port = await serve((_request, response) =>
      response.end(Buffer.from(writeWav([new Int16Array(3_000_000)], 8000))),
    );
    const clock = new FakeClock();
    const ended = new AbortController();
    const outcome = expect(
      fetcher({ OUTBOUND_ALLOW: 'apps=127.0.0.0/8' }, clock)(`http://127.0.0.1:${port}/`, ended.signal),
    ).rejects.toThrow();
    await eventually(() => expect(clock.pending).toBe(1));
    ended.abort(new Error('the call has ended'));
    await outcome;
    expect(clock.pending).toBe(0);
  });
});

describe('a recording in a private network', () => {
  it('is refused before anybody is asked for it', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked += 1;
      response.end(WAV);
    });
    const message =
      'the recording cannot be played: its host is in a private network, expected a public address ' +
      '(OUTBOUND_ALLOW)';
    await expect(fetcher({})(`http://127.0.0.1:${port}/a.wav`)).rejects.toMatchObject({
      code: 'invalid_request',
      message,
    });
    expect(asked).toBe(0);
  });

  it('is refused when a public host sends us there', async () => {
    const port = await serve((request, response) => {
      if (request.headers.host?.startsWith('media.example.com'))
        response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
      else response.end(WAV);
    });
    await expect(fetcher({})(`http://media.example.com:${port}/`)).rejects.toThrow(/private network/);
  });

  it('does not hinder one that is public', async () => {
    const port = await serve((_request, response) => response.end(WAV));
    expect((await fetcher({})(`http://media.example.com:${port}/a.wav`)).samples).toEqual(LEVELLED);
  });
});
