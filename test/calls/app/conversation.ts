import { type AppFrame, type FrameToApp, readAppFrame } from '../../../src/calls/app/frames.ts';
import { type AppRequest, readAppRequest } from '../../../src/calls/app/request.ts';
import { AppSession } from '../../../src/calls/app/session.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import type { MonoAudio } from '../../../src/speech/wav-leveller.ts';
import { FakeAnswer } from '../../fakes/call-answer.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { fakeLanguages } from '../../fakes/languages.ts';
import { FakeVoice } from '../../fakes/voice.ts';

const URL = 'wss://app.example.com/';
/** A very short recording. */
export const RECORDING: MonoAudio = { samples: Int16Array.of(1, 2, 3), rateHz: 8000 };

/** A session with everything around it in the hand of the test. */
export class Conversation {
  readonly voice = new FakeVoice();
  /** What the app was told. */
  readonly told: FrameToApp[] = [];
  readonly ends: (string | null)[] = [];
  readonly failures: unknown[] = [];
  readonly clock = new FakeClock();
  readonly fetches: {
    source: string;
    signal: AbortSignal;
    done: (recording: MonoAudio) => void;
    fail: (error: unknown) => void;
  }[] = [];
  fences = 0;
  reading = true;
  readonly languages = fakeLanguages();
  readonly answer = new FakeAnswer();
  readonly session: AppSession;

  constructor(parameters: Record<string, string> = {}) {
    const request = readAppRequest(parameters, readSettings({ APP_URL: URL })) as AppRequest;
    this.session = new AppSession({
      request,
      voice: this.voice,
      answer: this.answer,
      trace: null,
      channel: {
        send: (frame) => this.told.push(frame),
        sendNow: (frame) => this.told.push(frame),
        fence: () => {
          this.fences += 1;
        },
        pause: () => {
          this.reading = false;
        },
        resume: () => {
          this.reading = true;
        },
      },
      fetchAudio: (source, signal) => new Promise((done, fail) => this.fetches.push({ source, signal, done, fail })),
      clock: this.clock,
      flushMs: 1000,
      onFlush: () => undefined,
      language: this.languages,
      speaks: (language) => language.startsWith('en') || language.startsWith('de'),
      onEnd: (handoffData) => this.ends.push(handoffData),
      onFailure: (error) => this.failures.push(error),
    });
  }

  /** The app says something. */
  app(...frames: unknown[]): this {
    for (const frame of frames) this.session.receive(readAppFrame(JSON.stringify(frame)) as AppFrame);
    return this;
  }

  /** The app answers in tokens. */
  tokens(...tokens: string[]): this {
    return this.app(...tokens.map((token) => ({ type: 'text', token })));
  }

  last(token = ''): this {
    return this.app({ type: 'text', token, last: true });
  }

  /** The caller has said something; a final is a turn by itself. */
  caption(text: string, final = true): this {
    return final ? this.utterance(1, text).turnEnded(1) : this.utterance(1, text, false);
  }

  /** A caption of an utterance, whose turn may go on. */
  utterance(utterance: number, text: string, final = true): this {
    this.session.onSpeech({
      type: 'caption',
      utterance,
      stable: text,
      tail: '',
      text,
      final,
      startMs: 0,
      endMs: 1,
      lagMs: 0,
    });
    return this;
  }

  turnEnded(last: number): this {
    this.session.onSpeech({ type: 'turn.ended', first: 1, last, atMs: 1 });
    return this;
  }

  revision(utterance: number, version: number, text: string): this {
    this.session.onSpeech({ type: 'revision', utterance, first: 1, version, text, startMs: 0, endMs: 1 });
    return this;
  }

  speech(type: 'started' | 'stopped'): this {
    this.session.onSpeech({ type: `speech.${type}`, atMs: 0 });
    return this;
  }

  get types(): string[] {
    return this.told.map(({ type }) => type);
  }

  get errors(): string[] {
    return this.told.flatMap((frame) => (frame.type === 'error' ? [frame.description] : []));
  }
}

/** A `prompt` frame. */
export const prompt = (voicePrompt: string, last = true) => ({ type: 'prompt', voicePrompt, lang: 'en-US', last });
/** An `interrupt` frame; what was heard took 20 ms a character. */
export const interrupt = (utteranceUntilInterrupt: string) => ({
  type: 'interrupt',
  utteranceUntilInterrupt,
  durationUntilInterruptMs: 20 * utteranceUntilInterrupt.length,
});
