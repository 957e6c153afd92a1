import WebSocket from 'ws';
import { readSherpaResult, SHERPA_DONE, sherpaUtterance } from '../../protocols/remote/sherpa.ts';
import { RemoteError, type RemoteRecogniser, type RemoteRequest, type RemoteText } from './remote-recogniser.ts';

/** Utterances at the same time: the server puts what waits into one run of the model. */
const IN_FLIGHT_MAX = 16;
/** Open connections without an utterance that are kept. */
const IDLE_MAX = 16;
const ANSWER_MAX_BYTES = 262_144;
const HANDSHAKE_MAX_MS = 5000;
/** As the server's own clients do: it takes no longer frames. */
const FRAME_BYTES = 65_536;

/** A server of sherpa-onnx. It cannot be told to stop: a request that is not wanted any more closes its connection. */
export class SherpaRecogniser implements RemoteRecogniser {
  readonly inFlightMax = IN_FLIGHT_MAX;
  readonly #url: URL;
  readonly #idle: WebSocket[] = [];
  /** Listens to those that are kept: what comes unasked would be taken for the answer to the next utterance. */
  readonly #onUnasked = function (this: WebSocket): void {
    this.terminate();
  };
  readonly #open = new Set<WebSocket>();

  /** @param url `sherpa+ws://host:6006` */
  constructor({ host, pathname, search }: URL) {
    this.#url = new URL(`ws://${host}${pathname}${search}`);
  }

  async recognise({ samples, signal }: RemoteRequest): Promise<RemoteText> {
    const message = sherpaUtterance(samples);
    const kept = this.#takeIdle();
    if (kept !== null) {
      try {
        return { text: await this.#ask(kept, message, samples.length, signal) };
      } catch (error) {
        // It may have closed just when the utterance was sent.
        if (signal.aborted || !(error instanceof RemoteError) || error.failure !== 'failed') throw error;
      }
    }
    return { text: await this.#ask(await this.#connect(signal), message, samples.length, signal) };
  }

  close(): void {
    for (const socket of this.#open) socket.terminate();
  }

  #takeIdle(): WebSocket | null {
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop())
      if (socket.readyState === WebSocket.OPEN) return socket.off('message', this.#onUnasked);
    return null;
  }

  #connect(signal: AbortSignal): Promise<WebSocket> {
    const socket = new WebSocket(this.#url, {
      maxPayload: ANSWER_MAX_BYTES,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MAX_MS,
    });
    this.#open.add(socket);
    socket.on('close', () => {
      this.#open.delete(socket);
      const at = this.#idle.indexOf(socket);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    return new Promise((resolve, reject) => {
      const onAbort = (): void => socket.terminate();
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      const settle = (): void => signal.removeEventListener('abort', onAbort);
      socket.on('open', () => {
        settle();
        resolve(socket);
      });
      // Stays: an error that nobody hears would end the process.
      socket.on('error', (error: NodeJS.ErrnoException) => {
        settle();
        reject(new RemoteError('failed', `it could not be reached (${error.code ?? 'no WebSocket'})`));
      });
    });
  }

  #ask(socket: WebSocket, message: Uint8Array, samples: number, signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (error: RemoteError): void => {
        settle();
        socket.terminate();
        reject(error);
      };
      const onAbort = (): void => fail(new RemoteError('failed', 'it was not waited for'));
      const onClose = (): void => fail(new RemoteError('failed', 'it closed the connection without an answer'));
      const onMessage = (data: Buffer, isBinary: boolean): void => {
        const text = isBinary ? null : readSherpaResult(data.toString('utf8'), samples);
        if (text === null) {
          fail(new RemoteError('unusable', 'what it answered is no result'));
          return;
        }
        settle();
        this.#keep(socket);
        resolve(text);
      };
      const settle = (): void => {
        signal.removeEventListener('abort', onAbort);
        socket.off('close', onClose).off('message', onMessage);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      socket.on('close', onClose).on('message', onMessage);
      if (signal.aborted) onAbort();
      else for (let at = 0; at < message.length; at += FRAME_BYTES) socket.send(message.subarray(at, at + FRAME_BYTES));
    });
  }

  #keep(socket: WebSocket): void {
    if (this.#idle.length < IDLE_MAX) this.#idle.push(socket.on('message', this.#onUnasked));
    else socket.send(SHERPA_DONE, () => socket.close());
  }
}
