/** A call in text: what the flow says is read, and what the caller says is taken as understood. No sound is made. */
import type { CallApp, CallAppOptions } from '../../calls/app/call-app.ts';
import type { CallContext } from '../../calls/context.ts';
import type { FlowNews } from '../../calls/feed/call-feed.ts';
import type { CallVoice, VoiceEvent } from '../../calls/outbound/voice.ts';
import type { Log } from '../../foundation/log/log.ts';
import { MULAW_8K } from '../../foundation/units.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import type { CallNews } from './observed-call.ts';
import { TextAnswer } from './text-answer.ts';
import { textMessages } from './text-message.ts';
import { TextVoice } from './text-voice.ts';

/** The call. */
export interface TextLineOptions {
  readonly context: CallContext;
  readonly log: Log;
  readonly start: Pick<CallStart, 'callId' | 'from' | 'to' | 'parameters'>;
  /** How fast the flow speaks: 1 = as people do, 0 = all is said at once. */
  readonly pace: number;
  /** Begins the flow. */
  open(options: CallAppOptions): CallApp;
  onNews(news: CallNews): void;
}

export class TextLine {
  readonly #options: TextLineOptions;
  readonly #voice: TextVoice;
  readonly #answer: TextAnswer;
  readonly #app: CallApp;
  readonly #beganMs: number;
  #utterances = 0;
  #speaksSinceMs = 0;
  #isOver = false;

  constructor(options: TextLineOptions) {
    const { context, pace, start } = options;
    this.#answer = new TextAnswer(context.clock, start.parameters);
    this.#options = options;
    this.#beganMs = context.clock.nowMs();
    this.#voice = new TextVoice({ clock: context.clock, pace });
    this.#voice.onEvent((event) => this.#onVoice(event));
    this.#app = options.open(this.#appOptions());
  }

  /** Whether something is being said. */
  get isSpeaking(): boolean {
    return this.#voice.speaking;
  }

  /** Whether the call goes on. */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  /** The caller begins to speak. */
  beginSpeech(): void {
    if (this.#isOver) return;
    this.#speaksSinceMs = this.#nowMs();
    this.#app.onSpeech({ type: 'speech.started', atMs: this.#speaksSinceMs });
    this.#voice.onCaller('speech');
  }

  /** The caller has said this, and has finished. */
  endSpeech(text: string): void {
    if (this.#isOver) return;
    this.#utterances += 1;
    const utterance = this.#utterances;
    const [startMs, atMs] = [this.#speaksSinceMs, this.#nowMs()];
    const caption = { utterance, stable: text, tail: '', text, startMs, endMs: atMs, lagMs: 0 } as const;
    this.#app.onSpeech({ type: 'speech.stopped', atMs });
    this.#app.onSpeech({ type: 'caption', final: true, ...caption });
    this.#app.onSpeech({ type: 'turn.ended', first: utterance, last: utterance, atMs });
  }

  /** An answering machine beeps, or a fax machine is heard. */
  sound(tone: 'beep' | 'fax'): void {
    if (this.#isOver) return;
    if (tone === 'beep') this.#answer.beep();
    else this.#answer.fax();
  }

  /** The caller presses a key. */
  press(key: string): void {
    if (this.#isOver) return;
    this.#voice.onCaller('dtmf');
    this.#app.onDtmf(key);
  }

  /** The caller leaves. */
  hangUp(): void {
    this.#end();
  }

  #nowMs(): number {
    return this.#options.context.clock.nowMs() - this.#beganMs;
  }

  #appOptions(): CallAppOptions {
    const { context, log, start } = this.#options;
    return {
      start: {
        carrier: 'text',
        streamId: start.callId,
        tracks: ['inbound'],
        codec: MULAW_8K,
        playback: 'paced',
        ...start,
      },
      // Steps use what TextVoice has of it.
      voice: this.#voice as unknown as CallVoice,
      languages: {
        caller: null,
        name: () => undefined,
        suggest: () => undefined,
        expectAnswer: () => undefined,
      } as unknown as CallAppOptions['languages'],
      answer: this.#answer,
      context,
      log,
      trace: null,
      recording: textMessages(start.callId, () => this.#nowMs()),
      onConnection: () => undefined,
      onEnd: () => this.#end(),
      onFlow: (news) => this.#onFlow(news),
      onPrivate: () => undefined,
      transfer: () => Promise.resolve('unsupported'),
      onFailure: (error) => {
        log.error({ err: error }, 'the flow failed');
        this.#end();
      },
    };
  }

  #onVoice(event: VoiceEvent): void {
    if (event.type !== 'spoken') return;
    const { text, heardText: heard, interrupted } = event;
    this.#options.onNews({ type: 'spoken', text, heard, interrupted });
  }

  #onFlow(news: FlowNews): void {
    const told = newsOfFlow(news);
    if (told !== null) this.#options.onNews(told);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#app.close();
    this.#voice.interrupt();
    this.#options.onNews({ type: 'over' });
  }
}

/** What a test sees of it; null = nothing. */
export function newsOfFlow(news: FlowNews): CallNews | null {
  switch (news.type) {
    case 'flow.step':
      return { type: 'step', flow: news.flow, step: news.step, verb: news.verb };
    case 'flow.input':
      return { type: 'input', outcome: news.outcome, text: news.text, value: news.value };
    case 'flow.ended':
      return { type: 'ended', outcome: news.outcome, reason: news.reason };
    default:
      return null;
  }
}
