/** Pretend models of every kind, each added by one row, as a contributor would add a real one. */
import { type EngineSettings, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import type {
  RecogniserRow,
  SynthesizerRow,
  TurnDetectorRow,
  VoiceDetectorRow,
} from '../../engine/models/model-table.ts';

/** Understands two languages: what is loud is German. */
const recogniser: RecogniserRow = {
  kind: 'recogniser',
  name: 'two-languages',
  family: null,
  languages: ['en', 'de'],
  abilities: {
    drafts: false,
    wordTimes: false,
    logprobs: false,
    languageGuess: true,
    hotWords: false,
    textDrafts: false,
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
      vocabularySize: 2,
      async *transcribe(samples) {
        yield;
        const isGerman = samples.some((sample) => sample > 1000);
        return { text: isGerman ? 'ja' : 'yes', tokens: [isGerman ? 1 : 0], logprobs: null, looped: false };
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
