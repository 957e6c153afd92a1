import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { joinSamples } from '../audio/mix.ts';
import { msToSamples } from '../foundation/units.ts';
import { type EndpointDecision, Endpointer, type EndpointerSettings } from './endpointer.ts';
import { SampleRing } from './sample-ring.ts';
import { cutSearch, quietestPoint, type WindowSettings } from './windows.ts';

export type ClipSettings = EndpointerSettings & WindowSettings;

/** Longest stretch of speech without a pause. */
const STRETCH_MAX_MS = 10_000;
/**
 * Longest clip of several stretches, pauses not counted. On speech with pauses (`test/bench/pause-set.ts`) 10 s gave
 * 5.5 % WER, 12 s 5.4, 16 s 4.9; 10 s with the pauses 7.4.
 */
const CLIP_MAX_MS = 16_000;
/** How far back the quietest place is searched. A live caption cannot wait that long; a recording can. */
const CUT_SEARCH_MS = 5000;
/**
 * Stretches of speech with a pause of at most this between them become one clip where it can hold them: the recogniser
 * understands a sentence better together with those around it. The pause is left out, for it loses words at long ones.
 */
const JOIN_PAUSE_MS = 3000;
/** Room for audio that is pushed at once beside an incomplete clip. */
const PUSH_ROOM_MS = 12_000;

/** Samples numbered `from` (inclusive) to `to` (exclusive), counted from the start of the recording at 16 kHz. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A stretch of speech short enough for one job, with what is needed to find the times of its words. */
export interface SpeechClip extends Span {
  readonly samples: Int16Array;
  /** Where speech lies inside it, in order; the pauses lie between. Never empty. */
  readonly speech: readonly Span[];
}

/** A clip of a recording, from its first to its last sample there; the pauses between its stretches are left out. */
export interface RecordedClip extends Span {
  /** What of the recording the clip is made of, in order. */
  readonly parts: readonly Span[];
  /** The parts one behind the other. Its sample numbers count from its own beginning. */
  readonly spliced: SpeechClip;
}

/** Stretches of speech that become one clip. */
interface Held {
  /** Where they lie in the recording, and where their speech lies. */
  readonly stretches: readonly Bounds[];
  readonly samples: readonly Int16Array[];
}

/** A stretch of speech with what lies around it. */
type Bounds = Omit<SpeechClip, 'samples'>;

interface Open {
  readonly from: number;
  readonly speech: Span[];
  /** Start of the speech that goes on; null in a pause. */
  speakingFrom: number | null;
}

/**
 * Cuts a long recording into clips of at most 16 s: in pauses of ENDPOINT_MS or more, where there is none in the
 * quietest place that is near the limit. A clip goes on over short pauses as far as it can. Clips neither overlap nor
 * leave speech out, so their texts join to the whole one. Pure: what comes out depends on the audio and its
 * probabilities alone, not on how they were pushed.
 */
export class ClipCutter {
  readonly #settings: ClipSettings;
  readonly #endpointer: Endpointer;
  readonly #audio: SampleRing;
  readonly #clipMax: number;
  #open: Open | null = null;
  /** Complete, unless what follows can be joined to it. */
  #held: Held | null = null;
  #ready: RecordedClip[] = [];

  constructor(settings: ClipSettings) {
    const stretchMaxMs = Math.min(settings.MAX_UTTERANCE_MS, STRETCH_MAX_MS);
    this.#settings = { ...settings, MAX_UTTERANCE_MS: stretchMaxMs };
    // Whoever allows no long utterances has a reason, of time or of the recogniser's.
    const clipMaxMs = stretchMaxMs < STRETCH_MAX_MS ? stretchMaxMs : CLIP_MAX_MS;
    this.#clipMax = msToSamples(clipMaxMs, ENGINE_RATE_HZ);
    this.#endpointer = new Endpointer(settings);
    this.#audio = new SampleRing(msToSamples(STRETCH_MAX_MS + PUSH_ROOM_MS, ENGINE_RATE_HZ));
  }

  /** No later clip begins before this sample. */
  get openFrom(): number {
    return this.#held?.stretches[0]?.from ?? this.#nextFrom;
  }

  /** What comes after the clip that is held begins here at the earliest. */
  get #nextFrom(): number {
    return this.#open?.from ?? this.#endpointer.earliestStart;
  }

  /**
   * Takes the next audio (whole windows of 512 samples) with one probability for each window; gives the clips that are
   * complete.
   */
  push(samples: Int16Array, probabilities: Float32Array): RecordedClip[] {
    this.#audio.push(samples);
    for (const probability of probabilities) this.#vad(probability);
    return this.#takeReady();
  }

  /** The recording is over; gives its last clips. */
  finish(): RecordedClip[] {
    const stretch = this.#endpointer.close(this.#audio.end);
    if (stretch !== null) this.#end(stretch.to, stretch.speechTo);
    this.#letGo();
    return this.#takeReady();
  }

  #vad(probability: number): void {
    const decision = this.#endpointer.vad(probability);
    if (decision !== null) this.#follow(decision);
    this.#cutIfLong();
    this.#letGoIfAlone();
    this.#audio.release(this.#nextFrom);
  }

  #follow(decision: EndpointDecision): void {
    const open = this.#open;
    if (decision.kind === 'started')
      this.#open = { from: decision.from, speech: [], speakingFrom: decision.speechFrom };
    else if (open === null) return;
    else if (decision.kind === 'ended') this.#end(decision.to, decision.speechTo);
    else if (decision.kind === 'resumed') open.speakingFrom = this.#endpointer.detectedTo - VAD_WINDOW_SAMPLES;
    else if (open.speakingFrom !== null) {
      open.speech.push({ from: open.speakingFrom, to: decision.speechTo });
      open.speakingFrom = null;
    }
  }

  #cutIfLong(): void {
    const open = this.#open;
    if (open === null) return;
    const search = cutSearch(
      { from: open.from, detectedTo: this.#endpointer.detectedTo, step: VAD_WINDOW_SAMPLES },
      this.#settings,
      CUT_SEARCH_MS,
    );
    if (search === null) return;
    if (open.speakingFrom === null) {
      const stretch = this.#endpointer.close(this.#endpointer.detectedTo);
      if (stretch !== null) this.#end(stretch.to, stretch.speechTo);
      return;
    }
    const audio = this.#audio.slice(search.from, search.to);
    const at = search.from + quietestPoint(audio, (offset) => this.#endpointer.probabilityAt(search.from + offset));
    const after = open.speech.filter((span) => span.to > at);
    this.#end(at, at);
    this.#endpointer.cut(at);
    const later = after.map((span) => ({ from: Math.max(span.from, at), to: span.to }));
    this.#open = { from: at, speech: later, speakingFrom: Math.max(open.speakingFrom, at) };
  }

  /** Completes the clip that is open; nothing of it is speech after `speechTo`. */
  #end(to: number, speechTo: number): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    const last = open.speakingFrom === null ? [] : [{ from: open.speakingFrom, to: speechTo }];
    const speech = [...open.speech, ...last]
      .map((span) => ({ from: span.from, to: Math.min(span.to, to) }))
      .filter((span) => span.to > span.from);
    // A forced cut may fall behind the last word: then no speech is left.
    if (speech.length > 0) this.#hold({ from: open.from, to, speech });
  }

  #hold(next: Bounds): void {
    if (this.#held !== null && !this.#canJoin(this.#held, next)) this.#letGo();
    const { stretches, samples } = this.#held ?? { stretches: [], samples: [] };
    this.#held = {
      stretches: [...stretches, next],
      samples: [...samples, this.#audio.slice(next.from, next.to)],
    };
  }

  #canJoin({ stretches, samples }: Held, { from, to }: Span): boolean {
    const pause = from - (stretches.at(-1)?.to ?? from);
    const length = samples.reduce((sum, part) => sum + part.length, to - from);
    return pause <= msToSamples(JOIN_PAUSE_MS, ENGINE_RATE_HZ) && length <= this.#clipMax;
  }

  /** As soon as it is known that nothing can be joined to what is held. */
  #letGoIfAlone(): void {
    const to = this.#open === null ? this.#nextFrom : this.#endpointer.speechTo;
    if (this.#held !== null && !this.#canJoin(this.#held, { from: this.#nextFrom, to })) this.#letGo();
  }

  #letGo(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#ready.push(toClip(held));
  }

  #takeReady(): RecordedClip[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }
}

function toClip({ stretches, samples }: Held): RecordedClip {
  const whole = joinSamples(samples);
  let at = 0;
  const speech = stretches.flatMap(({ from, to, speech: spans }) => {
    const moved = spans.map((span) => ({ from: span.from - from + at, to: span.to - from + at }));
    at += to - from;
    return moved;
  });
  return {
    from: stretches[0]?.from ?? 0,
    to: stretches.at(-1)?.to ?? 0,
    parts: stretches.map(({ from, to }) => ({ from, to })),
    spliced: { from: 0, to: whole.length, samples: whole, speech },
  };
}
