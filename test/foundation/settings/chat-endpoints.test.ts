import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/foundation/settings/config.ts';

const LLM = {
  LLM_BASE_URL: 'http://llm.example:8000/v1',
  LLM_API_KEY: 'key of all',
  LLM_MODEL: 'general',
  LLM_TIMEOUT_MS: '9000',
};

describe('LLM_BASE_URL and what belongs to it', () => {
  it('are those of translation, and of hints once a model is asked for', () => {
    expect(readSettings(LLM)).toMatchObject({
      TRANSLATE_BASE_URL: LLM.LLM_BASE_URL,
      TRANSLATE_API_KEY: 'key of all',
      TRANSLATE_MODEL: 'general',
      TRANSLATE_TIMEOUT_MS: 9000,
      HINTS_BASE_URL: '',
      HINTS_API_KEY: '',
    });
    expect(readSettings({ ...LLM, HINTS_MODEL: 'small' })).toMatchObject({
      HINTS_BASE_URL: LLM.LLM_BASE_URL,
      HINTS_API_KEY: 'key of all',
      HINTS_MODEL: 'small',
      HINTS_TIMEOUT_MS: 9000,
    });
  });

  it('give way to what is set, and their key goes to no other server', () => {
    const own = { HINTS_BASE_URL: 'https://hints.example/v1', HINTS_TIMEOUT_MS: '2000', TRANSLATE_API_KEY: 'own' };
    expect(readSettings({ ...LLM, ...own })).toMatchObject({
      HINTS_BASE_URL: 'https://hints.example/v1',
      HINTS_API_KEY: '',
      HINTS_MODEL: 'general',
      HINTS_TIMEOUT_MS: 2000,
      TRANSLATE_API_KEY: 'own',
    });
  });

  it('leave translation as it was where they are not set', () => {
    expect(readSettings({ TRANSLATE_BASE_URL: 'http://x/v1', TRANSLATE_MODEL: 'm' })).toMatchObject({
      TRANSLATE_TIMEOUT_MS: 60_000,
      TRANSLATE_API_KEY: '',
      HINTS_BASE_URL: '',
    });
  });

  it.each([
    [{ HINTS_MODEL: 'm' }, 'HINTS_MODEL needs a chat endpoint: set LLM_BASE_URL'],
    [{ HINTS_BASE_URL: 'http://x/v1' }, 'HINTS_BASE_URL needs the name of a model: set HINTS_MODEL or LLM_MODEL'],
    [{ HINTS_TIMEOUT_MS: '5' }, 'HINTS_TIMEOUT_MS: got "5", expected 0, or a whole number from 1000 to 600000'],
  ])('contradict %o', (environment, message) => {
    expect(() => readSettings(environment)).toThrow(message);
  });
});
