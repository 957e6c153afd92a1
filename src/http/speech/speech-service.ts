import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Sound, SpeechForm, SpeechForms } from './formats.ts';
import type { SpeechRequest } from './request.ts';
import { resolveVoice, type Speaker, synthesize } from './synthesize.ts';
import { gather } from './whole.ts';

/** Speech that is ready to be made: it is made as it is taken. */
export interface OpenedSpeech {
  readonly form: SpeechForm;
  readonly chunks: Sound;
  /** The bytes of all chunks together; null = nobody knows yet. */
  readonly bytes: number | null;
}

interface SpeechServiceOptions {
  readonly speaker: Speaker;
  readonly forms: SpeechForms;
  /** Orders served at once. */
  readonly ordersMax: number;
  readonly metrics: Pick<Metrics, 'speechRequestsOpen'>;
}

/** Takes the orders of all doors that hand out speech. */
export class SpeechService {
  readonly #options: SpeechServiceOptions;
  #served = 0;

  constructor(options: SpeechServiceOptions) {
    this.#options = options;
  }

  /** Orders that are being served, and how many there may be. */
  get depth(): { readonly served: number; readonly max: number } {
    return { served: this.#served, max: this.#options.ordersMax };
  }

  /**
   * Takes a place at the desk; the result gives it back and must be called once.
   * @throws TrunklineError `too_many_requests`
   */
  enter(): () => void {
    const { ordersMax, metrics } = this.#options;
    if (this.#served >= ordersMax) {
      throw new TrunklineError(
        'too_many_requests',
        `${ordersMax} requests for speech are being served, which is the most allowed (SPEECH_REQUESTS_MAX)`,
      );
    }
    metrics.speechRequestsOpen.set(++this.#served);
    return () => {
      metrics.speechRequestsOpen.set(--this.#served);
    };
  }

  /**
   * Opens an order, and makes it as far as it is wanted whole; nothing is made once `signal` has aborted. The chunks
   * fail as {@link recite} says.
   * @throws TrunklineError `invalid_request`, `unsupported_format` or `engine_unavailable`, and what making it fails
   * with
   */
  async open(order: SpeechRequest, signal: AbortSignal): Promise<OpenedSpeech> {
    const { speaker, forms } = this.#options;
    const manner = await resolveVoice(speaker, order.style);
    const form = await forms.settle(order.format, order.rateHz, manner.voice.rateHz);
    const { sound, bytes } = await gather(
      synthesize(speaker, order.text, { manner, codec: form.codec, signal }),
      order.wholeMaxBytes,
    );
    const fileBytes = bytes === null ? null : (form.fileBytes?.(bytes) ?? null);
    return { form, chunks: form.encode(sound, signal, bytes), bytes: fileBytes };
  }
}
