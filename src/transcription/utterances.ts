import type { Clock } from '../clock.ts';
import type { Arrivals } from './arrivals.ts';
import type { Captions, EarEvent, UtteranceCaptions } from './captions.ts';
import type { Decoder } from './decoder.ts';
import type { Stretch } from './gate.ts';
import type { SampleRing } from './ring.ts';
import type { Hypothesis } from './stitch.ts';
import { type FinalHow, type Outcome, Utterance } from './utterance.ts';
import type { WindowSettings } from './windows.ts';

/** Where an ear counts. Lags are wall ms. */
export interface EarMetrics {
  /** A partial caption was emitted, `lagMs` after the last audio used had arrived. */
  partial(lagMs: number): void;
  /** A final caption was emitted, `lagMs` after its end was decided. */
  final(how: FinalHow, lagMs: number): void;
  /** A partial window was replaced by a newer one or given up. */
  partialDropped(): void;
}

interface UtterancesOptions {
  readonly audio: SampleRing;
  readonly arrivals: Arrivals;
  readonly decoder: Decoder;
  readonly captions: Captions;
  readonly clock: Clock;
  readonly settings: WindowSettings;
  readonly metrics: EarMetrics;
  readonly showPartials: boolean;
  readonly emit: (event: EarEvent) => void;
  /** One final less is pending. */
  readonly onDelivered: () => void;
}

interface Entry {
  readonly utterance: Utterance;
  readonly captions: UtteranceCaptions;
}

/** A track's utterances: at most one running, and those that are over but whose final is not out. Finals leave in order. */
export class Utterances {
  readonly #options: UtterancesOptions;
  readonly #pending = new Set<Utterance>();
  #running: Entry | null = null;
  #delivered: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: UtterancesOptions) {
    this.#options = options;
  }

  /** The utterance that is being spoken. */
  get running(): Utterance | null {
    return this.#running?.utterance ?? null;
  }

  /** Utterances that are over and whose final is not out. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Begins an utterance at sample number `from`, its speech at `speechFrom`. */
  open(from: number, speechFrom: number): void {
    const captions = this.#options.captions.open(speechFrom);
    const { audio, decoder, clock, settings, metrics } = this.#options;
    const utterance = new Utterance({
      ...{ from, speechFrom, audio, decoder, clock, settings },
      onHeard: (hypothesis, stretch) => this.#show(captions, hypothesis, stretch),
      onPartialDropped: () => metrics.partialDropped(),
    });
    this.#running = { utterance, captions };
  }

  /** The running utterance is over; its final follows when it is decoded and those before it are out. */
  finish(stretch: Stretch): void {
    const entry = this.#running;
    this.#running = null;
    if (entry === null) return;
    if (stretch.speechTo <= entry.utterance.from && !entry.captions.shown) {
      // A forced cut fell into what proved to be the last pause: nothing is left to say.
      entry.utterance.close();
      return;
    }
    const decidedMs = this.#options.clock.nowMs();
    const outcome = entry.utterance.finish(stretch);
    this.#pending.add(entry.utterance);
    this.#delivered = this.#delivered.then(async () => this.#deliver(entry, stretch, decidedMs, await outcome));
  }

  /** Resolves when every final decided so far is out or given up. */
  delivered(): Promise<void> {
    return this.#delivered;
  }

  /** Gives up all of them. */
  close(): void {
    this.#closed = true;
    this.#running?.utterance.close();
    for (const utterance of this.#pending) utterance.close();
  }

  #show(captions: UtteranceCaptions, hypothesis: Hypothesis, stretch: Stretch): void {
    const { showPartials, clock, arrivals, emit, metrics } = this.#options;
    if (!showPartials || this.#closed) return;
    const lagMs = clock.nowMs() - arrivals.at(stretch.to);
    const caption = captions.partial(hypothesis, stretch.speechTo, lagMs);
    if (caption === null) return;
    metrics.partial(lagMs);
    emit(caption);
  }

  #deliver({ utterance, captions }: Entry, stretch: Stretch, decidedMs: number, outcome: Outcome | null): void {
    this.#pending.delete(utterance);
    if (outcome === null || this.#closed) return;
    const { clock, arrivals, emit, metrics, onDelivered } = this.#options;
    const nowMs = clock.nowMs();
    const caption = captions.final(outcome.hypothesis, stretch.speechTo, nowMs - arrivals.at(stretch.to));
    if (caption !== null) {
      metrics.final(outcome.how, nowMs - decidedMs);
      emit(caption);
    }
    onDelivered();
  }
}
