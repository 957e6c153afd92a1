import { ASR_SCHEMES, remoteUrls } from '../remote-urls.ts';
import { bearerKey } from '../setting-forms.ts';
import { choice, type SettingGroup, text, whole } from '../setting-kinds.ts';

/** From audio to captions. */
export const recognition = {
  title: 'Recognition',
  part: 'recognition',
  everyday: {
    ASR_MODEL: text(
      'moonshine-tiny',
      'model',
      'Speech recogniser: moonshine-tiny, the name of an installed model (trunkline models list), or the path of a ' +
        'folder with one. tone = a deterministic model for tests; it recognises no speech.',
    ),
    ASR_URL: remoteUrls(
      ASR_SCHEMES,
      'http://gpu.example.com:8000/v1;weight=2',
      'Servers that recognise speech for this one: vLLM, speaches, whisper.cpp, another Trunkline or any with the ' +
        'API of OpenAI; NVIDIA Triton (triton://), sherpa-onnx (sherpa+ws://) or Wyoming (wyoming://). Speech is ' +
        'sent there. ASR_MODEL goes on finding speech, and reads what they do not answer in time. Behind a URL: ' +
        ';weight=n its share of the work, ;max=n requests at the same time, ;languages=de+fr what it understands ' +
        '(else what ASR_MODEL understands). Empty = none.',
    ),
    DEFAULT_LANGUAGE: text(
      'auto',
      'language',
      'Language that is spoken where no call, number or request names one, such as de or pt-BR. auto = the ' +
        'recogniser finds out where it can; else it is the first one that it understands.',
    ),
    NUMBERS_FILE: text(
      '',
      'path',
      'YAML file with the numbers that are called, the language that is spoken there and words that are likely to be ' +
        'said. It is read again when it changes. Empty = none.',
    ),
  },
  further: {
    ASR_FINAL_MODEL: text(
      '',
      'model',
      'Second, better recogniser, for final captions and recordings, named as in ASR_MODEL. Partial captions stay ' +
        'with ASR_MODEL, which also reads what the second one cannot read in time. Empty = ASR_MODEL alone.',
    ),
    ASR_API_KEY: bearerKey('Key for the servers of ASR_URL. Empty = none.'),
    ASR_URL_MODEL: text(
      '',
      'model',
      'Model that the servers of ASR_URL are asked for, by its name there. Empty = the one that they serve.',
    ),
    TURN_MODEL: text(
      'auto',
      'model',
      'Model that decides in a pause whether the caller has finished. auto = smart-turn where it is installed. off = ' +
        'none. tone = a deterministic model for tests; it knows no speech.',
    ),
    ENDPOINT_MS: whole(
      400,
      100,
      5000,
      'ms',
      'Silence of this length ends an utterance of a caller who talks with an app.',
    ),
    ENDPOINT_CAPTIONS_MS: whole(
      800,
      100,
      5000,
      'ms',
      'Silence of this length ends an utterance where there are only captions: in calls without an app, and on what ' +
        'the caller is told.',
    ),
    BACKGROUND_VOICES: choice(
      'mark',
      ['mark', 'keep'],
      'What becomes of speech in a call that is far below the level of whoever speaks into the phone: people behind ' +
        'the caller, a television. mark = it is captioned as background, and neither app nor flow hears it. keep = ' +
        "it is the caller's.",
    ),
    VAD_MODEL: text(
      'silero',
      'model',
      'Voice activity detector. tone = a deterministic model for tests; it detects no speech.',
    ),
    CHUNK_MS: whole(400, 100, 5000, 'ms', 'A partial caption follows the one before it after this much new speech.'),
  },
} as const satisfies SettingGroup;
