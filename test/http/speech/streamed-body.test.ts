/** Speech over real sockets is sent as soon as it is made, and made no faster and no longer than the client reads. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { READER_STALL_MS } from '../../../src/http/speech/streamed-body.ts';
import { eventually, PATIENCE_MS } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../test-server.ts';

const MAKING_MS = 100;
const LONG = Array.from({ length: 40 }, (_, i) => `Sentence ${i} is this.`).join(' ');

let testServer: TestServer;
let url: string;
beforeEach(() => open());
afterEach(() => testServer.app.close());

async function open(environment: Record<string, string> = {}): Promise<void> {
  testServer = await startServer(environment);
  url = await listen(testServer.app);
}

/** The value of `read` once it has not changed between two looks. */
async function whenSteady(read: () => number): Promise<number> {
  let last = -1;
  await vi.waitFor(
    () => {
      const before = last;
      last = read();
      expect(last).toBe(before);
    },
    { interval: 100, timeout: PATIENCE_MS },
  );
  return last;
}

interface Asking {
  readonly request: ClientRequest;
  readonly response: Promise<IncomingMessage>;
}

/** Asks for raw speech; the answer flows only when the test reads it. */
function ask(fields: object): Asking {
  const body = JSON.stringify({ response_format: 'pcm', ...fields });
  const request = httpRequest(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) =>
    request.once('response', resolve).once('error', reject),
  );
  // Some are given up before they are answered.
  response.catch(() => undefined);
  request.on('error', () => undefined);
  request.end(body);
  return { request, response };
}

/** Lets the engine finish the sentence that it is making. */
async function makeOne(nth: number): Promise<void> {
  await eventually(() => expect(testServer.engine.spoken).toHaveLength(nth));
  testServer.clock.advance(MAKING_MS);
}

/** A minute of sound for each sentence. */
function beLong(): void {
  testServer.engine.utter = () => new Int16Array(16_000 * 60);
}

const outcomes = async () =>
  (await testServer.metrics.speechRequests.get()).values.map(({ labels, value }) => [
    labels['format'],
    labels['outcome'],
    value,
  ]);

describe('speech over HTTP', () => {
  it('leaves when the first sentence is made, while the second is not', async () => {
    testServer.engine.speakMs = MAKING_MS;
    const { response } = ask({ input: 'One is here. Two is there.' });
    await makeOne(1);
    const answer = await response;
    const first = await new Promise<Buffer>((resolve) => answer.once('data', resolve));
    expect([answer.statusCode, first.length]).toEqual([200, 20 * 12 * 48]);
    expect(testServer.engine.pending).toBe(1);
    await makeOne(2);
    answer.resume();
    await new Promise((resolve) => answer.once('end', resolve));
    expect(await outcomes()).toEqual([['pcm', 'finished', 1]]);
  });

  it('leaves when the first stretch of a sentence is made', async () => {
    testServer.engine.cuts = ({ length }) => [length >> 1];
    testServer.engine.stretchMs = MAKING_MS;
    const { response } = ask({ input: 'Twenty characters...' });
    const answer = await response;
    const first = await new Promise<Buffer>((resolve) => answer.once('data', resolve));
    // Half of the sound, without the frame that needs samples that follow.
    expect([answer.statusCode, first.length]).toEqual([200, (200 - 20) * 48]);
    expect(testServer.engine.pending).toBe(1);
    const rest: Buffer[] = [];
    answer.on('data', (data: Buffer) => rest.push(data));
    await makeOne(1);
    await new Promise((resolve) => answer.once('end', resolve));
    expect(first.length + Buffer.concat(rest).length).toBe(400 * 48);
    expect(await outcomes()).toEqual([['pcm', 'finished', 1]]);
  });

  it('breaks off where a sentence fails in the middle', async () => {
    testServer.engine.cuts = ({ length }) => [length >> 1];
    testServer.engine.stretchMs = MAKING_MS;
    const answer = await ask({ input: 'Twenty characters...' }).response;
    const broken = new Promise((resolve) => answer.once('error', resolve));
    testServer.engine.failure = 'model_failed';
    answer.resume();
    await makeOne(1);
    expect(await broken).toMatchObject({ code: 'ECONNRESET' });
    expect(await outcomes()).toEqual([['pcm', 'failed', 1]]);
  });

  it.each(['mp3', 'wav', 'pcm', 'mulaw'])('is the same bytes in stretches and at once: %s', async (format) => {
    const get = async (): Promise<Buffer> => {
      const answer = await ask({ input: 'Twenty characters... And some more of them.', response_format: format })
        .response;
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      return Buffer.concat(parts);
    };
    const utter = ({ text }: { text: string }) =>
      Int16Array.from({ length: 700 * text.length }, (_, n) => 8000 * Math.sin(n / 9));
    testServer.engine.utter = utter;
    const whole = await get();
    await testServer.app.close();
    await open({ SPEECH_CACHE_BYTES: '0' });
    testServer.engine.utter = utter;
    testServer.engine.cuts = ({ length }) => [100, 3333, length >> 1, length - 1];
    expect((await get()).equals(whole)).toBe(true);
  });

  it('is not made faster than it is read', async () => {
    beLong();
    const { response, request } = ask({ input: LONG, sample_rate: 16_000 });
    const answer = await response;
    const made = await whenSteady(() => testServer.engine.spoken.length);
    expect(made).toBeLessThan(10);
    answer.resume();
    await eventually(() => expect(testServer.engine.spoken.length).toBeGreaterThan(made));
    request.destroy();
  });

  it('is cut off for a reader that takes nothing more', async () => {
    beLong();
    const answer = await ask({ input: LONG, sample_rate: 16_000 }).response;
    const broken = new Promise((resolve) => answer.once('error', resolve));
    await eventually(async () => {
      testServer.clock.advance(READER_STALL_MS);
      expect(await outcomes()).toEqual([['pcm', 'gone', 1]]);
    });
    answer.resume();
    expect(await broken).toMatchObject({ code: 'ECONNRESET' });
    expect(testServer.engine.spoken.length).toBeLessThan(10);
  });

  it.each(['before the first sentence is made', 'in the middle'])(
    'is given up when the client goes away %s',
    async (when) => {
      testServer.engine.speakMs = MAKING_MS;
      const { request, response } = ask({ input: 'One is here. Two is there. And here is three.' });
      if (when === 'in the middle') {
        await makeOne(1);
        await response;
      }
      const nth = when === 'in the middle' ? 2 : 1;
      await eventually(() => expect(testServer.engine.spoken).toHaveLength(nth));
      request.destroy();
      await eventually(() => expect(testServer.engine.pending).toBe(0));
      expect(testServer.engine.spoken[nth - 1]?.signal?.aborted).toBe(true);
      expect(testServer.engine.spoken).toHaveLength(nth);
    },
  );

  it('breaks off when it fails in the middle, so that nobody takes a part for the whole', async () => {
    testServer.engine.utter = ({ text }) => {
      if (text.startsWith('Two')) throw new Error('it broke');
      return new Int16Array(320);
    };
    const answer = await ask({ input: 'One is here. Two is there.' }).response;
    const broken = new Promise((resolve) => answer.once('error', resolve));
    answer.resume();
    expect(await broken).toMatchObject({ code: 'ECONNRESET' });
    await eventually(async () => expect(await outcomes()).toEqual([['pcm', 'failed', 1]]));
    expect(testServer.logLines.join('')).toContain('it broke');
    expect(testServer.logLines.join('')).not.toContain('there');
  });

  it('is refused when SPEECH_REQUESTS_MAX are served, and taken again when one of them is done', async () => {
    await testServer.app.close();
    await open({ SPEECH_REQUESTS_MAX: '2' });
    testServer.engine.speakMs = MAKING_MS;
    const served = [ask({ input: 'One.' }), ask({ input: 'Two.' })];
    await eventually(() => expect(testServer.engine.spoken).toHaveLength(2));
    const refused = await ask({ input: 'Three.' }).response;
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '2']);
    served[0]?.request.destroy();
    await eventually(() => expect(testServer.engine.pending).toBe(1));
    const { response } = ask({ input: 'Four.' });
    await makeOne(3);
    expect((await response).statusCode).toBe(200);
  });
});
