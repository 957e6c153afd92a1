import { VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { Endpointer, type EndpointerSettings, type Stretch } from './endpointer.ts';

/** Who is told of it. */
export interface BackgroundListener {
  /** It begins at sample number `from`, its speech at `speechFrom`. */
  onStarted(from: number, speechFrom: number): void;
  onEnded(stretch: Stretch): void;
}

/** Utterances of others than the caller: whatever is said while he does not speak. */
export class BackgroundSpeech {
  readonly #endpointer: Endpointer;
  readonly #listener: BackgroundListener;

  constructor(settings: EndpointerSettings, listener: BackgroundListener) {
    this.#endpointer = new Endpointer(settings);
    this.#listener = listener;
  }

  /** The earliest sample that an utterance not yet begun may begin with. */
  get earliestStart(): number {
    return this.#endpointer.earliestStart;
  }

  /** The caller does not speak in the next window, with this probability of speech (0–1). */
  vad(probability: number): void {
    const decision = this.#endpointer.vad(probability);
    if (decision?.kind === 'started') this.#listener.onStarted(decision.from, decision.speechFrom);
    else if (decision?.kind === 'ended') this.#listener.onEnded(decision);
  }

  /** The caller begins at sample number `at`: what others have said ends there. */
  yieldAt(at: number): void {
    const stretch = this.#endpointer.close(at);
    if (stretch !== null) this.#listener.onEnded(stretch);
  }

  /** The caller's utterance has ended at sample number `from`, as it turned out when `caller` had examined more. */
  resume(from: number, caller: Pick<Endpointer, 'detectedTo' | 'probabilityAt' | 'rememberedFrom'>): void {
    this.skipTo(Math.max(Math.ceil(from / VAD_WINDOW_SAMPLES) * VAD_WINDOW_SAMPLES, caller.rememberedFrom));
    for (let at = this.#endpointer.detectedTo; at < caller.detectedTo; at += VAD_WINDOW_SAMPLES)
      this.vad(caller.probabilityAt(at));
  }

  /** The running utterance is cut in two at sample number `at`; speech goes on. */
  cut(at: number): void {
    this.#endpointer.cut(at);
  }

  /** The audio up to sample number `to`, where a window begins, is not examined. Nothing may be running. */
  skipTo(to: number): void {
    this.#endpointer.skipTo(to);
  }
}
