/** A server that recognises, in the test's own process. */
import {
  RemoteError,
  type RemoteFailure,
  type RemoteRecogniser,
  type RemoteRequest,
  type RemoteText,
} from '../../src/engine-client/remote/remote-recogniser.ts';
import type { Clock } from '../../src/foundation/clock.ts';

/** It answers with its name and the number of samples, or `text`, after `answerMs`; or fails, or never answers. */
export class FakeRecogniser implements RemoteRecogniser {
  inFlightMax = 8;
  answerMs = 0;
  /** Null = its name and the number of samples. */
  text: string | null = null;
  isHanging = false;
  failure: RemoteFailure | null = null;
  retryAfterMs: number | null = null;
  readonly asked: RemoteRequest[] = [];
  /** Requests that were aborted before there was an answer. */
  aborted = 0;
  isClosed = false;
  readonly #name: string;
  readonly #clock: Clock;

  constructor(name: string, clock: Clock) {
    this.#name = name;
    this.#clock = clock;
  }

  recognise(request: RemoteRequest): Promise<RemoteText> {
    this.asked.push(request);
    return new Promise((resolve, reject) => {
      request.signal.addEventListener('abort', () => {
        this.aborted++;
        reject(new Error('aborted'));
      });
      if (this.isHanging) return;
      const { failure, retryAfterMs } = this;
      this.#clock.after(this.answerMs, () => {
        if (failure !== null) reject(new RemoteError(failure, `it was told to be ${failure}`, retryAfterMs));
        else resolve({ text: this.text ?? `${this.#name} ${request.samples.length}` });
      });
    });
  }

  close(): void {
    this.isClosed = true;
  }
}
