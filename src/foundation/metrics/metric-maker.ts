/** Makes metrics in one registry, so that the file of each topic reads as a list of its metrics. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Buckets for what takes milliseconds, in seconds. */
export const SHORT_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
/** Buckets for what people wait for in a conversation, in seconds. */
export const LAG_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 5];

/** Makes metrics and registers them in the order in which they are made. */
export class MetricMaker {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  counter<T extends string>(name: string, help: string, labelNames: readonly T[]): Counter<T> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }

  /** A counter of what others count: `add` adds their totals to 0. */
  totalCounter<T extends string>(
    name: string,
    help: string,
    labelNames: readonly T[],
    add: (counter: Counter<T>) => void,
  ): Counter<T> {
    const counter: Counter<T> = new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        add(counter);
      },
    });
    return counter;
  }

  gauge<T extends string>(name: string, help: string, labelNames: readonly T[]): Gauge<T> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }

  /** A gauge of what `watch` is given, 0 until then, asked for whenever the gauge is read. */
  measured(name: string, help: string): { watch(read: () => number): void } {
    let measure = () => 0;
    this.watchedGauge(name, help, [], (gauge) => gauge.set(measure()));
    return {
      watch: (read) => {
        measure = read;
      },
    };
  }

  /** A gauge that `measure` sets whenever it is read. */
  watchedGauge<T extends string>(
    name: string,
    help: string,
    labelNames: readonly T[],
    measure: (gauge: Gauge<T>) => void,
  ): void {
    const gauge: Gauge<T> = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      collect: () => measure(gauge),
    });
  }

  histogram<T extends string>(name: string, help: string, labelNames: readonly T[], buckets: number[]): Histogram<T> {
    return new Histogram({ name, help, labelNames: [...labelNames], buckets, registers: [this.#registry] });
  }
}
