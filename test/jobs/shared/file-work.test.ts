import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import type { BatchTables } from '../../../src/jobs/shared/batch-tables.ts';
import { FileWork } from '../../../src/jobs/shared/file-work.ts';
import type { FileEnd, WorkTables } from '../../../src/jobs/shared/work-tables.ts';
import type { RecordingTranscript } from '../../../src/recordings/transcribe.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';
import { TRANSCRIPT } from '../open-batches.ts';

const FILE = {
  number: 0,
  name: 'a.wav',
  source: { kind: 'url', location: 'http://a.example/a.wav' },
  state: 'waiting',
};

/** The work of one gateway on tables that are none: `isWanted` = what they say of the file. */
function open() {
  const clock = new FakeClock();
  const state = { isWanted: true, tries: 0, made: 0, settled: [] as FileEnd[], aborted: false };
  const release: ((transcript: RecordingTranscript) => void)[] = [];
  const work = new FileWork({
    tables: {
      get: async () => ({ home: 'here', batch: { id: 'b', tenant: 't', targetLanguage: '' } }),
      file: async () => ({ file: { ...FILE }, share: null }),
    } as unknown as BatchTables,
    work: {
      begin: async () => ++state.tries,
      progress: async () => state.isWanted,
      settle: async (_id: string, _number: number, end: FileEnd) => {
        state.settled.push(end);
        return true;
      },
    } as unknown as WorkTables,
    transcripts: {
      make: (_batch, _file, { signal }) =>
        new Promise((resolve, reject) => {
          state.made++;
          release.push(resolve);
          signal.addEventListener('abort', () => {
            state.aborted = true;
            reject(signal.reason);
          });
        }),
      read: async () => TRANSCRIPT,
    },
    clock,
    log: createLog('silent'),
    metrics: new Metrics(),
    makeFolder: async () => undefined,
    removeFiles: async () => undefined,
    onEnd: async () => undefined,
  });
  return { clock, state, release, work, signal: new AbortController().signal };
}

describe('the work on a file of a shared batch', () => {
  it('is done once where the queue gives it out again while it is in work here', async () => {
    const { state, release, work, signal } = open();
    const first = work.do('b', 0, signal);
    await settle();
    const second = work.do('b', 0, signal);
    await settle();
    expect([state.made, state.tries]).toEqual([1, 1]);
    release[0]?.(TRANSCRIPT);
    expect(await Promise.all([first, second])).toEqual(['done', 'done']);
    expect(state.settled).toHaveLength(1);
    const third = work.do('b', 0, signal);
    await settle();
    expect(state.made).toBe(2);
    release[1]?.(TRANSCRIPT);
    await third;
  });

  it('stops when its batch is cancelled, also while it tells nothing, as during a download', async () => {
    const { clock, state, work, signal } = open();
    const doing = work.do('b', 0, signal);
    await clock.run(5000, 1000);
    expect(state.aborted).toBe(false);
    state.isWanted = false;
    await clock.run(5000, 1000);
    expect(await doing).toBe('done');
    expect([state.aborted, state.settled]).toEqual([true, []]);
  });
});
