import { TrunklineError } from '../../errors.ts';
import type { Sound, SpeechForm, SpeechForms } from './formats.ts';
import type { SpeechOrder } from './order.ts';
import { recite, type Speaker, settleManner } from './recital.ts';

/** Speech that is ready to be made: it is made as it is taken. */
export interface OpenedSpeech {
  readonly form: SpeechForm;
  readonly chunks: Sound;
}

interface SpeechDeskOptions {
  readonly speaker: Speaker;
  readonly forms: SpeechForms;
  /** Orders served at once. */
  readonly ordersMax: number;
}

/** Takes the orders of all doors that hand out speech. */
export class SpeechDesk {
  readonly #options: SpeechDeskOptions;
  #served = 0;

  constructor(options: SpeechDeskOptions) {
    this.#options = options;
  }

  /**
   * Takes a place at the desk; the result gives it back and must be called once.
   * @throws TrunklineError `too_many_requests`
   */
  enter(): () => void {
    const { ordersMax } = this.#options;
    if (this.#served >= ordersMax) {
      throw new TrunklineError(
        'too_many_requests',
        `${ordersMax} requests for speech are being served, which is the most allowed (SPEECH_REQUESTS_MAX)`,
      );
    }
    this.#served++;
    return () => {
      this.#served--;
    };
  }

  /**
   * Opens an order; nothing is made once `signal` has aborted. The chunks fail as {@link recite} says.
   * @throws TrunklineError `invalid_request`, `unsupported_format` or `engine_unavailable`
   */
  async open(order: SpeechOrder, signal: AbortSignal): Promise<OpenedSpeech> {
    const { speaker, forms } = this.#options;
    const manner = await settleManner(speaker, order.style);
    const form = await forms.settle(order.format, order.rateHz, manner.voice.rateHz);
    return { form, chunks: form.encode(recite(speaker, order.text, { manner, codec: form.codec, signal }), signal) };
  }
}
