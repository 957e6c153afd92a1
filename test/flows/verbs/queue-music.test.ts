/** The step `queueMusic`. */
import { describe, expect, it } from 'vitest';
import { Music } from '../../../src/flows/verbs/queue-music.ts';
import { FlowCall } from '../run/flow-call.ts';

/** A second of a recording. */
const SOUND = { samples: new Int16Array(8000).fill(1000), rateHz: 8000 };
const recordings = { find: (name: string) => (name === 'waltz' ? SOUND : null) };
const flow = (fields: string) => `start: wait
variables: {place: null}
steps:
  wait: {queueMusic: {recording: waltz, ${fields}}, next: done}
  done: {say: "your turn"}
  late: {say: "too long"}
  sorry: {say: "sorry"}
failed: sorry`;

const POLL = 'poll: {url: "https://queue.example.com", take: {place: "$.place"}}, until: {variable: place, is: 0}';

describe('waiting in a queue', () => {
  it('is music and announcements until the server says that it is over', async () => {
    const places = [2, 1, 0];
    const request = async () => ({ status: 200, body: JSON.stringify({ place: places.shift() ?? 0 }) });
    const call = await new FlowCall(flow(`announce: "Number {place}.", ${POLL}`), {
      recordings,
      world: { request },
    }).hear();
    expect(call.said).toEqual(['Number 2.', 'waltz', 'Number 1.', 'waltz', 'your turn']);
  });

  it('goes on when the server does not answer', async () => {
    let asked = 0;
    const request = async () => {
      asked++;
      if (asked === 1) throw new Error('no');
      return { status: 200, body: '{"place": 0}' };
    };
    const call = await new FlowCall(flow(POLL), { recordings, world: { request } }).hear();
    expect(call.said).toEqual(['waltz', 'your turn']);
    expect(call.logLines.join('')).toContain('a queue could not be asked');
  });

  it('ends after its greatest length', async () => {
    const call = new FlowCall(flow('everyMs: 2000, maxMs: 5000, timedOut: late'), { recordings });
    for (let round = 0; round < 3; round++) {
      await call.settled();
      expect(call.said.filter((text) => text !== 'waltz')).toEqual([]);
      await call.wait(2000);
      call.voice.finish();
    }
    await call.hear();
    expect(call.said.at(-1)).toBe('too long');
  });

  it('without its recording is a failure', async () => {
    expect((await new FlowCall(flow('maxMs: 1000')).hear()).said).toEqual(['sorry']);
  });
});

describe('music', () => {
  it('goes on where it stopped, in a loop, and begins and ends softly', () => {
    const ramp = new Music({ samples: Int16Array.from({ length: 8000 }, (_, i) => i), rateHz: 8000 });
    const first = ramp.next(1500).samples;
    const second = ramp.next(1000).samples;
    expect([first.length, second.length]).toEqual([12_000, 8000]);
    expect([first[0], first.at(-1), second[0], second.at(-1)]).toEqual([0, 0, 0, 0]);
    expect([first[6000], second[4000]]).toEqual([6000, 0]);
    expect(second[3500]).toBe(7500);
  });
});
