import { remoteUrls, TTS_SCHEMES } from '../remote-urls.ts';
import { bearerKey, voiceMap } from '../setting-forms.ts';
import { type SettingGroup, text, whole } from '../setting-kinds.ts';

/** From text to speech, in calls and over HTTP. */
export const speech = {
  title: 'Speech',
  part: 'speech',
  everyday: {
    DEFAULT_VOICE: text(
      '',
      'voice',
      'Voice for text that names none: rms, slt, awb, kal or kal16. With espeak-ng installed also espeak:de and its ' +
        'other languages; with hibari or kokoro in MODELS_DIR also hibari:heart, kokoro:af_heart and others. ' +
        'Empty = the best one for calls: hibari:heart where it is installed, else rms.',
    ),
    TTS_URL: remoteUrls(
      TTS_SCHEMES,
      'http://gpu.example.com:8880/v1;voices=af_heart',
      "Servers that speak for this one: vLLM-Omni, Kokoro-FastAPI, another Trunkline or any with OpenAI's speech. " +
        'What is said is sent there. Behind a URL: ;voices=a+b the voices to use, named remote:a here; ' +
        ';languages=de what they speak (else en-US); ;rate=24000 asks for bare samples of so many Hz, not for WAV; ' +
        ';weight=n, ;max=n as in ASR_URL. Where no sound comes in time, an embedded voice speaks. Empty = none.',
    ),
  },
  further: {
    TTS_API_KEY: bearerKey('Key for the servers of TTS_URL. Empty = none.'),
    TTS_URL_MODEL: text(
      '',
      'model',
      'Model that the servers of TTS_URL are asked for, by its name there. Empty = the one that they serve.',
    ),
    VOICE_MAP: voiceMap(
      'Voices that replace the voices of other platforms; upper and lower case do not matter. In calls, ' +
        'DEFAULT_VOICE ' +
        'replaces a voice that is neither here nor listed. Over HTTP such a voice is refused.',
    ),
    LEXICON_FILE: text(
      '',
      'path',
      'File with words that are to be said in a way of their own, one a line: `Trunkline /tɹˈʌŋklˌIn/` (phonemes, ' +
        'for the voices of hibari and Kokoro), `SQL = sequel` (for all voices), `[en-GB] …` for one language. ' +
        'Numbers and signs are written out before words are looked up. Empty = none.',
    ),
    PROMPTS_FILE: text(
      '',
      'path',
      'File with prompts that the server synthesizes when it starts: one a line, or a JSON list of texts and of ' +
        '{text, voice, speed}. Empty = none.',
    ),
    PROMPT_CACHE_DIR: text(
      '',
      'path',
      'Folder on this machine that keeps synthesized sentences across restarts. Only one server may use it. ' +
        'Empty = prompts in DATA_DIR; without that none.',
    ),
    TTS_MODEL: text(
      'installed',
      'model',
      'Speech synthesizer. installed = all there are on this machine: flite, espeak-ng, and those in MODELS_DIR; ' +
        'flite = without those in MODELS_DIR; tone = a deterministic model for tests that speaks no words.',
    ),
    SPEECH_REQUESTS_MAX: whole(
      16,
      1,
      10_000,
      'requests',
      'Most requests for speech at once, including open speech sockets. Further requests are refused.',
    ),
  },
} as const satisfies SettingGroup;
