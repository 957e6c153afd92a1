/** The metrics of recorded sound. */
import type { MetricMaker } from './metric-maker.ts';

/** `metrics.records.sound` */
export class SoundMetrics {
  readonly calls;
  readonly bytes;
  readonly stopped;

  constructor(make: MetricMaker) {
    this.calls = make.gauge('trunkline_sound_calls', 'Calls whose sound is being written to disk', []);
    this.bytes = make.counter('trunkline_sound_written_bytes_total', 'Bytes of sound that were written', []);
    this.stopped = make.counter(
      'trunkline_sound_stopped_total',
      'Times that the recording of a call stopped against its will, by why',
      ['reason'],
    );
  }
}
