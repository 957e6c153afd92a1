/**
 * What is said in one call: text, recordings and keys in, sound to the carrier out, and news of what the caller heard.
 * It owns the playout, the speech queue and barge-in; apps and the HTTP API talk to it.
 */
import { EngineError } from '../../engine-client/engine.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { SpokenPiece } from '../../speech/sentence-synthesizer.ts';
import { TextStream } from '../../speech/text-stream.ts';
import type { VoiceOptions } from '../../speech/voice-resolver.ts';
import type { DigitsExpected } from '../../transcription/turn-policy.ts';
import { BargeIn, type Interruptible, toInterruptible } from './barge-in.ts';
import type { CallVoiceOptions } from './call-voice-options.ts';
import { Playout } from './playout.ts';
import { SpeechQueue } from './speech-queue.ts';
import { type HeardUtterance, SpokenUtterance, type VoiceSound } from './spoken-utterance.ts';
import { keysOf, partsOf, recordingOf, type UtteranceContent, type VoicePart } from './utterance-pieces.ts';

/** How far ahead a carrier gets sounds that it plays whole: longer than nearly all sentences are. */
const WHOLE_SOUNDS_LEAD_MS = 20_000;

/** How an utterance takes its turn. */
export interface TurnOptions {
  /**
   * What of the caller may cut it off; true = `any`, false = `none`. `any` unless said otherwise, within what the call
   * allows.
   */
  readonly interruptible?: Interruptible | boolean;
  /** Whether whatever is said next cuts it off. */
  readonly preemptible?: boolean;
  /** It goes on with what was said before it, so that it cuts nothing off. */
  readonly goesOn?: boolean;
  /** It asks for digits; left out = for anything. */
  readonly expectsDigits?: DigitsExpected;
}

/** How a text is said. */
export interface SayOptions extends TurnOptions, VoiceOptions {}

/** How a recording is played. */
export interface PlayOptions extends TurnOptions {
  /** What the recording is called in place of a text. */
  readonly label: string;
  /** How often it is played, 1–1000; once unless said otherwise. */
  readonly loop?: number;
}

/** An utterance whose text is still coming. */
export interface OpenUtterance {
  readonly id: string;
  /** More text. Ignored once the utterance is over. Throws `speech_queue_full`. */
  write(piece: string): void;
  /** No more text. Until then nothing else is said. */
  end(): void;
  /**
   * No more text than up to the end of the last whole word. Returns what came behind that, which may be the beginning
   * of a word; null = there is nothing but that, and the utterance stays open.
   */
  cut(): string | null;
}

export type VoiceEvent =
  /** It begins to sound. */
  | { readonly type: 'speaking'; readonly utterance: string }
  /** A sentence of it was heard; `text` as it was given. */
  | { readonly type: 'heard'; readonly utterance: string; readonly text: string }
  /** The voice that was wished for is not there, and another speaks. */
  | { readonly type: 'voice.missing'; readonly wished: string; readonly used: string }
  /** Its text cannot be spoken, and why. */
  | { readonly type: 'refused'; readonly utterance: string; readonly reason: string }
  /**
   * It is over: once for each utterance, also for one that was thrown away before it began. From when until when the
   * caller heard it, in ms of the call; null = nothing of it.
   */
  | ({
      readonly type: 'spoken';
      readonly interrupted: boolean;
      readonly startMs: number | null;
      readonly endMs: number | null;
    } & HeardUtterance);

export class CallVoice {
  readonly #options: CallVoiceOptions;
  readonly #playout: Playout<VoiceSound>;
  readonly #queue: SpeechQueue;
  readonly #bargeIn: BargeIn;
  readonly #listeners: ((event: VoiceEvent) => void)[] = [];
  #utteranceCount = 0;
  #expected: DigitsExpected | null = null;
  #closed = false;

  constructor(options: CallVoiceOptions) {
    this.#options = options;
    this.#playout = this.#openPlayout();
    this.#queue = this.#openQueue();
    this.#bargeIn = this.#openBargeIn();
  }

  /** Whether something is being said, or waits to be. */
  get speaking(): boolean {
    return this.#queue.length > 0;
  }

  /** The digits that what was said last asks for; null = it asks for none. */
  get expected(): DigitsExpected | null {
    return this.#expected;
  }

  /**
   * Says `text` when all that was asked before has been said. Returns the utterance's id.
   * @throws TrunklineError `invalid_request` for a voice or speed that is not there or a call that takes no sound,
   * `speech_queue_full`, `call_not_found`
   */
  say(text: string, given: SayOptions = {}): string {
    const options = this.#inLanguage(given);
    this.#queue.checkRoom(2 * text.length);
    this.#options.context.synthesizer.checkLive(text, options, this.#options.codec);
    const utterance = this.open(options);
    utterance.write(text);
    utterance.end();
    return utterance.id;
  }

  /**
   * Says text that comes in pieces, which are put together as they are. Its first sentence sounds before its last is
   * written. Throws as {@link say}.
   */
  open(given: SayOptions = {}): OpenUtterance {
    const options = this.#inLanguage(given);
    this.#options.context.synthesizer.voices.check(options);
    const stream = new TextStream();
    const utterance = this.#admit(options, {
      pieces: (signal) => this.#synthesize(stream, options, signal),
      text: () => stream.text,
      heldBytes: () => 2 * stream.text.length,
    });
    const write = (piece: string): void => {
      if (utterance.over) return;
      this.#queue.checkRoom(2 * piece.length);
      if (stream.text === '') this.#noteAsked(utterance);
      stream.write(piece);
    };
    return { id: utterance.id, write, end: () => stream.end(), cut: () => stream.cut() };
  }

  /**
   * Plays a mono recording as an utterance. Throws as {@link say}, `invalid_request` also for a rate or a loop out of
   * range.
   */
  play(samples: Int16Array, rateHz: number, options: PlayOptions): string {
    const { label, loop = 1 } = options;
    const content = recordingOf({ samples, rateHz, label, loop }, this.#options.codec);
    this.#queue.checkRoom(content.heldBytes());
    const utterance = this.#admit(options, content);
    this.#noteAsked(utterance);
    return utterance.id;
  }

  /**
   * Says texts, recordings and pauses one after the other, as one utterance. Throws as {@link play}.
   */
  sayParts(parts: readonly VoicePart[], given: SayOptions = {}): string {
    const options = this.#inLanguage(given);
    const { codec, context } = this.#options;
    const speak = (text: string, signal: AbortSignal) => this.#synthesize(wholeText(text), options, signal);
    const content = partsOf(parts, codec, speak);
    this.#queue.checkRoom(content.heldBytes());
    for (const part of parts) if (part.kind === 'text') context.synthesizer.checkLive(part.text, options, codec);
    const utterance = this.#admit(options, content);
    this.#noteAsked(utterance);
    return utterance.id;
  }

  /**
   * Presses keys: their tones, one after the other, in turn like an utterance and never interrupted by the caller. `w`
   * waits half a second.
   * @throws TrunklineError `invalid_request` for what is no row of up to 100 digits, and as {@link say}
   */
  sendDigits(digits: string): void {
    this.#admit({ interruptible: 'none' }, keysOf(digits, this.#options.codec), false);
  }

  /**
   * Falls silent at once and throws away whatever waits. What was heard of the utterance that was being said; null when
   * there was none.
   */
  interrupt(): HeardUtterance | null {
    return this.#queue.interrupt();
  }

  /**
   * What the caller's track says of the caller: speech began or stopped, the words of it so far, or that it is an echo
   * of ours.
   */
  onCallerSpeech(event: 'started' | 'stopped' | 'echo' | { readonly word: string }): void {
    if (event === 'started') this.#bargeIn.onSpeechStarted();
    else if (event === 'stopped') this.#bargeIn.onSpeechStopped();
    else if (event === 'echo') this.#bargeIn.onEcho();
    else this.#bargeIn.onWords(event.word);
  }

  /** The caller pressed a key. */
  onDtmf(_digit: string): void {
    this.#bargeIn.onDigit();
  }

  /** A mark came back from the carrier. */
  onMark(name: string): void {
    this.#playout.onMark(name);
  }

  /** Calls `listener` with everything that becomes of what is said. It must not throw. */
  onEvent(listener: (event: VoiceEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** The text of all that sounded within the last `windowMs`; empty when nothing did. */
  playedWithin(windowMs: number): string {
    return this.#queue.playedWithin(windowMs);
  }

  /** Resolves when nothing is being said and nothing waits to be. */
  drained(): Promise<void> {
    return this.#queue.drained();
  }

  /** Falls silent for good. Leaves no timer, no job and nobody waiting. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue.interrupt();
    this.#playout.close();
    this.#bargeIn.forget();
  }

  #inLanguage(options: SayOptions): SayOptions {
    const language = options.lang ?? this.#options.language();
    return language === null ? options : { ...options, lang: language };
  }

  /** Makes the pieces of `text`, each when it is asked for. */
  async *#synthesize(
    text: TextStream,
    options: VoiceOptions,
    signal: AbortSignal,
  ): AsyncGenerator<SpokenPiece, void, undefined> {
    const { codec, context } = this.#options;
    const resolved = await context.synthesizer.voices.resolve(options);
    if (resolved.missingVoice !== null && !signal.aborted)
      this.#tell({ type: 'voice.missing', wished: resolved.missingVoice, used: resolved.voice.name });
    yield* context.synthesizer.synthesize(text, resolved, {
      codec,
      urgency: 'speak',
      dueInMs: () => this.#playout.aheadMs,
      signal,
      onSkipped: () => this.#onSkipped(),
    });
  }

  #openPlayout(): Playout<VoiceSound> {
    const { codec, carrier, playback, framesPerMessage = 1, wholeSounds = false } = this.#options;
    const { context, taps, send, onFailure } = this.#options;
    const { clock, metrics, settings } = context;
    return new Playout({
      codec,
      clock,
      framesPerMessage,
      buffered: playback === 'buffered',
      leadMs: wholeSounds ? WHOLE_SOUNDS_LEAD_MS : settings.PLAYOUT_LEAD_MS,
      taps,
      send,
      onBegun: (sound) => this.#queue.onSoundBegun(sound),
      onHeard: (sound) => this.#queue.onSoundHeard(sound),
      onMarkLost: () => metrics.marksLost.inc({ carrier }),
      onFailure,
    });
  }

  #openQueue(): SpeechQueue {
    const { codec, context, onSentence } = this.#options;
    return new SpeechQueue({
      codec,
      onSentence,
      clock: context.clock,
      playout: this.#playout,
      callMs: () => this.#options.callMs(),
      onBegun: (utterance) => this.#onBegun(utterance),
      onDigit: (digit) => this.#options.press(digit),
      onHeard: ({ id }, text) => this.#tell({ type: 'heard', utterance: id, text }),
      onOver: (utterance, heard, interrupted) => this.#onOver(utterance, heard, interrupted),
      onSpoilt: (utterance, error) => this.#onSpoilt(utterance, error),
      onDrained: () => this.#onDrained(),
    });
  }

  #openBargeIn(): BargeIn {
    const { bargeIn, callerEndpointMs, context } = this.#options;
    const { clock, settings, metrics } = context;
    return new BargeIn({
      clock,
      allowed: bargeIn,
      confirmMs: settings.BARGE_IN_CONFIRM_MS,
      words: settings.BARGE_IN_WORDS,
      stopLagMs: callerEndpointMs,
      playing: () => this.#queue.sounding?.options.interruptible ?? null,
      pause: () => this.#queue.pause(),
      resume: () => this.#queue.resume(),
      interrupt: () => void this.interrupt(),
      onOutcome: (outcome) => metrics.bargeIns.inc({ outcome }),
    });
  }

  /** Puts an utterance at the end of the queue, in place of those there that make way for the next one. */
  #admit(turn: TurnOptions, content: UtteranceContent, announced = true): SpokenUtterance {
    this.#checkOpen();
    if (turn.goesOn !== true) this.#queue.preempt();
    if (announced) this.#expected = turn.expectsDigits ?? null;
    this.#utteranceCount++;
    const utterance = new SpokenUtterance({
      ...content,
      id: `u${this.#utteranceCount}`,
      interruptible: toInterruptible(turn.interruptible),
      preemptible: turn.preemptible ?? false,
      announced,
    });
    this.#queue.push(utterance);
    return utterance;
  }

  #checkOpen(): void {
    if (this.#closed) throw new TrunklineError('call_not_found', 'the call is over, so nothing can be said in it');
    if (this.#options.playback === 'none') {
      throw new TrunklineError('invalid_request', 'the carrier takes no sound for this call: its stream only listens');
    }
    this.#queue.checkLength();
  }

  /** The first sound of what is asked for now is waited for, unless something else is said before. */
  #noteAsked(utterance: SpokenUtterance): void {
    if (this.#queue.length === 1) utterance.askedAtMs = this.#options.context.clock.nowMs();
  }

  #onSpoilt({ id }: SpokenUtterance, error: unknown): void {
    const { log } = this.#options;
    if (error instanceof TrunklineError) this.#tell({ type: 'refused', utterance: id, reason: error.message });
    if (error instanceof TrunklineError || error instanceof EngineError)
      log.warn({ utterance: id, code: error.code }, 'an utterance could not be spoken');
    else log.error({ utterance: id, err: error }, 'an utterance could not be spoken');
  }

  #onSkipped(): void {
    this.#options.context.metrics.sentencesSkipped.inc();
    this.#options.log.warn('a sentence was left out: the engine failed at it');
  }

  #onBegun({ options, askedAtMs }: SpokenUtterance): void {
    const { clock, metrics } = this.#options.context;
    if (askedAtMs !== null) metrics.firstFrame.observe((clock.nowMs() - askedAtMs) / 1000);
    if (options.announced) this.#tell({ type: 'speaking', utterance: options.id });
    this.#bargeIn.onPlaying();
  }

  /**
   * A pause on suspicion may be what showed that the last sound was heard: nobody would end it, and the next utterance
   * not be heard.
   */
  #onDrained(): void {
    this.#bargeIn.forget();
    this.#queue.resume();
  }

  #onOver(utterance: SpokenUtterance, heard: HeardUtterance, interrupted: boolean): void {
    const { options } = utterance;
    if (!options.announced) return;
    this.#options.context.metrics.utterances.inc({ how: interrupted ? 'interrupted' : 'finished' });
    const startMs = heard.playedMs === 0 ? null : utterance.startMs;
    // While the caller's side sends nothing, the call's time stands still.
    const endMs = startMs === null ? null : Math.max(utterance.endMs, startMs + heard.playedMs);
    this.#tell({ type: 'spoken', ...heard, interrupted, startMs, endMs });
  }

  #tell(event: VoiceEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function wholeText(text: string): TextStream {
  const stream = new TextStream();
  stream.write(text);
  stream.end();
  return stream;
}
