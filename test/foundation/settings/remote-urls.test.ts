import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { ASR_SCHEMES, parseRemoteUrl } from '../../../src/foundation/settings/remote-urls.ts';
import { problemsOf } from '../../helpers/settings-problems.ts';

describe('a server of ASR_URL', () => {
  it('is a URL, with options behind semicolons', () => {
    expect(
      parseRemoteUrl(' http://gpu:8000/v1 ; weight=3;max=8; languages=de+pt-BR;rate=24000', ASR_SCHEMES),
    ).toMatchObject({ scheme: 'http', weight: 3, inFlightMax: 8, languages: ['de', 'pt-BR'], rateHz: 24_000 });
    const { url, ...plain } = parseRemoteUrl('https://asr.example.com', ASR_SCHEMES) ?? {};
    expect([url?.href, plain]).toEqual([
      'https://asr.example.com/',
      { scheme: 'https', weight: 1, inFlightMax: null, languages: [], rateHz: null, voices: [] },
    ]);
  });

  it.each([
    '',
    'gpu:8000',
    'ftp://gpu',
    'http://',
    'http://user:secret@gpu',
    'http://gpu/#x',
    'http://gpu;weight=0',
    'http://gpu;weight=101',
    'http://gpu;weight=1.5',
    'http://gpu;weight',
    'http://gpu;max=0',
    'http://gpu;languages=',
    'http://gpu;languages=de,fr',
    'http://gpu;toString=1',
    'http://gpu;speed=1',
    'http://gpu;;',
  ])('is not %j', (text) => {
    expect(parseRemoteUrl(text, ASR_SCHEMES)).toBeNull();
  });

  it('is one of a list', () => {
    const { ASR_URL } = readSettings({ ASR_URL: 'http://a;weight=2, http://b' });
    expect(ASR_URL).toEqual(['http://a;weight=2', 'http://b']);
    expect(readSettings({}).ASR_URL).toEqual([]);
  });

  it('is named once, and keeps its secrets out of what is printed', () => {
    expect(problemsOf({ ASR_URL: 'http://a;weight=2,http://a' })).toEqual([expect.stringContaining('each URL once')]);
    const [problem] = problemsOf({ ASR_URL: 'http://me:secret@a' });
    expect(problem).toContain('expected up to 16 URLs without a user (http, https, triton, sherpa+ws, wyoming)');
    expect(problem).not.toContain('secret');
  });
});

describe('a key of servers', () => {
  it.each(['ASR_API_KEY', 'TTS_API_KEY'])('%s can be sent in a header, and is not printed', (name) => {
    expect(problemsOf({ [name]: 'sk-abc.DEF_123' })).toEqual([]);
    const [problem] = problemsOf({ [name]: 'sëcret\nkey' });
    expect(problem).toContain('expected a key of ASCII characters without spaces');
    expect(problem).not.toContain('cret');
  });
});
