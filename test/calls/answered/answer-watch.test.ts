/** Who answers, from sound and events to what is told. */
import { describe, expect, it } from 'vitest';
import { toneSamples } from '../../../src/audio/tones/tone-samples.ts';
import { AnswerWatch } from '../../../src/calls/answered/answer-watch.ts';
import type { AnswerNews } from '../../../src/calls/answered/answered-by.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../../src/foundation/units.ts';
import { VirtualClock } from '../../../src/foundation/virtual-clock.ts';
import { faxAnswer, faxCall } from '../../helpers/fax-signals.ts';
import { LINE_RATE_HZ } from '../../helpers/signals.ts';

const BEEP = toneSamples({ toneHz: 850, durationMs: 400 }, LINE_RATE_HZ);

class Watched {
  readonly clock = new VirtualClock();
  readonly news: AnswerNews[] = [];
  readonly watch: AnswerWatch;
  #atMs = 0;

  constructor(parameters: Record<string, string> = {}, outgoing = true, answeredBy?: string) {
    const start = { codec: MULAW_8K, outgoing, parameters, ...(answeredBy !== undefined && { answeredBy }) };
    this.watch = new AnswerWatch({
      start,
      clock: this.clock,
      log: createLog('fatal'),
      onNews: (told) => this.news.push(told),
    });
    this.watch.begin();
  }

  hear(samples: Int16Array): this {
    const frame = msToSamples(FRAME_MS, LINE_RATE_HZ);
    for (let at = 0; at < samples.length; at += frame) {
      this.clock.advance(FRAME_MS);
      this.watch.onSound(samples.slice(at, at + frame), this.#atMs);
      this.#atMs += FRAME_MS;
    }
    return this;
  }

  hush(durationMs: number): this {
    return this.hear(new Int16Array(msToSamples(durationMs, LINE_RATE_HZ)));
  }
}

describe('a call that we make', () => {
  it('is answered by nobody who speaks, and then nothing more is told', () => {
    const { news, watch } = new Watched().hush(3900);
    expect([news, watch.isAwaited, watch.by]).toEqual([[], true, null]);
    const later = new Watched().hush(4000).hear(BEEP).hush(1000);
    expect(later.news).toEqual([{ type: 'answered', by: 'unknown' }]);
    expect([later.watch.isAwaited, later.watch.by]).toEqual([false, 'unknown']);
  });

  it('is answered by nobody where no sound comes at all', () => {
    const silent = new Watched();
    for (let ms = 0; ms < 4000; ms += 250) {
      silent.clock.advance(250);
      silent.watch.tick();
    }
    expect(silent.news).toEqual([{ type: 'answered', by: 'unknown' }]);
  });

  it('is answered by a machine that beeps, and records from then on', () => {
    const { news, watch } = new Watched().hush(800).hear(BEEP).hush(300);
    expect(news).toEqual([
      { type: 'answered', by: 'machine' },
      { type: 'beep', heard: true },
    ]);
    expect(watch.isListening).toBe(true);
  });

  it('is not taken for a person while a tone sounds that turns out to be a beep', () => {
    const called = new Watched();
    called.watch.onSpeech({ type: 'speech.started', atMs: 0 });
    called.hush(500);
    called.watch.onSpeech({ type: 'speech.stopped', atMs: 400 });
    called
      .hush(700)
      .hear(toneSamples({ toneHz: 850, durationMs: 900 }, LINE_RATE_HZ))
      .hush(300);
    expect(called.news[0]).toEqual({ type: 'answered', by: 'machine' });
  });

  it('is answered by a machine whose greeting ends without a beep', () => {
    const called = new Watched();
    called.hear(toneSamples({ toneHz: 300, durationMs: 3000 }, LINE_RATE_HZ));
    called.watch.onSpeech({ type: 'speech.started', atMs: 0 });
    called.hear(toneSamples({ toneHz: 300, durationMs: 1000 }, LINE_RATE_HZ));
    expect(called.news).toEqual([{ type: 'answered', by: 'machine' }]);
    called.watch.onSpeech({ type: 'speech.stopped', atMs: 4000 });
    called.hush(2400);
    expect(called.news).toHaveLength(1);
    called.hush(200);
    expect(called.news[1]).toEqual({ type: 'beep', heard: false });
  });

  it('is answered by a fax machine', () => {
    const { news, watch } = new Watched().hush(500).hear(faxAnswer({ ced: true, reversals: true }));
    expect(news).toEqual([
      { type: 'fax', tone: 'ced' },
      { type: 'answered', by: 'fax' },
    ]);
    expect(watch.by).toBe('fax');
  });
});

describe('a call whose carrier knows who answers', () => {
  it.each([
    ['human', 'person'],
    ['HUMAN', 'person'],
    ['MACHINE', 'machine'],
    ['machine_start', 'machine'],
    ['fax', 'fax'],
    ['NOTSURE', 'unknown'],
  ])('is believed when it says %s', (said, by) => {
    expect(new Watched({}, true, said).news).toEqual([{ type: 'answered', by }]);
    expect(new Watched({ AnsweredBy: said }, false).news).toEqual([{ type: 'answered', by }]);
  });

  it('is believed that the greeting is over', () => {
    const { news } = new Watched({}, true, 'machine_end_beep').hush(3000);
    expect(news).toEqual([
      { type: 'answered', by: 'machine' },
      { type: 'beep', heard: true },
    ]);
  });

  it('still listens for the beep of a machine that has only begun', () => {
    const { news } = new Watched({}, true, 'machine_start').hush(500).hear(BEEP).hush(300);
    expect(news[1]).toEqual({ type: 'beep', heard: true });
  });

  it('is looked at itself where what the carrier says means nothing', () => {
    expect(new Watched({}, true, 'whoever').watch.isAwaited).toBe(true);
  });
});

describe('a call that others make', () => {
  it('is not asked who answers, unless it asks for that', () => {
    const incoming = new Watched({}, false).hush(5000).hear(BEEP).hush(1000);
    expect([incoming.news, incoming.watch.isAwaited]).toEqual([[], false]);
    expect(new Watched({ answeredBy: 'detect' }, false).watch.isAwaited).toBe(true);
    expect(new Watched({ answeredBy: 'off' }).watch.isAwaited).toBe(false);
  });

  it('is one of a fax machine when that is heard, once', () => {
    const { news } = new Watched({}, false).hush(1000).hear(faxCall(3));
    expect(news).toEqual([{ type: 'fax', tone: 'cng' }]);
  });
});
