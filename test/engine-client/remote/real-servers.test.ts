/**
 * Real servers of the other protocols: sherpa-onnx with our weights, NVIDIA Triton and Wyoming's own server.
 * `.ci/remotes` installs and starts them.
 */
import { describe, expect, it } from 'vitest';
import type { RemoteRecogniser } from '../../../src/engine-client/remote/remote-recogniser.ts';
import { SherpaRecogniser } from '../../../src/engine-client/remote/sherpa-recogniser.ts';
import { TritonRecogniser } from '../../../src/engine-client/remote/triton-recogniser.ts';
import { WyomingRecogniser } from '../../../src/engine-client/remote/wyoming-recogniser.ts';
import { speech } from '../../engine/speech.ts';

const isThere = process.env['TRUNKLINE_TEST_REMOTES'] === 'yes';
const why = isThere ? '' : ' (not run: .ci/remotes starts them)';

const AT_ONCE = 6;

describe.skipIf(!isThere)(`real servers${why}`, () => {
  /** One request that is given up, then some at once. Returns their texts. */
  async function ask(recogniser: RemoteRecogniser): Promise<string[]> {
    const samples = speech('short');
    const givenUp = new AbortController();
    const unwanted = recogniser.recognise({ samples, language: 'en', urgency: 'final', signal: givenUp.signal });
    givenUp.abort();
    await expect(unwanted).rejects.toThrow();
    const { signal } = new AbortController();
    const wanted = Array.from({ length: AT_ONCE }, () =>
      recogniser.recognise({ samples, language: 'en', urgency: 'final', signal }),
    );
    const answers = await Promise.all(wanted);
    recogniser.close();
    return answers.map(({ text }) => text);
  }

  it('of sherpa-onnx read speech', async () => {
    const texts = await ask(new SherpaRecogniser(new URL('sherpa+ws://127.0.0.1:6006')));
    expect(texts).toHaveLength(AT_ONCE);
    for (const text of texts) expect(text).toBe('Please leave a message after the tone.');
  });

  it('of Triton get the samples, their number and the language', async () => {
    const recogniser = new TritonRecogniser(new URL('triton://127.0.0.1:18001/echo'), { apiKey: '', model: '' });
    const samples = speech('short');
    const padded = Math.ceil(samples.length / 8000) * 8000;
    expect(await ask(recogniser)).toEqual(Array(AT_ONCE).fill(`${samples.length} of ${padded} in en`));
    const other = new TritonRecogniser(new URL('triton://127.0.0.1:18001/nothing'), { apiKey: '', model: '' });
    await expect(ask(other)).rejects.toMatchObject({ failure: 'refused' });
  });

  it('of Wyoming get the bytes and the language', async () => {
    const texts = await ask(new WyomingRecogniser(new URL('wyoming://127.0.0.1:10399')));
    expect(texts).toEqual(Array(AT_ONCE).fill(`${speech('short').length * 2} bytes in en`));
  });
});
