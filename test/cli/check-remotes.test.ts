import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { checkRemotes } from '../../src/cli/check-remotes.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { AsrServer, json } from '../fakes/asr-server.ts';
import { FakeClock } from '../fakes/clock.ts';
import { TtsServer } from '../fakes/tts-server.ts';
import { eventually } from '../helpers/eventually.ts';

let server: AsrServer;

beforeEach(async () => {
  server = new AsrServer();
  await server.listen();
});

afterEach(() => server.close());

const check = (url = server.url, clock = new FakeClock()) => checkRemotes(readSettings({ ASR_URL: url }), clock);

describe("the doctor's question to the servers of ASR_URL", () => {
  it('is a sentence, twice, and what they make of it', async () => {
    const { host } = new URL(server.url);
    expect(await check()).toEqual([
      {
        name: 'asr server',
        status: 'ok',
        detail: `${host} read 2.7 s of speech in 0 ms, the first time in 0 ms: "Heard."`,
      },
    ]);
    expect(server.received.map(({ fileBytes }) => fileBytes)).toEqual([85_844, 85_844]);
  });

  it.each([
    [404, 'it answered 404: look at its log, and at the key, the model and the path of the URL'],
    [503, 'it answered 503: it has too much to do: try again, or name another one'],
    [500, 'it answered 500: is it running, and can it be reached from here?'],
  ])('finds what helps where they answer %i', async (status, detail) => {
    server.behave = json({}, status);
    expect(await check()).toMatchObject([{ status: 'fail', detail: expect.stringContaining(detail) }]);
  });

  it.each(['', 'Thanks for watching!'])('finds out that they hear nothing: "%s"', async (text) => {
    server.behave = json({ text });
    expect(await check()).toMatchObject([
      { status: 'fail', detail: expect.stringContaining(`"${text}": these are not its words`) },
    ]);
  });

  it('finds out that something else listens there', async () => {
    server.behave = (response) => response.end('<html></html>');
    expect(await check()).toMatchObject([
      { status: 'fail', detail: expect.stringContaining('is it a server for speech') },
    ]);
  });

  it('is given up after a minute', async () => {
    server.behave = () => undefined;
    const clock = new FakeClock();
    const checking = check(server.url, clock);
    await eventually(() => expect(server.received).toHaveLength(1));
    clock.advance(60_000);
    expect(await checking).toMatchObject([{ status: 'fail', detail: expect.stringContaining('within 60 s') }]);
  });

  it('is a word to be spoken for those of TTS_URL', async () => {
    const speaker = new TtsServer();
    await speaker.listen();
    speaker.behave = (response) => response.end(writeWav([new Int16Array(8000)], 16_000));
    const clock = new FakeClock();
    const { host } = new URL(speaker.url);
    const settings = readSettings({ TTS_URL: `${speaker.url};voices=heart` });
    const spoken = `remote:heart of ${host} spoke 500 ms of audio in 0 ms, and began after 0 ms`;
    expect(await checkRemotes(settings, clock)).toEqual([{ name: 'tts server', status: 'ok', detail: spoken }]);
    speaker.behave = (response) => response.writeHead(404).end();
    expect(await checkRemotes(settings, clock)).toMatchObject([{ status: 'fail' }]);
    await speaker.close();
  });

  it('is none where there are no servers', async () => {
    expect(await check('')).toEqual([]);
  });
});
