import { describe, expect, it } from 'vitest';
import { requireLanguage } from '../../../src/http/transcriptions/languages.ts';

const CAN_BE_INSTALLED = 'can be installed for it: trunkline models add';
const [SMALL_DE, TINY_ZH, PARAKEET, QWEN, WHISPER] = [
  'moonshine-streaming-small-de',
  'moonshine-streaming-tiny-zh',
  'parakeet-tdt-0.6b-v3',
  'qwen3-asr-0.6b',
  'whisper-small',
];
const CHINESE = `; ${TINY_ZH} (ASR_MODEL) and ${QWEN} (ASR_FINAL_MODEL) ${CAN_BE_INSTALLED} ${TINY_ZH}`;

describe('requireLanguage', () => {
  it.each(['', 'auto', 'Auto', 'en', 'EN', 'en-US', 'en_gb', 'en-Latn-US', 'english', 'English', ' English '])(
    'takes "%s"',
    (language) => {
      expect(() => requireLanguage(language, ['en'])).not.toThrow();
    },
  );

  it.each([
    ['de', '"de"', `; ${SMALL_DE} (ASR_MODEL) and ${PARAKEET} (ASR_FINAL_MODEL) ${CAN_BE_INSTALLED} ${SMALL_DE}`],
    ['Chinese', '"Chinese"', CHINESE],
    ['zh-TW', '"zh-TW"', CHINESE],
    ['hindi', '"hindi"', `; ${QWEN} (ASR_FINAL_MODEL) ${CAN_BE_INSTALLED} ${QWEN}`],
    ['eu', '"eu"', `; ${WHISPER} (ASR_FINAL_MODEL) ${CAN_BE_INSTALLED} ${WHISPER}`],
    ['enx', '"enx"'],
    ['en-', '"en-"'],
    [`en-${'x'.repeat(5000)}`, `"en-${'x'.repeat(76)}…`],
  ])('refuses "%s" and says what there is', (language, shown, advice = '') => {
    expect(() => requireLanguage(language, ['en'])).toThrow(
      expect.objectContaining({
        code: 'unsupported_language',
        param: 'language',
        message:
          `language: got ${shown}, expected "en" (or "en-US" and the like), "English", "auto" or nothing: the ` +
          `recogniser understands English${advice}`,
      }),
    );
  });
});

describe('requireLanguage, with a recogniser of several languages', () => {
  it.each(['en-GB', 'de', 'de-AT', 'German', 'auto'])('takes "%s"', (language) => {
    expect(() => requireLanguage(language, ['de', 'en'])).not.toThrow();
  });

  it('names them all when it refuses another one', () => {
    expect(() => requireLanguage('fr', ['de', 'en'])).toThrow(
      'language: got "fr", expected "de" or "en" (or "de-DE" and the like), "German" or "English", "auto" or ' +
        `nothing: the recogniser understands German and English; ${PARAKEET} (ASR_FINAL_MODEL) ` +
        `${CAN_BE_INSTALLED} ${PARAKEET}`,
    );
  });

  it('refuses nothing before an engine has said what it understands', () => {
    expect(() => requireLanguage('fr', [])).not.toThrow();
  });
});
