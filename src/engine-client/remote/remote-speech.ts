/** Lines that the servers of TTS_URL speak. */
import type { VoiceInfo } from '../../../engine/contract.ts';
import { joinSamples } from '../../audio/mix.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { anyOf } from '../answer.ts';
import { type Engine, EngineError, type SpeakRequest, type Speech } from '../engine.ts';
import type { ServerReport } from '../engine-report.ts';
import { REMOTE_VOICE, type RemoteSpeaker } from './remote-speaker.ts';

/** A line that nobody waits for is given up when it has not begun by then. */
const BEGIN_MAX_MS = 30_000;

type OnSound = NonNullable<SpeakRequest['onSound']>;

interface RemoteSpeechOptions {
  readonly embedded: Pick<Engine, 'speak' | 'voices'>;
  readonly speakers: readonly RemoteSpeaker[];
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * Has a server speak; where it has not begun in time, an embedded voice of the same language speaks the line. Once a
 * sound was heard nobody else takes over: that would be heard as well.
 */
export class RemoteSpeech {
  readonly #options: RemoteSpeechOptions;

  constructor(options: RemoteSpeechOptions) {
    this.#options = options;
  }

  /** The servers' voices first: who names servers wants to hear them. */
  get voices(): readonly VoiceInfo[] {
    const { embedded, speakers } = this.#options;
    if (embedded.voices.length === 0) return [];
    const remote = new Map(speakers.flatMap(({ voices }) => voices).map((voice) => [voice.name, voice]));
    return [...remote.values(), ...embedded.voices];
  }

  get reports(): ServerReport[] {
    return this.#options.speakers.map(({ report }) => report);
  }

  /** @throws EngineError as {@link Engine.speak} does */
  async speak(request: SpeakRequest): Promise<Speech> {
    const { embedded } = this.#options;
    if (!request.voice.startsWith(REMOTE_VOICE)) return embedded.speak(request);
    if (request.signal?.aborted) throw new EngineError('cancelled', 'the job was cancelled before it was sent');
    const speaker = this.#choose(request);
    if (speaker !== null) return new RemoteLine(request, speaker, this.#options).speak();
    const standIn = findStandIn(request, this.#options);
    if (standIn === null) throw new EngineError('unavailable', 'no server of TTS_URL can take the line');
    this.#options.metrics.speakers.works.inc({ backend: 'embedded', reason: 'down' });
    return { ...(await embedded.speak({ ...request, voice: standIn })), isStandIn: true };
  }

  close(): void {
    for (const speaker of this.#options.speakers) speaker.close();
  }

  #choose({ voice, urgency }: SpeakRequest): RemoteSpeaker | null {
    const free = this.#options.speakers.filter(
      (speaker) => speaker.admits(urgency === 'batch') && speaker.voices.some(({ name }) => name === voice),
    );
    return free.sort((a, b) => a.rank - b.rank)[0] ?? null;
  }
}

/** The embedded voice that speaks in the place of another server's; null = none speaks its language. */
function findStandIn({ voice }: SpeakRequest, { embedded, speakers }: RemoteSpeechOptions): string | null {
  const wanted = speakers.flatMap(({ voices }) => voices).find(({ name }) => name === voice);
  const languageOf = (info: VoiceInfo | undefined) => info?.language.split('-', 1)[0]?.toLowerCase();
  return embedded.voices.find((other) => languageOf(other) === languageOf(wanted))?.name ?? null;
}

/** One line that a server speaks, or an embedded voice instead: whichever is heard first. */
class RemoteLine {
  readonly #request: SpeakRequest;
  readonly #speaker: RemoteSpeaker;
  readonly #options: RemoteSpeechOptions;
  readonly #giveUp = { remote: new AbortController(), embedded: new AbortController() };
  /** Who was heard first. */
  #heard: 'remote' | 'embedded' | null = null;
  #isWaitedFor = false;
  #standIn: Promise<Speech> | null = null;

  constructor(request: SpeakRequest, speaker: RemoteSpeaker, options: RemoteSpeechOptions) {
    this.#request = request;
    this.#speaker = speaker;
    this.#options = options;
  }

  async speak(): Promise<Speech> {
    const { clock } = this.#options;
    const { urgency, hurry } = this.#request;
    const { hedgeMs } = this.#speaker;
    const remote = this.#speakThere(urgency === 'speak' ? hedgeMs : BEGIN_MAX_MS);
    return new Promise((resolve, reject) => {
      const timers = [clock.after(BEGIN_MAX_MS, () => this.#expire())];
      const hedge = (): void => {
        this.#isWaitedFor = true;
        timers.push(clock.after(hedgeMs, () => void this.#standInOr('hedge').then(resolve, () => undefined)));
      };
      if (urgency === 'speak' || hurry?.aborted) hedge();
      else hurry?.addEventListener('abort', hedge, { once: true });
      remote
        .catch(() => this.#standInOr('failed'))
        .then(resolve, reject)
        .finally(() => {
          for (const timer of timers) timer.cancel();
          hurry?.removeEventListener('abort', hedge);
        });
    });
  }

  /** What the server speaks; never resolves with it where the other one was heard first. */
  async #speakThere(lateMs: number): Promise<Speech> {
    const { signal } = this.#giveUp.remote;
    const whole: Int16Array[] = [];
    const onSound: OnSound = (samples, rateHz) => {
      if (!this.#claim('remote')) return;
      if (this.#request.onSound === undefined) whole.push(samples);
      else this.#request.onSound(samples, rateHz);
    };
    const terms = { signal: anyOf(this.#request.signal, signal), lateMs, onSound };
    const speech = await this.#speaker.speak(this.#request, terms);
    if (this.#heard === 'embedded') throw new EngineError('cancelled', 'another voice was first');
    this.#options.metrics.speakers.works.inc({ backend: this.#speaker.name, reason: 'asked' });
    return whole.length === 0 ? speech : { ...speech, samples: joinSamples(whole) };
  }

  /** What an embedded voice speaks instead; begun once, and not where nobody waits for the line. */
  #standInOr(reason: 'hedge' | 'failed'): Promise<Speech> {
    if (this.#request.signal?.aborted) return Promise.reject(new EngineError('cancelled', 'the request was aborted'));
    const voice = findStandIn(this.#request, this.#options);
    if (this.#heard === 'remote' || voice === null || !this.#isWaitedFor)
      return Promise.reject(new EngineError('unavailable', `${this.#speaker.name} did not speak the line`));
    this.#standIn ??= this.#speakHere(voice, reason);
    return this.#standIn;
  }

  /** A sound that has begun is looked after by the speaker. */
  #expire(): void {
    if (this.#heard === null) this.#giveUp.remote.abort();
  }

  async #speakHere(voice: string, reason: string): Promise<Speech> {
    const { onSound, signal } = this.#request;
    const speech = await this.#options.embedded.speak({
      ...this.#request,
      voice,
      signal: anyOf(signal, this.#giveUp.embedded.signal),
      ...(onSound !== undefined && {
        onSound: (samples: Int16Array, rateHz: number) => {
          if (this.#claim('embedded')) onSound(samples, rateHz);
        },
      }),
    });
    if (!this.#claim('embedded')) throw new EngineError('cancelled', 'the server was first');
    this.#options.metrics.speakers.works.inc({ backend: 'embedded', reason });
    return { ...speech, isStandIn: true };
  }

  /** Whether `who` is the one that is heard; the other one is given up. */
  #claim(who: 'remote' | 'embedded'): boolean {
    if (this.#heard === null) {
      this.#heard = who;
      this.#giveUp[who === 'remote' ? 'embedded' : 'remote'].abort();
    }
    return this.#heard === who;
  }
}
