import { describe, expect, it } from 'vitest';
import type { DetectedMessage, DetectTrack } from '../../engine/contract.ts';
import { DetectBatcher } from '../../src/engine-client/detect-batcher.ts';
import { EngineError } from '../../src/engine-client/engine.ts';
import { FakeClock, settle } from '../fakes/clock.ts';

interface Sent {
  readonly tracks: readonly DetectTrack[];
  answer(): Promise<void>;
  fail(): Promise<void>;
}

/** A tick whose jobs are answered when the test says so: each window's probability is its first sample. */
function makeTick(lanes = 1) {
  const clock = new FakeClock();
  const sent: Sent[] = [];
  const send = (tracks: readonly DetectTrack[]) =>
    new Promise<DetectedMessage>((resolve, reject) => {
      const detected = tracks.map(({ samples }) => ({
        probabilities: Float32Array.of(samples[0] ?? 0),
        state: new Float32Array(1),
      }));
      sent.push({
        tracks,
        answer: async () => {
          resolve({ kind: 'detected', id: 1, tracks: detected, cost: { waitMs: 0, runMs: 1, runs: 1 } });
          await settle();
        },
        fail: async () => {
          reject(new EngineError('unavailable', 'no engine'));
          await settle();
        },
      });
    });
  return { clock, sent, tick: new DetectBatcher({ clock, lanes: () => lanes, send }) };
}

const request = (mark: number) => ({ samples: new Int16Array(512).fill(mark), state: null });
const marks = (job: Sent | undefined) => job?.tracks.map((track) => track.samples[0]);

describe('DetectBatcher', () => {
  it('sends the first window at once', () => {
    const { sent, tick } = makeTick();
    void tick.detect(request(7));
    expect(sent.map(marks)).toEqual([[7]]);
  });

  it('gathers all tracks while a job is in flight and sends them as one', async () => {
    const { clock, sent, tick } = makeTick();
    void tick.detect(request(1));
    clock.advance(15);
    for (const mark of [2, 3, 4]) void tick.detect(request(mark));
    expect(sent).toHaveLength(1);
    await sent[0]?.answer();
    expect(sent.map(marks)).toEqual([[1], [2, 3, 4]]);
  });

  it('keeps two jobs 5 ms apart', async () => {
    const { clock, sent, tick } = makeTick();
    void tick.detect(request(1));
    await sent[0]?.answer();
    clock.advance(2);
    void tick.detect(request(2));
    clock.advance(2);
    void tick.detect(request(3));
    expect(sent).toHaveLength(1);
    clock.advance(1);
    expect(sent.map(marks)).toEqual([[1], [2, 3]]);
  });

  it('uses a second lane while the first waits for its engine', () => {
    const { clock, sent, tick } = makeTick(2);
    for (const mark of [1, 2, 3]) {
      void tick.detect(request(mark));
      clock.advance(32);
    }
    expect(sent.map(marks)).toEqual([[1], [2]]);
  });

  it('gives every asker the answer to its own track', async () => {
    const { clock, sent, tick } = makeTick();
    const first = tick.detect(request(1));
    const others = [2, 3].map((mark) => tick.detect(request(mark)));
    clock.advance(5);
    await sent[0]?.answer();
    await sent[1]?.answer();
    const probabilities = (await Promise.all([first, ...others])).map((detection) => detection.probabilities[0]);
    expect(probabilities).toEqual([1, 2, 3]);
  });

  it('goes on after a job that failed', async () => {
    const { clock, sent, tick } = makeTick();
    const failed = expect(tick.detect(request(1))).rejects.toMatchObject({ code: 'unavailable' });
    await sent[0]?.fail();
    await failed;
    clock.advance(32);
    void tick.detect(request(2));
    expect(sent).toHaveLength(2);
  });

  it('refuses a window of the wrong size without disturbing the other tracks', async () => {
    const { sent, tick } = makeTick();
    const refused = tick.detect({ samples: new Int16Array(511), state: null });
    await expect(refused).rejects.toMatchObject({ code: 'bad_input', message: expect.stringContaining('511') });
    await expect(tick.detect({ samples: new Int16Array(0), state: null })).rejects.toMatchObject({ code: 'bad_input' });
    expect(sent).toEqual([]);
  });

  it('fails what has gathered when it is closed, and leaves no timer', async () => {
    const { clock, sent, tick } = makeTick();
    void tick.detect(request(1));
    await sent[0]?.answer();
    const waiting = tick.detect(request(2));
    tick.close(new EngineError('unavailable', 'closing'));
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    expect(clock.pending).toBe(0);
    expect(sent).toHaveLength(1);
  });
});
