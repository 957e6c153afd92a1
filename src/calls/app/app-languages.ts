/** The languages of a call's session with its app: what it is told in, and what the app speaks. */
import { TrunklineError } from '../../foundation/errors.ts';
import { isAnyLanguage } from '../../foundation/recogniser-languages.ts';
import type { CallLanguages } from '../language/call-languages.ts';
import type { LanguageFrame } from './frames.ts';
import type { AppRequest } from './request.ts';

/** What prompts name where nobody knows the language. */
const ASSUMED = 'en-US';

interface AppLanguagesOptions {
  readonly request: Pick<AppRequest, 'ttsLanguage' | 'transcriptionLanguage' | 'guarded'>;
  readonly call: Pick<CallLanguages, 'caller' | 'name' | 'suggest'>;
  /** Whether a voice speaks this language (BCP 47); true while that is not known. */
  speaks(language: string): boolean;
}

export class AppLanguages {
  readonly #options: AppLanguagesOptions;
  #tts: string | undefined;
  /** As the app named it; undefined = it named none, or leaves it to the recogniser. */
  #transcription: string | undefined;

  constructor(options: AppLanguagesOptions) {
    const { request, call } = options;
    const { transcriptionLanguage: language } = request;
    this.#options = options;
    this.#tts = request.ttsLanguage;
    if (language === undefined) return;
    // What the call's own parameters name is known already.
    if (request.guarded) call.suggest({ language, by: 'app' }, ['inbound']);
    this.#transcription = isAnyLanguage(language) ? undefined : language;
  }

  /** In which texts are that name none (BCP 47); undefined = as the call is. */
  get tts(): string | undefined {
    return this.#tts;
  }

  /** Of what the caller says (BCP 47), as the app named it if it did. */
  get prompt(): string {
    return this.#transcription ?? this.#options.call.caller ?? ASSUMED;
  }

  /** @throws TrunklineError for a language that is not understood, or that no voice speaks */
  change({ ttsLanguage, transcriptionLanguage }: LanguageFrame): void {
    const { call, speaks } = this.#options;
    if (transcriptionLanguage !== undefined) {
      call.name({ language: transcriptionLanguage, by: 'app' }, 'transcriptionLanguage', ['inbound']);
      this.#transcription = isAnyLanguage(transcriptionLanguage) ? undefined : transcriptionLanguage;
    }
    if (ttsLanguage === undefined) return;
    if (!speaks(ttsLanguage))
      throw new TrunklineError('invalid_request', `ttsLanguage: got ${ttsLanguage}, which no voice speaks`);
    this.#tts = ttsLanguage;
  }
}
