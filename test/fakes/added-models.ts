/** Pretend models of every kind, each added by one row, as a contributor would add a real one. */
import { type EngineSettings, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import type {
  RecogniserRow,
  SynthesizerRow,
  TurnDetectorRow,
  VoiceDetectorRow,
} from '../../engine/models/model-table.ts';

/** What is said in each language, by how loud it is at most. */
const SAID: readonly { readonly below: number; readonly language: string; readonly text: string }[] = [
  { below: 1500, language: 'en', text: 'yes' },
  { below: 12_000, language: 'de', text: 'ja' },
  { below: 24_000, language: 'ja', text: 'はい、お願いします。' },
  { below: Number.POSITIVE_INFINITY, language: 'ar', text: 'نعم من فضلك.' },
];

/** Understands some languages: the louder, the further away. Hot words are written behind what is said. */
const recogniser: RecogniserRow = {
  kind: 'recogniser',
  name: 'two-languages',
  family: null,
  languages: SAID.map(({ language }) => language),
  abilities: {
    drafts: false,
    wordTimes: false,
    logprobs: false,
    confidence: false,
    languageGuess: true,
    hotWords: true,
    expectedWords: false,
    textDrafts: false,
    context: false,
    streams: false,
  },
  cost: { perJobMs: 1, perSecondMs: 10 },
  licence: null,
  files: [],
  runsOn: ['cpu'],
  load: async () => ({
    warning: null,
    asr: {
      name: 'two-languages-1',
      provider: 'cpu',
      vocabularySize: SAID.length,
      async *transcribe(samples, _draft, { language, hotWords = [] } = {}) {
        yield;
        const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
        const heard = SAID.findIndex(({ below }) => peak < below);
        const token = Math.max(language === undefined ? heard : SAID.findIndex((row) => row.language === language), 0);
        const text = [SAID[token]?.text ?? '', ...hotWords].join(' ');
        const found = language === undefined ? { language: SAID[token]?.language ?? 'en' } : {};
        return { text, tokens: [token], logprobs: null, looped: false, ...found };
      },
      warmUp: () => Promise.resolve(),
    },
  }),
};

const synthesizer: SynthesizerRow = {
  kind: 'synthesizer',
  name: 'hummer',
  cost: { perJobMs: 1, perCharacterMs: 1 },
  files: [],
  load: async () => ({
    warning: null,
    tts: {
      name: 'hummer-1',
      voices: [{ name: 'hum', language: 'de-AT', rateHz: 8000, model: 'hummer-1', licence: 'none', cost: null }],
      async *speak({ text }) {
        yield;
        return { samples: new Int16Array(text.length).fill(7), rateHz: 8000 };
      },
    },
  }),
};

const voiceDetector: VoiceDetectorRow = {
  kind: 'voice detector',
  name: 'always',
  cost: { perJobMs: 1, perSecondMs: 1 },
  files: [],
  load: async () => ({
    name: 'always-1',
    stateLength: 0,
    async *detect(tracks) {
      yield;
      return tracks.map(({ samples }) => ({
        probabilities: new Float32Array(samples.length / VAD_WINDOW_SAMPLES).fill(1),
        state: new Float32Array(0),
      }));
    },
  }),
};

const turnDetector: TurnDetectorRow = {
  kind: 'turn detector',
  name: 'undecided',
  cost: { perJobMs: 1, perSecondMs: 1 },
  files: [],
  isInstalled: () => true,
  load: async () => ({
    name: 'undecided-1',
    async *decide() {
      yield;
      return 0.5;
    },
  }),
};

/** The rows. */
export const ADDED_MODELS = [recogniser, synthesizer, voiceDetector, turnDetector];

/** The settings that choose them. */
export const ADDED_NAMES: Pick<EngineSettings, 'asrModel' | 'vadModel' | 'ttsModel' | 'turnModel'> = {
  asrModel: 'two-languages',
  vadModel: 'always',
  ttsModel: 'hummer',
  turnModel: 'auto',
};
