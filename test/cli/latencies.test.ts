import { describe, expect, it } from 'vitest';
import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import { LatencyMeter, quantile, sumOfMetric } from '../../src/cli/latencies.ts';

const caption = (over: Partial<CaptionEvent>): CaptionEvent => ({
  type: 'caption',
  callId: 'CA1',
  track: 'inbound',
  utterance: 1,
  stable: '',
  tail: 'yes',
  text: 'yes',
  final: false,
  startMs: 1000,
  endMs: 1400,
  lagMs: 50,
  ...over,
});

describe('a quantile', () => {
  it('is the nearest rank', () => {
    expect(quantile([40, 10, 30, 20], 0.5)).toBe(20);
    expect(quantile([40, 10, 30, 20], 0.95)).toBe(40);
    expect(quantile([7], 0.5)).toBe(7);
    expect(quantile([], 0.5)).toBeNull();
  });
});

describe('measuring the latencies of a call', () => {
  const POST_ROLL_MS = 100;
  const stopped = { type: 'speech.stopped', callId: 'CA1', track: 'inbound', atMs: 1400 } as const;

  it('counts the first caption from the start of speech, each partial by its lag, and the final from the end of speech', () => {
    const meter = new LatencyMeter({ POST_ROLL_MS });
    meter.note(
      {
        type: 'call.started',
        callId: 'CA1',
        carrier: 'twilio',
        from: null,
        to: null,
        startedAt: '',
        tracks: ['inbound'],
        names: { inbound: null, outbound: null },
        agent: null,
        queue: null,
        app: null,
      },
      10_000,
    );
    meter.note({ ...stopped, type: 'speech.started', atMs: 1000 }, 11_100);
    meter.note(caption({ lagMs: 50 }), 11_450);
    meter.note(caption({ lagMs: 70 }), 11_850);
    meter.note(stopped, 12_300);
    meter.note(caption({ final: true, lagMs: 306 }), 12_300);
    expect(meter.latencies).toEqual({ firstPartial: [450], partialLag: [50, 70], speechToFinal: [406] });
  });

  it('leaves out the final of a forced cut, after which nobody stopped', () => {
    const meter = new LatencyMeter({ POST_ROLL_MS });
    meter.note(caption({ final: true }), 500);
    meter.note({ ...stopped, atMs: 900 }, 600);
    meter.note(caption({ final: true, utterance: 2 }), 700);
    expect(meter.latencies.speechToFinal).toEqual([]);
  });

  it('keeps the tracks apart', () => {
    const meter = new LatencyMeter({ POST_ROLL_MS });
    meter.note({ ...stopped, track: 'outbound' }, 100);
    meter.note(caption({ final: true, track: 'inbound' }), 500);
    meter.note(caption({ final: true, track: 'outbound', lagMs: 310 }), 600);
    expect(meter.latencies.speechToFinal).toEqual([410]);
  });
});

describe('reading a page of metrics', () => {
  it('adds the samples of one name up, whatever their labels', () => {
    const page =
      '# HELP run_sum x\nrun_sum{urgency="final"} 1.5\nrun_sum{urgency="partial"} 2\nrun_sum_other 9\nplain 3\n';
    expect(sumOfMetric(page, 'run_sum')).toBe(3.5);
    expect(sumOfMetric(page, 'plain')).toBe(3);
    expect(sumOfMetric(page, 'missing')).toBe(0);
  });
});
