/** How fast a call's captions came, as a reader of the feed sees it. */
import type { CaptionEvent, FeedEvent } from '../calls/events.ts';
import type { Settings } from '../settings.ts';

/** The value below which `share` (0–1) of `values` lie, by nearest rank; null = no values. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? null;
}

/** What was measured, in ms, one value for each utterance or caption. */
export interface Latencies {
  /** From the start of speech to its first caption. Means nothing for a call faster than real time. */
  readonly firstPartial: readonly number[];
  /** From the arrival of the last audio used to the partial caption. */
  readonly partialLag: readonly number[];
  /** From the endpoint (silence held) to the final caption. */
  readonly endpointToFinal: readonly number[];
}

/** Collects latencies from the events of one call, each with the ms at which it was received on one clock. */
export class LatencyMeter {
  readonly #firstPartial: number[] = [];
  readonly #partialLag: number[] = [];
  readonly #endpointToFinal: number[] = [];
  /** Utterances that have shown a caption, by track. */
  readonly #shown = new Set<string>();
  /** Endpoints whose final has not come, by track. */
  readonly #endpoints = new Map<string, number>();
  #startedMs: number | null = null;

  note(event: FeedEvent, receivedMs: number): void {
    if (event.type === 'call.started') this.#startedMs = receivedMs;
    if (event.type === 'speech.started') this.#endpoints.delete(event.track);
    if (event.type === 'speech.stopped') this.#endpoints.set(event.track, receivedMs);
    if (event.type !== 'caption') return;
    const utterance = `${event.track} ${event.utterance}`;
    if (!this.#shown.has(utterance) && this.#startedMs !== null) this.#firstPartial.push(receivedMs - this.#startedMs - event.startMs);
    this.#shown.add(utterance);
    if (!event.final) {
      this.#partialLag.push(event.lagMs);
      return;
    }
    const endpointMs = this.#endpoints.get(event.track);
    this.#endpoints.delete(event.track);
    // A forced cut has no endpoint.
    if (endpointMs !== undefined) this.#endpointToFinal.push(receivedMs - endpointMs);
  }

  get latencies(): Latencies {
    return { firstPartial: this.#firstPartial, partialLag: this.#partialLag, endpointToFinal: this.#endpointToFinal };
  }
}

/** How late the captions of many calls were, in ms, one value for each. */
export interface CaptionLags {
  /** From the end of speech to the final caption, beyond the endpoint silence. */
  readonly lateMs: readonly number[];
  /** Finals of speech that was cut because it was too long: from the sound at the cut to the final. */
  readonly cutLagMs: readonly number[];
  readonly partialLagMs: readonly number[];
}

/** How late the captions among `events` were, by what the gateway with these settings says of them. */
export function lagsOf(events: readonly FeedEvent[], settings: Pick<Settings, 'ENDPOINT_MS' | 'POST_ROLL_MS'>): CaptionLags {
  const captions = events.filter((event): event is CaptionEvent => event.type === 'caption');
  const stops = new Set(
    events.flatMap((event) => (event.type === 'speech.stopped' ? [`${event.callId} ${event.track} ${event.atMs}`] : [])),
  );
  const finals = captions.filter(({ final }) => final);
  const isAtEndpoint = ({ callId, track, endMs }: CaptionEvent) => stops.has(`${callId} ${track} ${endMs}`);
  return {
    lateMs: finals.filter(isAtEndpoint).map(({ lagMs }) => lagMs + settings.POST_ROLL_MS - settings.ENDPOINT_MS),
    cutLagMs: finals.filter((final) => !isAtEndpoint(final)).map(({ lagMs }) => lagMs),
    partialLagMs: captions.filter(({ final }) => !final).map(({ lagMs }) => lagMs),
  };
}

/** The sum of all samples of `name` in a page of Prometheus metrics, whatever their labels. */
export function sumOfMetric(page: string, name: string): number {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
