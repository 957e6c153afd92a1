import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenaiRecogniser } from '../../../src/engine-client/remote/openai-recogniser.ts';
import { RemoteError, type RemoteRequest } from '../../../src/engine-client/remote/remote-recogniser.ts';
import { spoken } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';
import { formOf, type RecordingServer, startRecordingServer, wavFile } from '../recording-server.ts';

let server: RecordingServer;
let recogniser: OpenaiRecogniser;

async function open(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  server = await startRecordingServer(environment);
  recogniser = new OpenaiRecogniser(new URL(server.url), { apiKey: '', model: '' });
}

function ask(extra: Partial<RemoteRequest> = {}): Promise<string> {
  const { signal } = new AbortController();
  return recogniser.recognise({ samples: spoken([1, 2]), urgency: 'final', signal, ...extra }).then(
    ({ text }) => text,
    (error: Error) => (error instanceof RemoteError ? `${error.failure} ${error.retryAfterMs}` : error.name),
  );
}

async function post(file: Blob | null, urgency: string, fields: readonly (readonly [string, string])[] = []) {
  const headers = { 'x-trunkline-urgency': urgency };
  const response = await fetch(`${server.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers,
    body: formOf(file, fields),
  });
  const body = (await response.json()) as { text?: string; error?: { code: string } };
  return [response.status, body.text ?? body.error?.code];
}

beforeEach(() => open());

afterEach(async () => {
  recogniser.close();
  await server.close();
});

describe('a stretch of speech from another Trunkline', () => {
  it.each(['final', 'eager', 'partial', 'batch'] as const)('is read as %s, as it is', async (urgency) => {
    expect(await ask({ urgency, language: 'en' })).toBe('W1 w2.');
    expect(server.engine.transcribed).toMatchObject([{ urgency, samples: spoken([1, 2]), language: 'en', draft: [] }]);
    expect(server.engine.detected).toEqual([]);
    expect(server.files()).toEqual([]);
  });

  it('is a recording like others where the header says something else', async () => {
    expect(await post(wavFile([spoken([1])]), 'soon')).toEqual([200, 'W1.']);
    expect(server.engine.transcribed).toMatchObject([{ urgency: 'batch' }]);
    expect(server.engine.detected).not.toEqual([]);
  });

  it('is refused in a language that is not understood', async () => {
    expect(await ask({ language: 'de' })).toBe('refused null');
    expect(await post(wavFile([spoken([1])]), 'final', [['language', 'de']])).toEqual([400, 'unsupported_language']);
  });

  it('has to be 16 kHz mono, and a minute at most', async () => {
    const stereo = wavFile([spoken([1]), spoken([1])]);
    expect(await post(stereo, 'final')).toEqual([400, 'audio_unreadable']);
    expect(await post(new Blob(['no sound']), 'final')).toEqual([400, 'invalid_request']);
    expect(await post(null, 'final')).toEqual([400, 'invalid_request']);
    expect(await post(wavFile([new Int16Array(61 * 16_000)]), 'final')).toEqual([413, 'upload_too_large']);
    expect(server.engine.transcribed).toEqual([]);
  });

  it('that could not be begun in time is no reason to stay away', async () => {
    server.engine.failure = 'stale';
    expect(await ask({ urgency: 'partial' })).toBe('busy 0');
    server.engine.failure = 'unavailable';
    expect(await ask()).toBe('busy null');
  });

  it('is given up with its connection', async () => {
    server.engine.transcribeMs = 60_000;
    const given = new AbortController();
    const reading = ask({ signal: given.signal });
    await eventually(() => expect(server.engine.pending).toBe(1));
    given.abort();
    await reading;
    await eventually(() => expect(server.engine.pending).toBe(0));
  });

  it('of a recording is one of 32 at the same time, which leaves room for calls', async () => {
    server.engine.transcribeMs = 60_000;
    const given = new AbortController();
    const { signal } = given;
    const readings = Array.from({ length: 32 }, () => ask({ urgency: 'batch', signal }));
    await eventually(() => expect(server.engine.pending).toBe(32));
    expect(await ask({ urgency: 'batch' })).toBe('busy 2000');
    const call = ask({ signal });
    await eventually(() => expect(server.engine.pending).toBe(33));
    given.abort();
    await Promise.all([...readings, call]);
  });

  it('is one of 64 at the same time', async () => {
    server.engine.transcribeMs = 60_000;
    const given = Array.from({ length: 64 }, () => new AbortController());
    const readings = given.map(({ signal }) => ask({ signal }));
    await eventually(() => expect(server.engine.pending).toBe(64));
    expect(await ask()).toBe('busy 2000');
    for (const each of given) each.abort();
    await Promise.all(readings);
  });
});

it('a stretch of speech needs the key', async () => {
  await server.close();
  await open({ API_KEYS: 'a-key-of-some-length' });
  expect(await ask()).toBe('refused null');
  const url = new URL(server.url);
  const known = new OpenaiRecogniser(url, { apiKey: 'a-key-of-some-length', model: '' });
  const { signal } = new AbortController();
  expect(await known.recognise({ samples: spoken([1]), urgency: 'final', signal })).toEqual({ text: 'W1.' });
  known.close();
});
