/** Measures the latencies of captions as a reader of the feed sees them. */
import type { CaptionEvent, FeedEvent } from '../calls/feed/events.ts';
import type { Settings } from '../foundation/settings/settings.ts';

/** The value below which `share` (0–1) of `values` lie, by nearest rank; null = no values. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? null;
}

/** Latencies in ms, one value for each utterance or caption. */
export interface Latencies {
  /** From the start of speech to its first caption. Not meaningful for a call faster than real time. */
  readonly firstPartial: readonly number[];
  /** From the arrival of the last audio used to the partial caption. */
  readonly partialLag: readonly number[];
  /**
   * From the end of speech to its final caption, including the silence that ends the utterance (ENDPOINT_CAPTIONS_MS).
   */
  readonly speechToFinal: readonly number[];
}

/** Collects latencies from the events of one call, each with the ms at which it was received on one clock. */
export class LatencyMeter {
  readonly #postRollMs: number;
  readonly #firstPartial: number[] = [];
  readonly #partialLag: number[] = [];
  readonly #speechToFinal: number[] = [];
  /** Utterances that have a caption, by track. */
  readonly #shown = new Set<string>();
  /** When speech last stopped, by track, in ms of the call. */
  readonly #stops = new Map<string, number>();
  #startedMs: number | null = null;

  /** For a gateway with these settings: an utterance is read with POST_ROLL_MS of what follows it. */
  constructor({ POST_ROLL_MS }: Pick<Settings, 'POST_ROLL_MS'>) {
    this.#postRollMs = POST_ROLL_MS;
  }

  note(event: FeedEvent, receivedMs: number): void {
    if (event.type === 'call.started') this.#startedMs = receivedMs;
    if (event.type === 'speech.stopped') this.#stops.set(event.track, event.atMs);
    if (event.type !== 'caption') return;
    const utterance = `${event.track} ${event.utterance}`;
    if (!this.#shown.has(utterance) && this.#startedMs !== null)
      this.#firstPartial.push(receivedMs - this.#startedMs - event.startMs);
    this.#shown.add(utterance);
    if (!event.final) this.#partialLag.push(event.lagMs);
    // At a forced cut speech goes on.
    else if (this.#stops.get(event.track) === event.endMs) this.#speechToFinal.push(event.lagMs + this.#postRollMs);
  }

  get latencies(): Latencies {
    return { firstPartial: this.#firstPartial, partialLag: this.#partialLag, speechToFinal: this.#speechToFinal };
  }
}

/** Lags of the captions of many calls in ms, one value for each caption. */
export interface CaptionLags {
  /** From the end of speech to the final caption, beyond the endpoint silence. */
  readonly lateMs: readonly number[];
  /** Finals of speech that was cut because it was too long: from the sound at the cut to the final. */
  readonly cutLagMs: readonly number[];
  readonly partialLagMs: readonly number[];
}

/** The lags of the captions in `events`, as the gateway with these settings reports them. */
export function lagsOf(
  events: readonly FeedEvent[],
  settings: Pick<Settings, 'ENDPOINT_CAPTIONS_MS' | 'POST_ROLL_MS'>,
): CaptionLags {
  const captions = events.filter((event): event is CaptionEvent => event.type === 'caption');
  const stops = new Set(
    events.flatMap((event) =>
      event.type === 'speech.stopped' ? [`${event.callId} ${event.track} ${event.atMs}`] : [],
    ),
  );
  const finals = captions.filter(({ final }) => final);
  const isAtEndpoint = ({ callId, track, endMs }: CaptionEvent) => stops.has(`${callId} ${track} ${endMs}`);
  return {
    lateMs: finals
      .filter(isAtEndpoint)
      .map(({ lagMs }) => lagMs + settings.POST_ROLL_MS - settings.ENDPOINT_CAPTIONS_MS),
    cutLagMs: finals.filter((final) => !isAtEndpoint(final)).map(({ lagMs }) => lagMs),
    partialLagMs: captions.filter(({ final }) => !final).map(({ lagMs }) => lagMs),
  };
}

/** The sum of the samples of `name` in a page of Prometheus metrics, over all labels. */
export function sumOfMetric(page: string, name: string): number {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
