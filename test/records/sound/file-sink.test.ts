import { expect, test } from 'vitest';
import type { SoundTrouble } from '../../../src/calls/sound/sound-tap.ts';
import { DiskError } from '../../../src/foundation/folders/disk.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import { FileSink } from '../../../src/records/sound/file-sink.ts';
import type { WritingResult, WritingTask } from '../../../src/records/sound/sound-messages.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';
import { STARTED_AT, tone } from './sound-files.ts';

/** A sink over a thread that the test answers for. */
function openSink() {
  const clock = new FakeClock();
  const tasks: WritingTask[] = [];
  const told: (SoundTrouble | 'recovered')[] = [];
  let answer: (task: WritingTask) => Promise<WritingResult> = async () => 100;
  const sink = new FileSink({
    call: {
      callId: 'CA1',
      startedAt: STARTED_AT,
      codec: MULAW_8K,
      onTrouble: (trouble) => told.push(trouble),
      onRecovered: () => told.push('recovered'),
    },
    file: 1,
    clock,
    run: (task) => {
      tasks.push(task);
      return answer(task);
    },
    onCreated: () => undefined,
    onWritten: () => undefined,
    onTrouble: () => undefined,
  });
  const pass = async (durationMs: number): Promise<void> => {
    for (let ms = 0; ms < durationMs; ms += 20) {
      sink.add('caller', tone(440, clock.nowMs(), 8000), clock.nowMs());
      clock.advance(20);
      if (ms % 1000 === 0) await settle();
    }
    await settle();
  };
  return {
    clock,
    sink,
    told,
    pass,
    types: () => tasks.map(({ type }) => type),
    answerWith: (how: typeof answer) => {
      answer = how;
    },
  };
}

const full = async (): Promise<never> => {
  throw new DiskError('ENOSPC');
};

test('sound goes to the disk every three seconds', async () => {
  const { pass, types, sink, clock } = openSink();
  await pass(9000);
  expect(types()).toEqual(['create', 'add', 'add', 'add']);
  sink.end();
  expect(clock.pending).toBe(0);
});

test('with a full disk it is asked ever more seldom whether there is room, and then it goes on', async () => {
  const { pass, types, told, answerWith } = openSink();
  await pass(3000);
  answerWith(full);
  await pass(60_000);
  expect(told).toEqual(['disk_full']);
  const probes = types().filter((type) => type === 'probe').length;
  expect(probes).toBeGreaterThanOrEqual(2);
  expect(probes).toBeLessThanOrEqual(5);
  answerWith(async () => 100);
  await pass(70_000);
  expect(told).toEqual(['disk_full', 'recovered']);
  expect(types().at(-1)).toBe('add');
});

test('a disk that never answers holds twelve seconds of sound, not more', async () => {
  const { pass, types, told, answerWith } = openSink();
  answerWith(() => new Promise(() => undefined));
  await pass(60_000);
  expect(told).toEqual(['disk_slow']);
  expect(types().filter((type) => type === 'add').length).toBeLessThanOrEqual(4);
});

test('a file that could not be made is made when there is room', async () => {
  const clockless = openSink();
  clockless.answerWith(full);
  await clockless.pass(3000);
  clockless.answerWith(async () => 100);
  await clockless.pass(20_000);
  expect(clockless.told[0]).toBe('disk_full');
  expect(clockless.told.at(-1)).toBe('recovered');
});
