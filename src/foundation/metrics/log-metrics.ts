/** What became of the lines of the log. */
import type { LogState } from '../log/log.ts';
import type { MetricMaker } from './metric-maker.ts';

/** Reads the state of the log whenever the metrics are asked for. */
export class LogMetrics {
  #read: () => LogState = () => ({ linesLost: 0, errors: new Map(), lines: new Map() });

  constructor(make: MetricMaker) {
    make.totalCounter('trunkline_log_lines_lost_total', 'Log lines that could not be written', [], (counter) =>
      counter.inc(this.#read().linesLost),
    );
    make.totalCounter('trunkline_log_errors_total', 'Failed attempts to write the log', ['code'], (counter) => {
      for (const [code, count] of this.#read().errors) counter.inc({ code }, count);
    });
    make.totalCounter('trunkline_log_lines_total', 'Log lines that tell of trouble, by level', ['level'], (counter) => {
      for (const [level, count] of this.#read().lines) counter.inc({ level }, count);
    });
  }

  /** Has `read` asked from now on. */
  watch(read: () => LogState): void {
    this.#read = read;
  }
}
