/**
 * One call's conversation with its app, apart from the connection it is held over: what the app says becomes speech in
 * talk cycles, what the caller says, presses and interrupts becomes frames. It lasts over reconnections.
 */
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Caption } from '../../transcription/live-transcriber.ts';
import type { CallAnswer } from '../answered/answered-by.ts';
import type { AppTrace } from '../call-tracer.ts';
import type { CallLanguages } from '../language/call-languages.ts';
import type { CallVoice, VoiceEvent } from '../outbound/voice.ts';
import { AppLanguages } from './app-languages.ts';
import { AppReports } from './app-reports.ts';
import { type FetchAudio, labelOf } from './audio-fetch.ts';
import type { CallerEvent } from './call-app.ts';
import { CallerTurns } from './caller-turns.ts';
import { FrameQueue } from './frame-queue.ts';
import type { AppFrame, EndFrame, FrameToApp, PlayFrame, TextFrame } from './frames.ts';
import { LateText } from './late-text.ts';
import type { AppRequest } from './request.ts';
import { greetingOptions, styleIn, turnOf } from './speech-options.ts';
import { TalkCycle } from './talk-cycle.ts';

/** The way to the app, as a session uses it. */
export interface AppChannel {
  /** Kept for an app that is away. */
  send(frame: FrameToApp): void;
  /** Dropped where the app is away or behind. */
  sendNow(frame: FrameToApp): void;
  /** {@link AppSession.onFence} is to be called when the app has read all that was sent so far. */
  fence(): void;
  pause(): void;
  resume(): void;
}

type SpeakingVoice = Pick<
  CallVoice,
  'say' | 'open' | 'play' | 'sendDigits' | 'interrupt' | 'drained' | 'onEvent' | 'speaking'
>;

interface SessionOptions {
  readonly request: AppRequest;
  readonly voice: SpeakingVoice;
  readonly channel: AppChannel;
  readonly fetchAudio: FetchAudio;
  readonly clock: Clock;
  /** Follows its turns; null = nothing does. */
  readonly trace: AppTrace | null;
  /** APP_FLUSH_MS. */
  readonly flushMs: number;
  /** Something is said because the app fell silent in the midst of it. */
  onFlush(): void;
  readonly answer: CallAnswer;
  /** Of what the caller says. */
  readonly language: Pick<CallLanguages, 'caller' | 'name' | 'suggest'>;
  /** Whether a voice speaks this language (BCP 47); true while that is not known. */
  speaks(language: string): boolean;
  /** The app has ended the session, and everything that it said before has been played. */
  onEnd(handoffData: string | null): void;
  /** Something of ours failed. */
  onFailure(error: unknown): void;
}

export class AppSession {
  readonly #options: SessionOptions;
  readonly #frames: FrameQueue;
  readonly #late = new LateText();
  readonly #turns: CallerTurns;
  readonly #reports: AppReports;
  /** Utterances of the app that are not over, and the talk cycles that they are of, if any. */
  readonly #own = new Map<string, TalkCycle | null>();
  /** The talk cycle whose text is still coming. */
  #cycle: TalkCycle | null = null;
  readonly #languages: AppLanguages;
  /** The utterance that the caller hears. */
  #sounding: string | null = null;
  #callerSpeaks = false;
  /** The caller's speech began into an utterance and has not interrupted it. */
  #overlaps = false;
  /** Something is cut off by the app's own wish. */
  #preempting = false;
  #interruptionTold = false;
  /** Somebody has taken the call over. */
  #muted = false;
  /** The app's own end, which waits until the call is given back. */
  #endLater: EndFrame | null = null;
  /** `ending`: nothing more is taken from the app; `over`: nothing is done at all. */
  #state: 'open' | 'ending' | 'over' = 'open';

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#languages = new AppLanguages({ ...options, call: options.language });
    const promptOf = (voicePrompt: string, last: boolean) =>
      ({ type: 'prompt', voicePrompt, lang: this.#languages.prompt, last }) as const;
    const { channel, request, clock } = options;
    this.#turns = new CallerTurns({
      clock,
      onTurn: (text) => {
        options.trace?.onPrompt();
        channel.send(promptOf(text, true));
      },
      // Dropped where the app is away or behind.
      onPart: request.partialPrompts ? (text) => channel.sendNow(promptOf(text, false)) : undefined,
    });
    this.#reports = new AppReports({ request: options.request, ...options.channel });
    this.#frames = new FrameQueue({
      obey: (frame) => this.#obey(frame),
      onHeld: () => options.channel.pause(),
      onReleased: () => options.channel.resume(),
    });
    options.voice.onEvent((event) => this.#onVoice(event));
  }

  /** Greets the caller. */
  begin(): void {
    const { request, voice, answer } = this.#options;
    if (answer.by !== null) this.#reports.answer({ type: 'answered', by: answer.by });
    if (answer.isListening) this.#reports.answer({ type: 'beep', heard: true });
    answer.onNews((news) => {
      if (this.listens) this.#reports.answer(news);
    });
    if (request.greeting === '') return;
    const style = greetingOptions(this.#languages.tts, request);
    this.#attempt(() => this.#own.set(voice.say(request.greeting, style), null));
  }

  /** One frame of the app. */
  receive(frame: AppFrame): void {
    this.#frames.push(frame);
  }

  /** Whether the app may still be told what the caller says. */
  get listens(): boolean {
    return this.#state !== 'over' && !this.#muted;
  }

  /**
   * Somebody takes the call over: what the app says is passed over, what it is saying stops, and it is told nothing of
   * the caller. Or gives it back.
   */
  mute(isMuted: boolean): void {
    if (this.#muted === isMuted || this.#state === 'over') return;
    if (isMuted) this.#silence();
    this.#muted = isMuted;
    this.#reports.muted(isMuted);
    const end = this.#endLater;
    this.#endLater = null;
    if (!isMuted && end !== null) void this.#end(end);
  }

  /** What the caller says, less what is our own echo. */
  onSpeech(event: CallerEvent): void {
    if (!this.listens) return;
    switch (event.type) {
      case 'caption':
        this.#takeCaption(event);
        return;
      case 'revision':
        if (this.#turns.revise(event)) this.#onAnswerable();
        return;
      case 'turn.ended':
        if (this.#turns.end(event.last)) this.#onAnswerable();
        return;
      default:
        this.#callerSpeaks = event.type === 'speech.started';
        if (this.#callerSpeaks) this.#overlaps = this.#sounding !== null;
        this.#reports.speaker('clientSpeaking', this.#callerSpeaks);
    }
  }

  /** The caller pressed a key, which has had its effect on what sounds. */
  onDtmf(digit: string): void {
    if (!this.listens || !this.#options.request.dtmf || (this.#sounding !== null && !this.#isReported('dtmf'))) return;
    // Who presses a key has said what there was to say.
    if (!this.#callerSpeaks && this.#turns.report()) this.#onAnswerable();
    this.#options.channel.send({ type: 'dtmf', digit });
    this.#onAnswerable();
  }

  /** The app has read all that was sent before the fence. */
  onFence(): void {
    this.#late.onFence();
  }

  /** The app was lost: what it said so far is said, the rest will not come. */
  onLost(): void {
    this.#endCycle();
    // Or the cycle of what waits for a recording would wait for text of a connection that is gone.
    this.#frames.endWaitingText();
    this.#late.forget();
  }

  /** Lets go of everything. What is being said is left to the voice; what the caller has said is told. */
  close(): void {
    if (this.#state === 'open') this.#turns.report();
    this.#state = 'over';
    this.#frames.close();
    this.#frames.drop();
    this.#endCycle();
  }

  #obey(frame: AppFrame): void {
    if (this.#muted && frame.type === 'end') this.#endLater = frame;
    if (this.#muted && frame.type !== 'text' && frame.type !== 'language') return;
    switch (frame.type) {
      case 'text':
        this.#attempt(() => this.#speak(frame));
        return;
      case 'play':
        this.#endCycle();
        void this.#frames.holdFor((signal) => this.#play(frame, signal));
        return;
      case 'sendDigits':
        this.#endCycle();
        this.#attempt(() => this.#options.voice.sendDigits(frame.digits));
        return;
      case 'language':
        this.#attempt(() => this.#languages.change(frame));
        return;
      case 'end':
        void this.#end(frame);
    }
  }

  async #end(end: EndFrame): Promise<void> {
    this.#state = 'ending';
    this.#frames.close();
    this.#endCycle();
    await this.#options.voice.drained();
    if (this.#state !== 'ending') return;
    if (this.#muted) this.#endLater = end;
    else this.#options.onEnd(end.handoffData ?? null);
  }

  /** Whatever cannot be done is answered with `error`; the session goes on. */
  #attempt(action: () => void): void {
    this.#preempting = true;
    try {
      action();
    } catch (error) {
      this.#tellError(error);
    } finally {
      this.#preempting = false;
    }
  }

  #tellError(error: unknown): void {
    if (error instanceof TrunklineError) this.#options.channel.send({ type: 'error', description: error.message });
    else this.#options.onFailure(error);
  }

  #speak(frame: TextFrame): void {
    if (this.#late.isLate(frame)) return;
    if (this.#muted) {
      if (!frame.last) this.#late.refuseRest();
      return;
    }
    this.#options.trace?.onAnswer();
    try {
      if (frame.token !== '') this.#cycleOf(frame).write(frame.token);
    } catch (error) {
      this.#endCycle();
      if (!frame.last) this.#late.refuseRest();
      throw error;
    }
    if (frame.last) this.#endCycle();
  }

  /** The first text of a cycle says how all of it is spoken. */
  #cycleOf(frame: TextFrame): TalkCycle {
    if (this.#cycle !== null) return this.#cycle;
    const { request, voice, clock, flushMs, onFlush } = this.#options;
    const cycle: TalkCycle = new TalkCycle({
      voice,
      clock,
      flushMs,
      style: { ...styleIn(frame.lang ?? this.#languages.tts, request), ...turnOf(frame, request) },
      onUtterance: (id) => this.#own.set(id, cycle),
      onFlush,
      attempt: (action) => this.#attempt(action),
    });
    this.#cycle = cycle;
    return cycle;
  }

  /** What the app says now and what waits is dropped, and so are the caller's words so far. */
  #silence(): void {
    this.#turns.forget();
    const hasCycle = this.#cycle !== null;
    if (this.#own.size > 0) this.#options.voice.interrupt();
    this.#cycle?.drop();
    this.#cycle = null;
    if (this.#frames.drop() || hasCycle) this.#late.refuseRest();
  }

  #endCycle(): void {
    this.#cycle?.end();
    this.#cycle = null;
  }

  async #play(frame: PlayFrame, signal: AbortSignal): Promise<void> {
    const { request, voice, trace, fetchAudio } = this.#options;
    trace?.onAnswer();
    try {
      const { samples, rateHz } = await fetchAudio(frame.source, signal);
      if (signal.aborted) return;
      this.#attempt(() => {
        const label = labelOf(frame.source);
        this.#own.set(voice.play(samples, rateHz, { label, loop: frame.loop, ...turnOf(frame, request) }), null);
      });
    } catch (error) {
      if (!signal.aborted) this.#tellError(error);
    }
  }

  #onVoice(event: VoiceEvent): void {
    if (this.#state === 'over') return;
    switch (event.type) {
      case 'speaking':
        this.#sounding = event.utterance;
        this.#reports.speaker('agentSpeaking', true);
        return;
      case 'heard':
        if (this.#own.has(event.utterance)) this.#reports.played(event.text);
        return;
      case 'voice.missing':
        this.#reports.missingVoice(event.wished, event.used);
        return;
      case 'refused':
        if (this.#own.has(event.utterance)) this.#options.channel.send({ type: 'error', description: event.reason });
        return;
      case 'spoken':
        this.#onSpoken(event);
    }
  }

  #onSpoken({ utterance, interrupted, heardText, playedMs }: Extract<VoiceEvent, { type: 'spoken' }>): void {
    if (interrupted) this.#overlaps = false;
    this.#noticeSilence(utterance);
    const cycle = this.#own.get(utterance);
    this.#own.delete(utterance);
    if (!interrupted) cycle?.noteHeard(utterance, heardText, playedMs);
    if (!interrupted && !this.#options.voice.speaking && this.#turns.answer()) this.#onAnswerable();
    if (cycle === undefined || !interrupted) return;
    if (!this.#preempting) this.#tellInterruption(cycle, heardText, playedMs);
  }

  #noticeSilence(utterance: string): void {
    if (this.#sounding !== utterance) return;
    this.#sounding = null;
    this.#reports.speaker('agentSpeaking', false);
  }

  /** All that waited is thrown away with the utterance that sounded, which comes first: the app is told once. */
  #tellInterruption(cycle: TalkCycle | null, heardText: string, playedMs: number): void {
    if (!this.#interruptionTold) {
      this.#interruptionTold = true;
      queueMicrotask(() => {
        this.#interruptionTold = false;
      });
      const before = cycle?.heard ?? { text: '', ms: 0 };
      this.#options.channel.send({
        type: 'interrupt',
        utteranceUntilInterrupt: before.text + heardText,
        durationUntilInterruptMs: before.ms + playedMs,
      });
      this.#reports.played(heardText);
    }
    const isUnfinished = cycle !== null && this.#cycle === cycle;
    if (isUnfinished) {
      cycle.drop();
      this.#cycle = null;
    }
    if (!this.#frames.drop() && !isUnfinished) return;
    this.#late.onInterrupted();
    this.#options.channel.fence();
  }

  /**
   * The app was told something to answer. A cycle that has nothing more to say is not gone on with: its `last` may
   * never come.
   */
  #onAnswerable(): void {
    if (this.#cycle?.isPaused) this.#endCycle();
    this.#late.onAnswerable();
  }

  #takeCaption(caption: Caption): void {
    const isKeptBack = this.#overlaps && this.#sounding !== null && !this.#isReported('speech');
    if (isKeptBack) this.#turns.leaveOut(caption);
    else if (this.#turns.add(caption)) this.#onAnswerable();
  }

  /** Whether input of this kind is told although the app was talking and was not interrupted by it. */
  #isReported(kind: 'speech' | 'dtmf'): boolean {
    const { reportDuringSpeech } = this.#options.request;
    return reportDuringSpeech === 'any' || reportDuringSpeech === kind;
  }
}
