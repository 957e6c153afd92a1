/** One live stream of `/v1/listen`: what is heard goes in, messages come out. Times are ms of the stream's audio. */
import {
  type ListenMessage,
  resultsOf,
  type SaidText,
  type StreamFacts,
  speechStartedOf,
  utteranceEndOf,
} from './messages.ts';

/** Which messages a client asked for. */
export interface AnswerOptions {
  readonly facts: StreamFacts;
  readonly interimResults: boolean;
  readonly vadEvents: boolean;
  /** Silence that ends what is said; false = none does, and nothing is `speech_final`. */
  readonly endpointMs: number | false;
  /** Null = UtteranceEnd is not told. */
  readonly utteranceEndMs: number | null;
}

/**
 * An end of speech whose final has not come some time after the endpoint had no words, or lost its end: it is told
 * without.
 */
const FINAL_LATE_MS = 1000;
/** While voice detection hears a voice without words, UtteranceEnd waits for so much longer: partials may be late. */
const NOISE_MS = 3000;

/** How far a final may end from where speech ended: both are rounded. */
const SAME_END_MS = 1;

/** See above: the state of all channels. */
export class ListenAnswers {
  readonly #channels: readonly ChannelAnswers[];

  constructor(options: AnswerOptions) {
    this.#channels = Array.from({ length: options.facts.channels }, (_, at) => new ChannelAnswers(options, at));
  }

  /** Somebody begins to speak. */
  onSpeechStarted(channel: number, atMs: number): ListenMessage[] {
    return this.#channels[channel]?.onSpeechStarted(atMs) ?? [];
  }

  /** Nobody speaks any more since `atMs`; the final of it follows. */
  onSpeechStopped(channel: number, atMs: number): void {
    this.#channels[channel]?.onSpeechStopped(atMs);
  }

  /**
   * Words, which are settled if `final`.
   * @param isFlushed they are of audio that a Finalize, or the end, has cut off
   */
  onSaid(channel: number, said: SaidText, isFlushed = false): ListenMessage[] {
    return this.#channels[channel]?.onSaid(said, isFlushed) ?? [];
  }

  /**
   * All finals before a Finalize have been told; it came after `atMs` of audio.
   * @param channel the one that is to answer; null = all
   */
  onFlushed(atMs: number, channel: number | null = null): ListenMessage[] {
    return this.#channels.flatMap((each, at) => each.onFlushed(atMs, channel === null || channel === at));
  }

  /** So much of the audio has been examined. */
  advance(examinedMs: number): ListenMessage[] {
    return this.#channels.flatMap((channel) => channel.advance(examinedMs));
  }

  /** No audio follows: what was held back. */
  end(): ListenMessage[] {
    return this.#channels.flatMap((channel) => channel.end());
  }
}

class ChannelAnswers {
  readonly #options: AnswerOptions;
  readonly #channel: number;
  #isSpeaking = false;
  /** Ends of speech whose finals have not come. */
  #stops: number[] = [];
  /** Since when a client waits to be told that speech is over; null = it knows. */
  #owedSinceMs: number | null = null;
  /** Where the last final ended. */
  #settledMs = 0;
  /** Where the last word ended, and where the one that the last UtteranceEnd told of. */
  #lastWordMs: number | null = null;
  #toldWordMs: number | null = null;
  /** Words were shown whose final has not come. */
  #isOpen = false;
  /** The last final of audio that was cut off: the one behind which nothing follows answers for that. */
  #held: SaidText | null = null;

  constructor(options: AnswerOptions, channel: number) {
    this.#options = options;
    this.#channel = channel;
  }

  onSpeechStarted(atMs: number): ListenMessage[] {
    this.#isSpeaking = true;
    const { vadEvents, facts } = this.#options;
    return vadEvents ? [speechStartedOf(this.#channel, atMs, facts)] : [];
  }

  onSpeechStopped(atMs: number): void {
    this.#isSpeaking = false;
    // Where silence ends nothing nobody asks for them, and a stream may last for days.
    if (this.#options.endpointMs === false) return;
    this.#stops.push(atMs);
    this.#owedSinceMs = atMs;
  }

  onSaid(said: SaidText, isFlushed: boolean): ListenMessage[] {
    if (said.text !== '') this.#lastWordMs = said.endMs;
    if (!said.final) {
      this.#isOpen = true;
      return this.#options.interimResults ? [this.#results(said)] : [];
    }
    this.#isOpen = false;
    this.#settledMs = Math.max(said.endMs, this.#settledMs);
    if (!isFlushed) return [this.#results(said, { speechFinal: this.#endsSpeech(said) })];
    const held = this.#held;
    this.#held = said;
    return held === null ? [] : [this.#results(held)];
  }

  onFlushed(atMs: number, isWanted: boolean): ListenMessage[] {
    const said = this.#held;
    this.#held = null;
    this.#isOpen = false;
    if (said === null && !isWanted) return [];
    return [this.#results(said ?? this.#nothing(atMs), { fromFinalize: isWanted })];
  }

  advance(examinedMs: number): ListenMessage[] {
    return [...this.#tellOwed(examinedMs), ...this.#tellUtteranceEnd(examinedMs)];
  }

  end(): ListenMessage[] {
    const held = this.#held;
    this.#held = null;
    return held === null ? [] : [this.#results(held, { speechFinal: this.#options.endpointMs !== false })];
  }

  /** Whether silence ended it: a cut leaves speech behind it. */
  #endsSpeech({ endMs }: SaidText): boolean {
    const at = this.#stops.findIndex((stopMs) => Math.abs(stopMs - endMs) <= SAME_END_MS);
    if (at < 0 || this.#options.endpointMs === false) return false;
    this.#stops = this.#stops.slice(at + 1);
    if (this.#stops.length === 0) this.#owedSinceMs = null;
    return true;
  }

  /** Speech that ended without words of its own: of a noise, or behind a Finalize. */
  #tellOwed(examinedMs: number): ListenMessage[] {
    const { endpointMs } = this.#options;
    // Where words were shown, a final follows in any case.
    if (endpointMs === false || this.#owedSinceMs === null || this.#isOpen) return [];
    if (examinedMs - this.#owedSinceMs < endpointMs + FINAL_LATE_MS) return [];
    this.#owedSinceMs = null;
    this.#stops = [];
    return this.#isSpeaking ? [] : [this.#results(this.#nothing(examinedMs), { speechFinal: true })];
  }

  #tellUtteranceEnd(examinedMs: number): ListenMessage[] {
    const { utteranceEndMs, endpointMs, facts } = this.#options;
    const wordMs = this.#lastWordMs;
    if (utteranceEndMs === null || wordMs === null || wordMs === this.#toldWordMs) return [];
    // Where silence ends nothing, no final says that the words are all.
    if (this.#isOpen && endpointMs !== false) return [];
    const waitsMs = this.#isSpeaking && endpointMs !== false ? utteranceEndMs + NOISE_MS : utteranceEndMs;
    if (examinedMs - wordMs < waitsMs) return [];
    this.#toldWordMs = wordMs;
    return [utteranceEndOf(this.#channel, wordMs, facts)];
  }

  #nothing(toMs: number): SaidText {
    return { text: '', final: true, startMs: this.#settledMs, endMs: Math.max(toMs, this.#settledMs), words: [] };
  }

  #results(said: SaidText, marks: { speechFinal?: boolean; fromFinalize?: boolean } = {}): ListenMessage {
    const { speechFinal = false, fromFinalize = false } = marks;
    return resultsOf(said, { channel: this.#channel, speechFinal, fromFinalize }, this.#options.facts);
  }
}
