/** A whole gateway, what callers say to it in tones, and what its feed has to say of that. */
import { expect } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import type { CaptionEvent, FeedEvent, RevisionEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { type CallOptions, TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { eventually } from '../helpers/eventually.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

const RATE_HZ = 8000;
const WORD_MS = 200;

const silence = (ms: number) => new Int16Array((ms * RATE_HZ) / 1000);

/** Digits of the pretend recognisers, with silence behind them: 8 kHz. */
export function say(digits: readonly number[], silentMs = 1500): number[] {
  const words = digits.flatMap((digit) =>
    Array.from({ length: (WORD_MS * RATE_HZ) / 1000 }, (_, i) =>
      Math.round(8000 * Math.sin((2 * Math.PI * (400 + 200 * digit) * i) / RATE_HZ)),
    ),
  );
  return [...words, ...silence(silentMs)];
}

type Caption = Omit<CaptionEvent, 'callId'>;

/** The captions of each utterance of one track, in their order. */
function utterancesOf(events: readonly FeedEvent[]): Map<number, Caption[]> {
  const found = new Map<number, Caption[]>();
  for (const event of events)
    if (event.type === 'caption') found.set(event.utterance, [...(found.get(event.utterance) ?? []), event]);
  return found;
}

/** Fails unless partials, finals and revisions of a call of one track are as docs/reference/events.md says. */
export function expectAsDescribed(events: readonly FeedEvent[]): void {
  for (const captions of utterancesOf(events).values()) expectUtterance(captions);
  const finals = events.filter((event): event is CaptionEvent => event.type === 'caption' && event.final);
  const numbers = finals.map(({ utterance }) => utterance);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  const versions = new Map<number, number>();
  for (const revision of events.filter((event): event is RevisionEvent => event.type === 'revision')) {
    const { utterance, version, startMs, endMs } = revision;
    const final = finals.find((each) => each.utterance === utterance);
    expect(final).toMatchObject({ startMs, endMs });
    expect(events.indexOf(revision)).toBeGreaterThan(events.indexOf(final as FeedEvent));
    expect(version).toBe((versions.get(utterance) ?? 1) + 1);
    versions.set(utterance, version);
  }
}

function expectUtterance(captions: readonly Caption[]): void {
  const final = captions.at(-1);
  expect(captions.map((caption) => caption.final)).toEqual(captions.map((caption) => caption === final));
  for (const [index, { stable, tail, text, startMs, endMs, lagMs }] of captions.entries()) {
    const before = captions[index - 1];
    expect(stable.startsWith(before?.stable ?? '')).toBe(true);
    if (captions[index] !== final) expect(stable + tail).toBe(text);
    expect(startMs).toBe(captions[0]?.startMs);
    expect(endMs).toBeGreaterThanOrEqual(before?.endMs ?? startMs);
    expect(lagMs).toBeGreaterThanOrEqual(0);
  }
  expect(final).toMatchObject({ tail: '' });
}

/** A gateway with a pretend voice detector, whose recognisers `environment` names. */
export class RecogniserCalls {
  readonly gateway: GatewayProcess;
  readonly feed: FeedReader;

  private constructor(gateway: GatewayProcess, feed: FeedReader) {
    this.gateway = gateway;
    this.feed = feed;
  }

  static async open(environment: Readonly<Record<string, string>>): Promise<RecogniserCalls> {
    const gateway = await startGateway({ VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1', ...environment });
    return new RecogniserCalls(gateway, await readFeed(gateway.url));
  }

  /** Resolves when the model `name` is loaded, with what `GET /v1/models/{name}` says of it. */
  async ready(name: string): Promise<Readonly<Record<string, unknown>>> {
    await eventually(async () => expect(await this.#json(`/v1/models/${name}`)).toHaveProperty('abilities'));
    return this.#json(`/v1/models/${name}`);
  }

  /** A caller who says `samples` in real time, after a short silence. */
  caller(samples: readonly number[], options: Partial<CallOptions> = {}): TwilioCaller {
    return new TwilioCaller({
      url: `${this.gateway.url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: Int16Array.from([...silence(300), ...samples]) },
      pace: 'realtime',
      clock: systemClock,
      callSid: 'CAtones',
      ...options,
    });
  }

  /** Speaks into a call; resolves with its events when it is over. */
  async call(samples: readonly number[], options: Partial<CallOptions> = {}): Promise<readonly FeedEvent[]> {
    const caller = this.caller(samples, options);
    await caller.run();
    return this.endOf(caller);
  }

  /** All events of a call, when it has ended. */
  async endOf({ callSid }: Pick<TwilioCaller, 'callSid'>): Promise<readonly FeedEvent[]> {
    await this.feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
    return this.feed.events.filter((event) => 'callId' in event && event.callId === callSid);
  }

  /** Transcribes a recording of `samples`, with these fields of the form. */
  async transcribe(samples: readonly number[], fields: Readonly<Record<string, string>> = {}) {
    const form = new FormData();
    form.set('file', new Blob([writeWav([Int16Array.from(samples)], RATE_HZ)]), 'a.wav');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const answer = await fetch(`${this.gateway.url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  }

  /** Changes a call: the status, and what was answered. */
  async change(callId: string, payload: object) {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'PATCH', headers, body: JSON.stringify(payload) };
    const answer = await fetch(`${this.gateway.url}/v1/calls/${callId}`, request);
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  }

  /** Process ids of the engines, those with the recogniser of finals last. */
  async enginePids(): Promise<number[]> {
    const { engines } = (await this.#json('/v1/system')) as { engines: { pid: number | null }[] };
    return engines.flatMap(({ pid }) => pid ?? []);
  }

  /** How many finals the recogniser of partials read in place of the other one. */
  async fallbacks(): Promise<number> {
    const lines = (await this.gateway.metrics()).match(/^trunkline_final_fallbacks_total\{.*$/gm) ?? [];
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async close(): Promise<void> {
    this.feed.close();
    await this.gateway.stop();
  }

  async #json(path: string): Promise<Readonly<Record<string, unknown>>> {
    return (await (await fetch(`${this.gateway.url}${path}`)).json()) as Readonly<Record<string, unknown>>;
  }
}

/** Texts of finals, of partials, and of revisions. */
export const finalsOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'caption' && event.final ? event.text : []));
export const partialsOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'caption' && !event.final ? event.text : []));
export const revisionsOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'revision' ? event.text : []));
