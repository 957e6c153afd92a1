/** The languages of a call whose caller speaks English, for sessions without a call. */
import type { CallLanguages } from '../../src/calls/language/call-languages.ts';
import { requireSpoken } from '../../src/foundation/recogniser-languages.ts';
import type { ExpectedAnswer } from '../../src/transcription/expected-answer.ts';

export type FakeLanguages = Pick<CallLanguages, 'caller' | 'name' | 'suggest' | 'expectAnswer'> & {
  caller: string | null;
  /** What the caller is asked; null = nothing. */
  answer: ExpectedAnswer | null;
};

/** Understands English alone, and keeps what was named. */
export function fakeLanguages(): FakeLanguages {
  const languages: FakeLanguages = {
    caller: null,
    answer: null,
    expectAnswer: (answer) => {
      languages.answer = answer;
    },
    name: ({ language }, param) => {
      languages.caller = requireSpoken(language, ['en'], param);
    },
    suggest: ({ language }) => {
      languages.caller = language;
    },
  };
  return languages;
}
