import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeG711 } from '../../../src/audio/g711.ts';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import type { Codec } from '../../../src/foundation/units.ts';
import { concat, silence, spoken, written } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type RecordingServer, speechFile, startRecordingServer, track, wavFile } from '../../http/recording-server.ts';

let testServer: RecordingServer;
afterEach(() => testServer.close());

function post(query: string, body: RequestInit['body'], headers: Record<string, string> = {}) {
  return fetch(`${testServer.url}/v1/listen${query}`, { method: 'POST', body, headers } as RequestInit);
}

/** Each `n`th sample: 16 kHz at a lower rate. */
function every(n: number, samples: Int16Array): Int16Array {
  return samples.filter((_sample, index) => index % n === 0);
}

interface Answer {
  readonly metadata: Record<string, unknown>;
  readonly results: {
    readonly channels: readonly { alternatives: readonly { transcript: string; words: { word: string }[] }[] }[];
  };
}

async function transcripts(response: Response): Promise<string[]> {
  const { results } = (await response.json()) as Answer;
  return results.channels.map(({ alternatives: [first] }) => first?.transcript ?? 'none');
}

/** What a server at a loopback address is asked, and its address. */
async function withServer(
  answer: (incoming: IncomingMessage) => { status: number; body?: Uint8Array },
  run: (url: string, asked: { body: string; headers: IncomingMessage['headers'] }[]) => Promise<void>,
): Promise<void> {
  const asked: { body: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    asked.push({ body, headers: incoming.headers });
    const { status, body: bytes } = answer(incoming);
    response.writeHead(status).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('POST /v1/listen', () => {
  it.each([
    ['deepgram/audio+video', 'JS 3 and 4'],
    ['application/octet-stream', 'JS 5 and Python 7'],
    ['text/plain', 'nobody'],
    ['', 'Python 3 and 4'],
  ])('takes a body of type "%s", as sent by %s', async (type) => {
    testServer = await startRecordingServer();
    const bytes = new Uint8Array(await speechFile([1, 2], [3]).arrayBuffer());
    const response = await post('?punctuate=true', bytes, type === '' ? {} : { 'content-type': type });
    expect(response.status).toBe(200);
    const { metadata, results } = (await response.json()) as Answer;
    expect(results.channels[0]?.alternatives[0]?.transcript).toBe('W1 w2. W3.');
    expect(metadata).toMatchObject({
      request_id: response.headers.get('dg-request-id'),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      duration: 5.25,
      channels: 1,
    });
    await eventually(() => expect(testServer.files()).toEqual([]));
  });

  it('has it without capitals and punctuation unless these are asked for', async () => {
    testServer = await startRecordingServer();
    expect(await transcripts(await post('', speechFile([1, 2])))).toEqual(['w1 w2']);
  });

  it('has each channel by itself, or the channel as the speaker', async () => {
    testServer = await startRecordingServer();
    const left = concat(track([1, 2]), silence(6000));
    const right = concat(silence(6000), track([3]));
    const file = wavFile([left, right]);
    expect(await transcripts(await post('?multichannel=true&smart_format=true', file))).toEqual(['W1 w2.', 'W3.']);
    const diarized = (await (await post('?diarize=true&utterances=true', file)).json()) as {
      results: { utterances: { speaker: number; transcript: string }[] };
    };
    expect(diarized.results.utterances.map(({ speaker, transcript }) => [speaker, transcript])).toEqual([
      [0, 'w1 w2'],
      [1, 'w3'],
    ]);
  });

  it('takes bare samples that say how they come', async () => {
    testServer = await startRecordingServer();
    const body = samplesToPcm16(concat(spoken([5, 6]), silence(600))) as Uint8Array<ArrayBuffer>;
    const response = await post('?encoding=linear16&sample_rate=16000&punctuate=true', body);
    expect(await transcripts(response)).toEqual([written([5, 6])]);
  });

  it.each(['mulaw', 'alaw'] as const)('takes bare %s, of one channel or two', async (name) => {
    testServer = await startRecordingServer();
    // Companding moves levels a little; half of what is heard is at least as loud as the word.
    testServer.engine.hear = ({ samples }) => {
      const loud = samples.filter((sample) => sample > 50).toSorted();
      return { text: written([Math.round((loud[loud.length >> 1] ?? 0) / 100)]) };
    };
    const [left, right] = [5, 8].map((word) => every(2, concat(spoken([word]), silence(600)))) as [
      Int16Array,
      Int16Array,
    ];
    const upload = (samples: Int16Array, channels: number) => {
      const codec: Codec = { name, rateHz: 8000, channels, bytesPerSample: 1 };
      const query = `?encoding=${name}&sample_rate=8000&channels=${channels}&multichannel=true`;
      return post(query, encodeG711(samples, codec) as Uint8Array<ArrayBuffer>);
    };
    const one = await upload(left, 1);
    expect((await one.clone().json()) as Answer).toMatchObject({ metadata: { duration: 0.8, channels: 1 } });
    expect(await transcripts(one)).toEqual(['w5']);
    const both = left.length * 2;
    const woven = Int16Array.from({ length: both }, (_, n) => (n % 2 === 0 ? left : right)[n >> 1] ?? 0);
    expect(await transcripts(await upload(woven, 2))).toEqual(['w5', 'w8']);
  });

  it('passes hot words on, and tells of what it passes over', async () => {
    testServer = await startRecordingServer();
    await post('?keyterm=Kovac&keyterm=snow%20day&profanity_filter=true', speechFile([1]));
    expect(testServer.engine.transcribed.at(-1)?.hotWords).toEqual(['Kovac', 'snow day']);
    expect(testServer.logLines.filter((line) => line.includes('profanity_filter'))).toHaveLength(1);
  });

  it('waits behind all calls', async () => {
    testServer = await startRecordingServer();
    await post('', speechFile([1]));
    expect(testServer.engine.transcribed.map(({ urgency }) => urgency)).toEqual(['batch']);
  });

  it('fetches a recording where that is allowed', async () => {
    testServer = await startRecordingServer({ OUTBOUND_ALLOW: 'batches=127.0.0.0/8' });
    const bytes = new Uint8Array(await speechFile([7]).arrayBuffer());
    await withServer(
      () => ({ status: 200, body: bytes }),
      async (url) => {
        const response = await post('', JSON.stringify({ url }), { 'content-type': 'application/json' });
        expect(await transcripts(response)).toEqual(['w7']);
      },
    );
  });

  it.each([
    ['', '', {}, 400, /^body: got nothing/],
    ['', 'x'.repeat(2000), {}, 413, /UPLOAD_MAX_BYTES/],
    ['', 'this is no recording', {}, 400, /./],
    ['', '{"url":"http://127.0.0.1:1/a"}', { 'content-type': 'application/json' }, 400, /private network/],
    ['', '{}', { 'content-type': 'application/json; charset=utf-8' }, 400, /^url: got nothing/],
    ['?language=tlh', 'RIFF', {}, 400, /^language: got "tlh"/],
    ['?diarize=7', 'RIFF', {}, 400, /^diarize/],
    ['?callback=https://example.com', 'RIFF', {}, 400, /WEBHOOK_SECRET/],
  ] as const)('refuses %s with "%s" in Deepgram\'s shape', async (query, body, headers, status, message) => {
    testServer = await startRecordingServer({ UPLOAD_MAX_BYTES: '1024' });
    const response = await post(query, new TextEncoder().encode(body), headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      err_code: expect.any(String),
      err_msg: expect.stringMatching(message),
      request_id: response.headers.get('dg-request-id'),
    });
    await eventually(() => expect(testServer.files()).toEqual([]));
  });

  it('says when to come again, where that may help', async () => {
    testServer = await startRecordingServer();
    testServer.engine.failure = 'unavailable';
    const response = await post('', speechFile([1]));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  });

  it('stops when the client goes away in the middle of an upload', async () => {
    testServer = await startRecordingServer();
    const options = { method: 'POST', headers: { 'content-length': '100000' } };
    const upload = request(`${testServer.url}/v1/listen`, options).on('error', () => undefined);
    upload.write(new Uint8Array(1000));
    await eventually(() => expect(testServer.files()).toHaveLength(1));
    upload.destroy();
    await eventually(() => expect(testServer.files()).toEqual([]));
    expect(testServer.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
  });
});

describe('POST /v1/listen with a callback', () => {
  const settings = { WEBHOOK_SECRET: 'a secret of many characters', OUTBOUND_ALLOW: 'batches=127.0.0.0/8' };

  it('answers at once with the id, and posts the transcript', async () => {
    testServer = await startRecordingServer(settings);
    await withServer(
      () => ({ status: 200 }),
      async (url, asked) => {
        const response = await post(`?callback=${encodeURIComponent(url)}`, speechFile([1]));
        const { request_id } = (await response.json()) as { request_id: string };
        expect(request_id).toBe(response.headers.get('dg-request-id'));
        await eventually(() => expect(asked).toHaveLength(1));
        expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({
          metadata: { request_id },
          results: { channels: [{ alternatives: [{ transcript: 'w1' }] }] },
        });
        expect(asked[0]?.headers).toMatchObject({
          'webhook-id': request_id,
          'webhook-signature': expect.stringMatching(/^v1,/),
        });
        await eventually(() => expect(testServer.files()).toEqual([]));
      },
    );
  });

  it('tries again, and posts why there is no transcript', async () => {
    testServer = await startRecordingServer(settings);
    testServer.engine.failure = 'unavailable';
    let left = 1;
    await withServer(
      () => ({ status: left-- > 0 ? 500 : 200 }),
      async (url, asked) => {
        await post(`?callback=${encodeURIComponent(url)}`, speechFile([1]));
        await eventually(() => expect(asked).toHaveLength(1));
        await eventually(() => {
          testServer.clock.advance(1000);
          expect(asked).toHaveLength(2);
        });
        expect(JSON.parse(asked[1]?.body ?? '')).toMatchObject({ err_code: 'ENGINE_UNAVAILABLE' });
      },
    );
  });
});
