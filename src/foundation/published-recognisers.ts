/**
 * The recognisers that `trunkline models add` installs, one row each: what they understand, what they are for, and
 * whose they are. Their files are in src/models/recogniser-files.ts.
 */
import type { Family } from '../../engine/models/bridge.ts';

/** A recogniser that its publisher offers to everybody. */
export interface PublishedRecogniser {
  /** As `trunkline models add` and the settings call it. */
  readonly name: string;
  readonly family: Family;
  /** Its publisher's, where he has one. */
  readonly version: string;
  /** ISO 639-1, the one that is assumed first. */
  readonly languages: readonly string[];
  /** `live` = quick enough for partial captions on a CPU; `final` = for finals and recordings. */
  readonly use: 'live' | 'final';
  /** Its errors as its publisher states them: in words (WER), where the language has spaces, else in characters. */
  readonly accuracy: string;
  /** The speech that it was measured on. */
  readonly measuredOn: string;
  /** SPDX identifier, or the licence's name. */
  readonly licence: string;
  readonly owner: string;
  /** What its licence asks of people who use it in business; null = nothing beside keeping the licence. */
  readonly obligation: string | null;
}

/** Free for private use and research; see {@link COMMUNITY_OBLIGATION}. */
export const COMMUNITY_LICENCE = 'Moonshine-Community';

/** https://github.com/moonshine-ai/moonshine/blob/main/LICENSE, section 2 */
const COMMUNITY_OBLIGATION =
  'no business use without a registration with Moonshine AI (moonshine.ai/community-license), and none above ' +
  '1,000,000 USD of revenue a year; show "Powered by Moonshine AI"';

const LEADERBOARD = 'mean of the Open ASR leaderboard';
const PARAKEET_OBLIGATION = 'name NVIDIA as its author where people can read it';

/** Sources: docs/models/available-models.md and core/moonshine-model-catalog.cpp of moonshine-ai/moonshine 0.1.5. */
const STREAMING: readonly (readonly [
  size: string,
  language: string,
  release: string,
  accuracy: string,
  measuredOn: string,
])[] = [
  ['small', 'en', '26.08.21', 'WER 7.8 %', LEADERBOARD],
  ['medium', 'en', '26.08.21', 'WER 6.7 %', LEADERBOARD],
  ['tiny', 'en', '26.08.21', 'WER 12.0 %', LEADERBOARD],
  ['small', 'de', '26.08.24', 'WER 7.5 %', 'FLEURS and MLS'],
  ['tiny', 'de', '26.08.24', 'WER 12.0 %', 'FLEURS and MLS'],
  ['small', 'es', '26.08.24', 'WER 4.9 %', 'FLEURS and MLS'],
  ['tiny', 'es', '26.08.24', 'WER 6.2 %', 'FLEURS and MLS'],
  ['small', 'ja', '26.08.23', 'CER 17.2 %', 'FLEURS and ReazonSpeech'],
  ['tiny', 'ja', '26.08.23', 'CER 19.7 %', 'FLEURS and ReazonSpeech'],
  ['tiny', 'ar', '26.08.24', 'WER 15.5 %', 'Common Voice and FLEURS'],
  ['tiny', 'tl', '26.08.24', 'WER 14.9 %', 'FLEURS'],
  ['tiny', 'vi', '26.08.24', 'WER 9.4 %', 'FLEURS and LSVSC'],
  ['tiny', 'zh', '26.08.24', 'CER 16.1 %', 'FLEURS and WenetSpeech'],
];

/** Those that do not stream, by the same source; the sets are FLEURS but for English. */
const WHOLE: readonly (readonly [size: string, language: string, accuracy: string])[] = [
  ['base', 'en', 'WER 10.1 %'],
  ['base', 'ar', 'WER 5.6 %'],
  ['base', 'es', 'WER 4.3 %'],
  ['base', 'ja', 'CER 13.6 %'],
  ['tiny', 'ja', 'not published'],
  ['tiny', 'ko', 'CER 6.5 %'],
  ['base', 'uk', 'WER 14.6 %'],
  ['base', 'vi', 'WER 8.8 %'],
  ['base', 'zh', 'CER 25.8 %'],
];

/** Source: the table of LibriSpeech in the README of QwenLM/Qwen3-ASR. */
const QWEN: readonly (readonly [size: string, accuracy: string])[] = [
  ['0.6b', 'WER 4.6 %'],
  ['1.7b', 'WER 3.4 %'],
];

/** Those of Whisper's vocabulary, English first. https://github.com/openai/whisper, whisper/tokenizer.py */
const WHISPER_LANGUAGES = (
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
  'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am ' +
  'yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jv su'
).split(' ');

const LIBRISPEECH = 'LibriSpeech test-clean, English';
/** Sources: the cards of openai/whisper-base and -small; the documents of onnx-asr. */
const WHISPER: readonly (readonly [size: string, accuracy: string, measuredOn: string])[] = [
  ['small', 'WER 3.4 %', LIBRISPEECH],
  ['base', 'WER 5.0 %', LIBRISPEECH],
  ['large-v3-turbo', 'WER 11.5 %', 'VoxPopuli, English'],
];

/** Those of one use and language stand in the order in which they are advised. */
export const PUBLISHED_RECOGNISERS: readonly PublishedRecogniser[] = [
  ...STREAMING.map(
    ([size, language, version, accuracy, measuredOn]): PublishedRecogniser => ({
      name: `moonshine-streaming-${size}-${language}`,
      family: 'moonshine-streaming',
      version,
      languages: [language],
      use: 'live',
      accuracy,
      measuredOn,
      licence: 'MIT',
      owner: 'Moonshine AI',
      obligation: null,
    }),
  ),
  {
    name: 'parakeet-tdt-0.6b-v3',
    family: 'parakeet-tdt',
    version: 'int8',
    languages: 'en bg cs da de el es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk'.split(' '),
    use: 'final',
    accuracy: 'WER 6.8 %',
    measuredOn: 'VoxPopuli, English',
    licence: 'CC-BY-4.0',
    owner: 'NVIDIA; made ONNX by Ilya Stupakov',
    obligation: PARAKEET_OBLIGATION,
  },
  {
    name: 'parakeet-tdt-0.6b-v2',
    family: 'parakeet-tdt',
    version: 'int8',
    languages: ['en'],
    use: 'final',
    accuracy: 'WER 6.1 %',
    measuredOn: LEADERBOARD,
    licence: 'CC-BY-4.0',
    owner: 'NVIDIA; made ONNX by Ilya Stupakov',
    obligation: PARAKEET_OBLIGATION,
  },
  ...QWEN.map(
    ([size, accuracy]): PublishedRecogniser => ({
      name: `qwen3-asr-${size}`,
      family: 'qwen3-asr',
      version: 'int8',
      languages: 'en ar cs da de el es fa fi fil fr hi hu id it ja ko mk ms nl pl pt ro ru sv th tr vi yue zh'.split(
        ' ',
      ),
      use: 'final',
      accuracy,
      measuredOn: 'LibriSpeech other, English, before it had 8 bits',
      licence: 'Apache-2.0',
      owner: 'Alibaba; made ONNX by zengyw for sherpa-onnx',
      obligation: null,
    }),
  ),
  ...WHISPER.map(
    ([size, accuracy, measuredOn]): PublishedRecogniser => ({
      name: `whisper-${size}`,
      family: 'whisper',
      version: '8-bit',
      languages: size.startsWith('large-v3') ? [...WHISPER_LANGUAGES, 'yue'] : WHISPER_LANGUAGES,
      use: 'final',
      accuracy,
      measuredOn,
      licence: 'MIT',
      owner: 'OpenAI; made ONNX by the onnx-community of Hugging Face',
      obligation: null,
    }),
  ),
  ...WHOLE.map(
    ([size, language, accuracy]): PublishedRecogniser => ({
      name: `moonshine-${size}-${language}`,
      family: 'moonshine',
      version: '1',
      languages: [language],
      use: 'live',
      accuracy,
      measuredOn: language === 'en' ? LEADERBOARD : 'FLEURS',
      licence: language === 'en' ? 'MIT' : COMMUNITY_LICENCE,
      owner: 'Moonshine AI',
      obligation: language === 'en' ? null : COMMUNITY_OBLIGATION,
    }),
  ),
];

/** The setting that takes a recogniser of this use. */
export function settingOfUse(use: PublishedRecogniser['use']): 'ASR_MODEL' | 'ASR_FINAL_MODEL' {
  return use === 'live' ? 'ASR_MODEL' : 'ASR_FINAL_MODEL';
}
