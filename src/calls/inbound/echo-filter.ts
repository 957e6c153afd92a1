import type { Revision, SpeechEvent } from '../../transcription/live-transcriber.ts';
import type { CallVoice } from '../outbound/voice.ts';
import { ECHO_DELAY_MAX_MS, isEcho, mayBeEcho } from './echo.ts';

interface EchoFilterOptions {
  readonly voice: Pick<CallVoice, 'onCallerSpeech' | 'playedWithin'>;
  /** How long the call has lasted, in the time in which the transcriber's events count. */
  nowMs(): number;
  /** A caption was kept back for good. */
  onEcho(): void;
}

/** Utterances that are remembered as echoes; a revision comes before there are more. */
const WITHHELD_MAX = 64;

type Caption = Extract<SpeechEvent, { type: 'caption' }>;

/**
 * Stands between the caller's track and the rest of the call: tells the voice when the caller speaks, and keeps our own
 * echo out of the caller's captions.
 */
export class EchoFilter {
  readonly #options: EchoFilterOptions;
  #speechFromMs = 0;
  /** The caller's utterance of which a caption was let through last. */
  #shown = 0;
  /** The latest utterances whose final was kept back. */
  readonly #withheld = new Set<number>();

  constructor(options: EchoFilterOptions) {
    this.#options = options;
  }

  /**
   * The event as others may have it; null = not at all. Of an utterance that proves to be an echo only after its first
   * words were shown, the final comes without text, so that it still ends.
   */
  filter(event: SpeechEvent): SpeechEvent | null {
    const { voice } = this.#options;
    if (event.type === 'caption') return this.#filterCaption(event);
    if (event.type === 'speech.stopped') voice.onCallerSpeech('stopped');
    else {
      this.#speechFromMs = event.atMs;
      if (event.isUnsure !== true) voice.onCallerSpeech('started');
    }
    return event;
  }

  /** Whether others may have the revision: what was an echo stays away, and nothing becomes one afterwards. */
  admits({ utterance, text, startMs }: Pick<Revision, 'utterance' | 'text' | 'startMs'>): boolean {
    return !this.#withheld.has(utterance) && !isEcho(text, this.#playedDuring({ startMs }));
  }

  #filterCaption(caption: Caption): Caption | null {
    const played = this.#playedDuring(caption);
    const { text, startMs } = caption;
    // A late final of an earlier speech says nothing of this one.
    if (startMs >= this.#speechFromMs && caption.background !== true)
      this.#options.voice.onCallerSpeech(mayBeEcho(text, played) ? 'echo' : { word: text });
    if (isEcho(text, played)) return this.#withhold(caption);
    if (!caption.final) this.#shown = caption.utterance;
    return caption;
  }

  #withhold(caption: Caption): Caption | null {
    if (!caption.final) return null;
    this.#options.onEcho();
    this.#withheld.add(caption.utterance);
    const [oldest] = this.#withheld;
    if (this.#withheld.size > WITHHELD_MAX && oldest !== undefined) this.#withheld.delete(oldest);
    return this.#shown === caption.utterance ? { ...caption, tail: '', text: '' } : null;
  }

  /** What was played while this was said, or so shortly before that it may have come back as an echo. */
  #playedDuring({ startMs }: Pick<Caption, 'startMs'>): string {
    const { voice, nowMs } = this.#options;
    return voice.playedWithin(nowMs() - startMs + ECHO_DELAY_MAX_MS);
  }
}
