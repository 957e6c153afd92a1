import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenaiRecogniser } from '../../../src/engine-client/remote/openai-recogniser.ts';
import { RemoteError, type RemoteRequest } from '../../../src/engine-client/remote/remote-recogniser.ts';
import { AsrServer, json } from '../../fakes/asr-server.ts';
import { eventually } from '../../helpers/eventually.ts';

let server: AsrServer;
let recogniser: OpenaiRecogniser;

function ask(extra: Partial<RemoteRequest> = {}): Promise<string> {
  const { signal } = new AbortController();
  return recogniser.recognise({ samples: new Int16Array(16_000), urgency: 'final', signal, ...extra }).then(
    ({ text }) => text,
    (error: Error) => (error instanceof RemoteError ? `${error.failure}: ${error.message}` : error.name),
  );
}

function connect(path = '', { apiKey = '', model = '' } = {}): void {
  recogniser = new OpenaiRecogniser(new URL(`${server.url}${path}`), { apiKey, model });
}

beforeEach(async () => {
  server = new AsrServer();
  await server.listen();
  connect();
});

afterEach(async () => {
  recogniser.close();
  await server.close();
});

describe('a recogniser with the API of OpenAI', () => {
  it('is sent the speech with key, model, language and what is likely to be said', async () => {
    connect('/v1', { apiKey: 'secret', model: 'qwen3-asr' });
    expect(await ask({ language: 'de-AT', hotWords: ['Zoë', 'Trunkline'], context: 'A call.' })).toBe('Heard.');
    const [{ path, headers, fields, fileBytes } = { path: '' }] = server.received;
    expect([path, fileBytes, headers?.authorization]).toEqual(['/v1/audio/transcriptions', 32_044, 'Bearer secret']);
    expect(headers).toMatchObject({ 'x-trunkline-urgency': 'final' });
    expect(fields).toEqual({
      model: 'qwen3-asr',
      language: 'de',
      prompt: 'A call.\nZoë, Trunkline',
      response_format: 'json',
      temperature: '0',
    });
  });

  it.each([
    ['', '/v1/audio/transcriptions'],
    ['/', '/v1/audio/transcriptions'],
    ['/v1/', '/v1/audio/transcriptions'],
    ['/openai/v1', '/openai/v1/audio/transcriptions'],
    ['/v1/audio/transcriptions?api-version=1', '/v1/audio/transcriptions?api-version=1'],
    ['/inference', '/inference'],
    ['/whisper/inference/', '/whisper/inference'],
  ])('of which the path is %j is asked at %s', async (path, endpoint) => {
    connect(path);
    await ask();
    expect(server.received.map((form) => form.path)).toEqual([endpoint]);
    expect(server.received[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is whisper.cpp by its path, and then asked for one thing at a time', () => {
    expect(recogniser.inFlightMax).toBe(32);
    connect('/inference');
    expect(recogniser.inFlightMax).toBe(1);
  });

  it('is asked again and again on one connection', async () => {
    for (let n = 0; n < 3; n++) expect(await ask()).toBe('Heard.');
    expect(server.received.map(({ connection }) => connection)).toEqual([0, 0, 0]);
  });

  it('loses nothing by a connection that the server closed meanwhile', async () => {
    await ask();
    server.breakConnections();
    expect(await ask()).toBe('Heard.');
    expect(server.connections).toBe(2);
  });

  it('is asked once more where a kept connection breaks with the request, and not a third time', async () => {
    await ask();
    server.behave = (_response, _form, request) => request.socket.resetAndDestroy();
    expect(await ask()).toBe('failed: it could not be reached (ECONNRESET)');
    expect(server.received).toHaveLength(3);
  });

  it('may leak the form of Qwen3-ASR', async () => {
    server.behave = json({ text: 'language English<asr_text>Heard.' });
    expect(await ask()).toBe('Heard.');
  });
});

describe('a server that', () => {
  it.each([
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [422, 'refused'],
    [302, 'refused'],
    [500, 'failed'],
    [502, 'failed'],
    [429, 'busy'],
    [503, 'busy'],
  ])('answers %i is %s', async (status, failure) => {
    server.behave = json({ error: { message: 'my secret' }, text: 'no' }, status);
    expect(await ask()).toBe(`${failure}: it answered ${status}`);
  });

  it('is busy says until when', async () => {
    server.behave = json({}, 429, { 'retry-after': '7' });
    const failure = recogniser.recognise({
      samples: new Int16Array(1),
      urgency: 'final',
      signal: new AbortController().signal,
    });
    await expect(failure).rejects.toMatchObject({ failure: 'busy', retryAfterMs: 7000 });
  });

  it('is not there has failed', async () => {
    await server.close();
    expect(await ask()).toBe('failed: it could not be reached (ECONNREFUSED)');
    await server.listen();
  });

  it('breaks off before its answer has failed', async () => {
    server.behave = (_response, _form, request) => request.socket.resetAndDestroy();
    expect(await ask()).toBe('failed: it could not be reached (ECONNRESET)');
  });

  it('breaks off in the middle of its answer has failed', async () => {
    server.behave = (response, _form, request) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"text":"He', () => request.socket.destroy());
    };
    expect(await ask()).toBe('failed: it broke off in the middle of its answer');
  });

  it('never ends its answer is cut off', async () => {
    server.behave = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(4096)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    expect(await ask()).toBe('unusable: its answer has more than 65536 bytes');
    await eventually(() => expect(server.givenUp).toBe(1));
  });

  it('answers a page instead of a text is of no use', async () => {
    server.behave = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>');
    expect(await ask()).toBe('unusable: what it answered is no transcription');
  });

  it('answers more than anybody could have said is of no use', async () => {
    server.behave = json({ text: 'la '.repeat(3000) });
    expect(await ask()).toBe('unusable: what it answered is no transcription');
  });

  it('does not speak HTTP has failed', async () => {
    server.behave = (_response, _form, request) => request.socket.end('SSH-2.0-OpenSSH_9.2\r\n');
    expect(await ask()).toBe('failed: it could not be reached (HPE_INVALID_CONSTANT)');
  });

  it('hangs is told to stop by a closed connection', async () => {
    server.behave = () => undefined;
    const given = new AbortController();
    const answer = ask({ signal: given.signal });
    await eventually(() => expect(server.received).toHaveLength(1));
    given.abort();
    expect(await answer).toMatch(/AbortError|failed/);
    await eventually(() => expect(server.givenUp).toBe(1));
  });

  it('hangs in the middle of its answer is told to stop as well', async () => {
    server.behave = (response) => {
      response.writeHead(200);
      response.write('{');
    };
    const given = new AbortController();
    const answer = ask({ signal: given.signal });
    await eventually(() => expect(server.received).toHaveLength(1));
    given.abort();
    expect(await answer).toBeTruthy();
    await eventually(() => expect(server.givenUp).toBe(1));
  });
});
