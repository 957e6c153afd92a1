/** A caller who only listens, and when each frame of what is said reaches them. */
import { systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS, MULAW_8K, msToBytes, msToSamples } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';

const CALL_MAX_MS = 900_000;
const FRAME_BYTES = msToBytes(FRAME_MS, MULAW_8K);

/** How steadily the sound of one utterance came. */
export interface Steadiness {
  /** Ms between two frames, in order. */
  readonly gapsMs: readonly number[];
  /** Times at which a carrier had played everything before the next frame came. */
  readonly dry: number;
  /** Least sound that a carrier had ahead when a frame came, after the first. */
  readonly leastLeadMs: number;
}

/** One call. All times are those of the system clock, in ms. */
export class SpokenCall {
  readonly caller: TwilioCaller;
  readonly #url: string;
  readonly #ended: Promise<unknown>;
  readonly #waiters: { readonly what: 'frame' | 'clear'; readonly resolve: (atMs: number) => void }[] = [];
  #frames: number[] = [];

  /** Calls the gateway at `url`; the call is there when its first frame has been sent. */
  constructor(url: string) {
    this.#url = url;
    this.caller = new TwilioCaller({
      url: `${url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: new Int16Array(msToSamples(CALL_MAX_MS, MULAW_8K.rateHz)) },
      pace: 'realtime',
      clock: systemClock,
      onAudio: (payload) => this.#receive(payload.length / FRAME_BYTES),
      onClear: () => this.#tell('clear'),
    });
    this.#ended = this.caller.run();
  }

  /** When each frame came since the last {@link forget}. */
  get frames(): readonly number[] {
    return this.#frames;
  }

  forget(): void {
    this.#frames = [];
  }

  /** When the next frame comes, or the carrier's buffer is cleared next. */
  next(what: 'frame' | 'clear'): Promise<number> {
    return new Promise((resolve) => this.#waiters.push({ what, resolve }));
  }

  /** `POST /v1/calls/{id}/<verb>`. @throws Error when it is refused. */
  async post(verb: 'say' | 'interrupt', body: object = {}): Promise<void> {
    const url = `${this.#url}/v1/calls/${this.caller.callSid}/${verb}`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${verb} was answered with ${answer.status}: ${text}`);
  }

  async hangUp(): Promise<void> {
    this.caller.hangup();
    await this.#ended;
  }

  #receive(frames: number): void {
    const nowMs = systemClock.nowMs();
    for (let i = 0; i < frames; i++) this.#frames.push(nowMs);
    this.#tell('frame');
  }

  #tell(what: 'frame' | 'clear'): void {
    const told = this.#waiters.filter((waiter) => waiter.what === what);
    for (const waiter of told) {
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.resolve(systemClock.nowMs());
    }
  }
}

/** What a carrier that buffers makes of frames that came at `frames`, if it plays each as soon as it may. */
export function steadinessOf(frames: readonly number[]): Steadiness {
  const gapsMs: number[] = [];
  let dry = 0;
  let leastLeadMs = Number.POSITIVE_INFINITY;
  let playedUntilMs = (frames[0] ?? 0) + FRAME_MS;
  for (const [index, atMs] of frames.entries()) {
    if (index === 0) continue;
    gapsMs.push(atMs - (frames[index - 1] ?? atMs));
    leastLeadMs = Math.min(leastLeadMs, playedUntilMs - atMs);
    if (atMs > playedUntilMs) dry++;
    playedUntilMs = Math.max(playedUntilMs, atMs) + FRAME_MS;
  }
  return { gapsMs, dry, leastLeadMs };
}
