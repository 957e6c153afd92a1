import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { ConfigError } from '../../src/foundation/settings/config.ts';
import type { Batch } from '../../src/jobs/batch.ts';
import type { Batches, BatchRequest } from '../../src/jobs/batches.ts';
import type { RecordingTask, RecordingTranscript } from '../../src/recordings/transcribe.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { outwait } from '../helpers/outwait.ts';
import { beginBatch, openBatches, TRANSCRIPT } from './open-batches.ts';

let folder: string;
let clock: FakeClock;
let opened: Batches[];
let transcribe: (task: RecordingTask) => Promise<RecordingTranscript>;
let isClockTrusted: boolean;
const mayExpire = (): boolean => isClockTrusted;

beforeEach(() => {
  isClockTrusted = true;
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
  opened = [];
  transcribe = async () => TRANSCRIPT;
});

afterEach(async () => {
  for (const batches of opened) await batches.close();
  rmSync(folder, { recursive: true });
});

const open = (environment: Readonly<Record<string, string>> = {}): Batches => {
  const batches = openBatches({ folder, clock, transcribe: (task) => transcribe(task), environment, mayExpire });
  opened.push(batches);
  return batches;
};

const paths = (...locations: string[]): BatchRequest['files'] =>
  locations.map((location) => ({ name: location, source: { kind: 'path', location } }));

const endOf = (batch: Batch): Promise<unknown> => eventually(() => expect(batch.endedMs).not.toBeNull());

/** Work that goes on until it is stopped. */
function forever({ signal }: RecordingTask): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

describe('a batch', () => {
  it('gives a transcript for each file that can be had, and says what is wrong with the others', async () => {
    writeFileSync(join(folder, 'a.wav'), 'x');
    const batches = open({ BATCH_INPUT_DIR: folder });
    const batch = await beginBatch(batches, { files: paths('a.wav', '../../etc/passwd', 'missing.wav') });
    await endOf(batch);
    expect(batch.files.map(({ state, error }) => [state, error?.code])).toEqual([
      ['done', undefined],
      ['failed', 'input_refused'],
      ['failed', 'input_refused'],
    ]);
    expect(await batches.result('t', batch.id, 0)).toEqual(TRANSCRIPT);
    await expect(batches.result('t', batch.id, 1)).rejects.toMatchObject({ code: 'result_not_ready' });
  });

  it('is nobody else’s to see', async () => {
    const batches = open();
    const { id } = await beginBatch(batches);
    expect(() => batches.get('other', id)).toThrow(TrunklineError);
    expect(batches.list('other')).toEqual([]);
  });

  it('goes on after a restart with what was not done', async () => {
    transcribe = (task) => (task.path.endsWith('0') ? Promise.resolve(TRANSCRIPT) : forever(task));
    const first = open();
    const upload = { name: 'a.wav', source: { kind: 'upload' } } as const;
    const spoken = { language: 'de', hotWords: ['Müller'] };
    const begun = await beginBatch(first, { files: [upload, upload], ...spoken });
    await eventually(() => expect(begun.files[0]?.state).toBe('done'));
    await first.close();
    const again: string[] = [];
    transcribe = async ({ path, ...task }) => {
      again.push(path.slice(-1));
      expect(task).toMatchObject(spoken);
      return TRANSCRIPT;
    };
    const second = open();
    await second.resume();
    const batch = second.get('t', begun.id);
    await endOf(batch);
    expect(again).toEqual(['1']);
    expect(await second.result('t', batch.id, 0)).toEqual(TRANSCRIPT);
  });

  it('is the same one when its request is repeated under one key, and a conflict when another is', async () => {
    const batches = open();
    const first = await beginBatch(batches, { idempotency: { key: 'k', hash: 'h' } });
    expect((await beginBatch(batches, { idempotency: { key: 'k', hash: 'h' } })).id).toBe(first.id);
    await expect(beginBatch(batches, { idempotency: { key: 'k', hash: 'other' } })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect((await beginBatch(batches, { idempotency: { key: 'k', hash: 'other' } }, 'other')).id).not.toBe(first.id);
  });

  it('stops its work when it is cancelled, and is removed when it is deleted after that', async () => {
    transcribe = forever;
    const batches = open();
    const batch = await beginBatch(batches);
    await batches.cancel('t', batch.id);
    expect(batch).toMatchObject({ state: 'cancelled', files: [{ state: 'cancelled' }] });
    await batches.cancel('t', batch.id);
    expect(batches.list('t')).toEqual([]);
    expect(readdirSync(join(folder, 'batches'))).not.toContain(batch.id);
  });

  it('is removed with its results RESULT_TTL_MS after its end', async () => {
    const batches = open({ RESULT_TTL_MS: '120000' });
    const batch = await beginBatch(batches);
    await endOf(batch);
    clock.advance(119_000);
    expect(batches.list('t')).toHaveLength(1);
    clock.advance(61_000);
    await eventually(() => expect(batches.list('t')).toEqual([]));
    await eventually(() => expect(readdirSync(join(folder, 'batches'))).not.toContain(batch.id));
  });

  it('is kept while the clock is not to be believed', async () => {
    isClockTrusted = false;
    const batches = open({ RESULT_TTL_MS: '120000' });
    await endOf(await beginBatch(batches));
    clock.advance(40 * 86_400_000);
    expect(batches.list('t')).toHaveLength(1);
    isClockTrusted = true;
    clock.advance(61_000);
    await eventually(() => expect(batches.list('t')).toEqual([]));
  });

  it('is kept by its folder while a clock without records is in doubt', async () => {
    const environment = { RESULT_TTL_MS: '120000' };
    const batches = openBatches({
      folder,
      clock,
      transcribe: (task) => transcribe(task),
      environment,
      mayExpire: null,
    });
    opened.push(batches);
    await batches.resume();
    await endOf(await beginBatch(batches));
    const mark = join(folder, 'batches', 'clock-believed');
    clock.advance(61_000);
    await eventually(() => expect(existsSync(mark)).toBe(true));
    const wallMs = clock.wall().getTime();
    clock.wall = () => new Date(wallMs + 40 * 86_400_000);
    const writtenMs = statSync(mark).mtimeMs;
    clock.advance(61_000);
    await eventually(() => expect(statSync(mark).mtimeMs).toBeGreaterThan(writtenMs));
    expect(batches.list('t')).toHaveLength(1);
    rmSync(mark);
    clock.advance(61_000);
    await eventually(() => expect(batches.list('t')).toEqual([]));
  });

  it('says how far it is and how far each of its files is', async () => {
    const step: { listen?: RecordingTask['onProgress']; done?: (recording: RecordingTranscript) => void } = {};
    transcribe = (task) => {
      if (!task.path.endsWith('1')) return forever(task);
      step.listen = task.onProgress;
      return new Promise((resolve) => {
        step.done = resolve;
      });
    };
    const batches = open();
    const upload = { name: 'a.wav', source: { kind: 'upload' } } as const;
    const batch = await beginBatch(batches, { files: [upload, upload, upload, upload] });
    const news: unknown[] = [];
    batches.watch(
      batch.id,
      (each) => void news.push(each.type === 'end' ? 'end' : [each.type, batches.viewFile(each.file).progress]),
    );
    await eventually(() => expect(step.listen).toBeDefined());
    step.listen?.({ takenMs: 600, share: 0.509 });
    expect(batches.view(batch)).toMatchObject({
      progress: 0.12,
      counts: { total: 4, waiting: 0, running: 4, done: 0 },
    });
    expect(batches.viewFiles(batch)[1]).toMatchObject({ state: 'running', progress: 0.5 });
    step.done?.(TRANSCRIPT);
    await eventually(() =>
      expect(news.slice(0, 2)).toEqual([
        ['progress', 0.5],
        ['file', 1],
      ]),
    );
    expect(batches.viewFiles(batch)[1]).toMatchObject({ state: 'done', progress: 1 });
  });

  it('is translated, and the words share the time of the original', async () => {
    const { url, close } = await chatEndpoint();
    const words = [
      { text: 'Good', spaced: false, startMs: 0, endMs: 300 },
      { text: 'morning.', spaced: true, startMs: 300, endMs: 900 },
    ];
    transcribe = async () => ({
      durationMs: 1200,
      spokenLanguage: 'en',
      segments: [{ channel: 0, text: 'Good morning.', startMs: 0, endMs: 900, words, wordTimes: 'aligned' }],
    });
    const batches = open({ LLM_BASE_URL: url, TRANSLATE_MODEL: 'm' });
    const batch = await beginBatch(batches, { targetLanguage: 'german' });
    await endOf(batch);
    const [segment] = (await batches.result('t', batch.id, 0)).segments;
    expect(segment).toMatchObject({ text: 'GOOD MORNING.', startMs: 0, endMs: 900 });
    expect(segment?.words.map(({ text }) => text)).toEqual(['GOOD', 'MORNING.']);
    expect([segment?.words[0]?.startMs, segment?.words.at(-1)?.endMs]).toEqual([0, 900]);
    await close();
  });

  it('keeps what was said where only the translation failed', async () => {
    const { url, close } = await chatEndpoint(500);
    const batches = open({ LLM_BASE_URL: url, TRANSLATE_MODEL: 'm' });
    const batch = await beginBatch(batches, { targetLanguage: 'german' });
    await endOf(batch);
    expect(batch.files[0]).toMatchObject({
      state: 'failed',
      error: { code: 'translation_failed', message: expect.stringContaining('asSpoken=true') },
    });
    await expect(batches.result('t', batch.id, 0)).rejects.toMatchObject({ code: 'result_not_ready' });
    expect(await batches.result('t', batch.id, 0, true)).toEqual(TRANSCRIPT);
    await close();
  });

  it('has no text of a file that could not be heard', async () => {
    const { url, close } = await chatEndpoint();
    transcribe = () => Promise.reject(new TrunklineError('audio_unreadable', 'no audio'));
    const batches = open({ LLM_BASE_URL: url, TRANSLATE_MODEL: 'm' });
    const batch = await beginBatch(batches, { targetLanguage: 'german' });
    await endOf(batch);
    await expect(batches.result('t', batch.id, 0, true)).rejects.toMatchObject({ code: 'result_not_ready' });
    await close();
  });

  it('is not heard again when its gateway was killed while it was translated', async () => {
    const { url, close } = await chatEndpoint();
    const environment = { LLM_BASE_URL: url, TRANSLATE_MODEL: 'm' };
    transcribe = forever;
    const first = open(environment);
    const { id } = await beginBatch(first, { targetLanguage: 'german' });
    await first.close();
    writeFileSync(join(folder, 'batches', id, '0.spoken.json'), JSON.stringify(TRANSCRIPT));
    const second = open(environment);
    await second.resume();
    await endOf(second.get('t', id));
    expect((await second.result('t', id, 0)).segments[0]?.text).toBe('HELLO.');
    expect((await second.result('t', id, 0, true)).segments[0]?.text).toBe('Hello.');
    await close();
  });

  it('is refused where nothing can translate', async () => {
    await expect(beginBatch(open(), { targetLanguage: 'german' })).rejects.toMatchObject({ code: 'unsupported_model' });
  });

  it('is not done again when its gateway was killed between its transcript and the note of that', async () => {
    transcribe = forever;
    const first = open();
    const { id } = await beginBatch(first);
    await first.close();
    writeFileSync(join(folder, 'batches', id, '0.json'), JSON.stringify(TRANSCRIPT));
    const second = open();
    await second.resume();
    const batch = second.get('t', id);
    await endOf(batch);
    expect(await second.result('t', id, 0)).toEqual(TRANSCRIPT);
    expect(batch.files[0]).toMatchObject({ state: 'done', durationMs: 1200 });
  });

  it('keeps no recording whose gateway was killed after the note of its transcript', async () => {
    const first = open();
    const batch = await beginBatch(first);
    await endOf(batch);
    await first.close();
    writeFileSync(join(folder, 'batches', batch.id, '0'), 'a recording');
    await open().resume();
    expect(readdirSync(join(folder, 'batches', batch.id))).toEqual(['0.json']);
  });

  it('leaves nothing of an upload that its gateway was killed in', async () => {
    const first = open();
    const draft = await first.draft('t');
    writeFileSync(join(draft.folder, '0'), 'half an upload');
    await first.close();
    const second = open();
    await second.resume();
    expect(readdirSync(join(folder, 'batches'))).not.toContain(draft.id);
  });

  it('is refused while the gateway drains, and what is in work goes on', async () => {
    const batches = open();
    const batch = await beginBatch(batches);
    batches.drain();
    await expect(batches.draft('t')).rejects.toMatchObject({ code: 'draining' });
    await endOf(batch);
    expect(batch.files[0]?.state).toBe('done');
  });

  it('is refused when its tenant has too many that run, and nobody else’s is; ended ones do not count', async () => {
    const batches = open({ BATCHES_MAX: '1' });
    transcribe = forever;
    const running = await beginBatch(batches);
    await expect(batches.draft('t')).rejects.toMatchObject({ code: 'too_many_batches' });
    await beginBatch(batches, {}, 'other');
    await batches.cancel('t', running.id);
    await beginBatch(batches);
  });

  it('is refused where its tenant keeps very many ended ones', async () => {
    const batches = open({ BATCHES_MAX: '1' });
    transcribe = forever;
    for (let n = 0; n < 20; n++) await batches.cancel('t', (await beginBatch(batches)).id);
    await expect(batches.draft('t')).rejects.toMatchObject({ code: 'too_many_batches', message: /20 ended batches/ });
  });
});

/** An endpoint whose model shouts, or answers with an error. */
async function chatEndpoint(status = 200) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const lines = JSON.parse(
      (JSON.parse(body) as { messages: { content: string }[] }).messages[1]?.content ?? '[]',
    ) as string[];
    const content = JSON.stringify(lines.map((line) => line.toUpperCase()));
    response.writeHead(status).end(JSON.stringify({ choices: [{ message: { content } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, close: () => new Promise((resolve) => server.close(resolve)) };
}

describe('BATCH_DIR', () => {
  it.each([
    [
      'it cannot be written',
      (path: string) => writeFileSync(path, 'a file'),
      /^BATCH_DIR: got ".*", expected .*cannot be written to/,
    ],
    ['its database is none', (path: string) => damage(path), /^BATCH_DIR: got ".*", expected .*not a database/],
  ])('stops the start when %s', async (_what, spoil, message) => {
    const path = join(folder, 'spoilt');
    spoil(path);
    const error = await open({ BATCH_DIR: path })
      .resume()
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toMatch(message);
  });

  it('stops the start when another gateway has it, after waiting for that to end', async () => {
    await open().resume();
    const message = /^BATCH_DIR: got ".*", expected .*in use by process \d+ on /;
    await outwait(clock, expect(open().resume()).rejects.toThrow(message));
    expect(clock.nowMs()).toBeGreaterThanOrEqual(10_000);
  });

  function damage(path: string): void {
    mkdirSync(path);
    writeFileSync(join(path, 'batches.sqlite'), 'not a database at all, whatever it is called'.repeat(100));
  }
});
