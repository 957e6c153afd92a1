import type { VoiceInfo } from '../../../engine/contract.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { SentenceSynthesizer } from '../../speech/sentence-synthesizer.ts';
import type { ResolvedVoice, VoiceOptions } from '../../speech/voice-resolver.ts';
import { bufferUpTo } from './buffer.ts';
import type { Sound, SpeechEncoder, SpeechEncoders } from './encoders.ts';
import type { SpeechRequest } from './request.ts';
import { type LiveText, resolveVoice, synthesize, synthesizeLive } from './synthesize.ts';

/** Speech that is ready to be made: a chunk is made when it is asked for. */
export interface OpenedSpeech {
  readonly voice: VoiceInfo;
  readonly encoder: SpeechEncoder;
  readonly chunks: Sound;
  /** The bytes of all chunks together; null = not known yet. */
  readonly bytes: number | null;
}

interface SpeechServiceOptions {
  readonly synthesizer: SentenceSynthesizer;
  readonly encoders: SpeechEncoders;
  /** Most requests that are served at once. */
  readonly requestsMax: number;
  readonly metrics: Pick<Metrics, 'speechRequestsOpen'>;
}

/** Serves the requests of all routes that answer with speech. */
export class SpeechService {
  readonly #options: SpeechServiceOptions;
  #served = 0;

  constructor(options: SpeechServiceOptions) {
    this.#options = options;
  }

  /** How many requests are being served, and how many may be. */
  get depth(): { readonly served: number; readonly max: number } {
    return { served: this.#served, max: this.#options.requestsMax };
  }

  /**
   * Counts a request in. The result counts it out and must be called once.
   * @throws TrunklineError `too_many_requests`
   */
  enter(): () => void {
    const { requestsMax, metrics } = this.#options;
    if (this.#served >= requestsMax) {
      throw new TrunklineError(
        'too_many_requests',
        `${requestsMax} requests for speech are being served, which is the most allowed (SPEECH_REQUESTS_MAX)`,
      );
    }
    metrics.speechRequestsOpen.set(++this.#served);
    return () => {
      metrics.speechRequestsOpen.set(--this.#served);
    };
  }

  /**
   * Opens the speech of a request, and makes as much of it as the request wants before the first byte is sent. Nothing
   * is made once the signal has aborted. The chunks fail as {@link synthesize} says.
   * @throws TrunklineError `invalid_request`, `unsupported_format` or `engine_unavailable`, and what the speech made so
   * far fails with
   */
  async open(request: SpeechRequest, signal: AbortSignal): Promise<OpenedSpeech> {
    const { synthesizer, encoders } = this.#options;
    const resolved = await resolveVoice(synthesizer, request.voiceOptions);
    const { voice } = resolved;
    const encoder = request.encoder ?? (await encoders.resolve(request.format, request.rateHz, voice.rateHz));
    const { sound, bytes } = await bufferUpTo(
      request.wholeMaxBytes,
      synthesize(synthesizer, request.text, { voice: resolved, codec: encoder.codec, signal }),
    );
    const fileBytes = bytes === null ? null : (encoder.fileBytes?.(bytes) ?? null);
    return { voice, encoder, chunks: encoder.encode(sound, signal, bytes), bytes: fileBytes };
  }

  /**
   * The voice that speaks a text that comes piece by piece.
   * @throws TrunklineError `invalid_request` for an unknown voice, `engine_unavailable`
   */
  voiceFor(options: VoiceOptions): Promise<ResolvedVoice> {
    return resolveVoice(this.#options.synthesizer, options);
  }

  /** Speaks a text while it comes: as {@link synthesizeLive}. */
  speakLive(live: LiveText): Sound {
    return synthesizeLive(this.#options.synthesizer, live);
  }
}
