import { showVoice } from '../../speech/voices.ts';
import type { AnswerNews } from '../answered/answered-by.ts';
import type { FrameToApp } from './frames.ts';
import type { AppRequest } from './request.ts';

interface ReportsOptions {
  readonly request: Pick<AppRequest, 'speakerEvents' | 'tokensPlayed' | 'answerEvents'>;
  /** Kept for an app that is away. */
  send(frame: FrameToApp): void;
  /** Dropped where the app is away or behind. */
  sendNow(frame: FrameToApp): void;
}

/** What an app is told beside the caller's words, as far as it has asked for that. */
export class AppReports {
  readonly #options: ReportsOptions;
  #voiceMissed = false;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** Somebody begins to speak, or has stopped. */
  speaker(name: 'agentSpeaking' | 'clientSpeaking', speaks: boolean): void {
    const { request, sendNow } = this.#options;
    if (request.speakerEvents) sendNow({ type: 'info', name, value: speaks ? 'on' : 'off' });
  }

  /** The caller heard this of what the app said. */
  played(text: string): void {
    const { request, send } = this.#options;
    if (request.tokensPlayed && text !== '') send({ type: 'info', name: 'tokensPlayed', value: text });
  }

  /** Somebody took the call over, or gave it back. */
  muted(isMuted: boolean): void {
    const { request, send } = this.#options;
    if (request.speakerEvents) send({ type: 'info', name: 'muted', value: isMuted ? 'on' : 'off' });
  }

  /** Who has answered, from when on an answering machine records, and that a fax machine is there. */
  answer(news: AnswerNews): void {
    const { request, send } = this.#options;
    if (request.answerEvents) send({ type: 'info', name: news.type, value: wordFor(news) });
  }

  /** Another voice speaks. Told once: all of the call has the same. */
  missingVoice(wished: string, used: string): void {
    if (this.#voiceMissed) return;
    this.#voiceMissed = true;
    const description = `voice: got ${showVoice(wished)}, which is not there; ${used} speaks in its place`;
    this.#options.send({ type: 'error', description });
  }
}

function wordFor(news: AnswerNews): string {
  switch (news.type) {
    case 'answered':
      return news.by;
    case 'beep':
      return news.heard ? 'heard' : 'silence';
    case 'fax':
      return news.tone;
  }
}
