import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../test-server.ts';
import { ECHO, Programs } from './programs.ts';

let testServer: TestServer;
let programs: Programs;
beforeEach(async () => {
  programs = new Programs();
  testServer = await startServer({}, programs.make(ECHO));
});
afterEach(async () => {
  await testServer.app.close();
  programs.remove();
});

function speak(fields: object) {
  return testServer.app.inject({
    method: 'POST',
    url: '/v1/audio/speech',
    payload: { input: 'Hello there.', ...fields },
  });
}

describe('formats that need ffmpeg', () => {
  it.each([
    ['opus', 'audio/ogg; codecs=opus', '-c:a libopus -b:a 32k'],
    ['ogg', 'audio/ogg; codecs=opus', '-c:a libopus -b:a 32k'],
    ['flac', 'audio/flac', '-c:a flac -f flac'],
  ])('%s is what ffmpeg makes of the samples', async (format, contentType, args) => {
    const samples = (await speak({ response_format: 'pcm', sample_rate: 16_000 })).rawPayload;
    const answer = await speak({ response_format: format });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, contentType]);
    const line = answer.rawPayload.indexOf('\n');
    const told = JSON.parse(answer.rawPayload.toString('utf8', 0, line)).join(' ') as string;
    expect(told).toContain('-f s16le -ar 16000 -ac 1 -i pipe:0');
    expect(told).toContain(args);
    expect(answer.rawPayload.subarray(line + 1)).toEqual(samples);
  });

  it('are refused one by one: an ffmpeg may lack an encoder', async () => {
    const answer = await speak({ response_format: 'aac' });
    expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'unsupported_format']);
    expect(answer.json().error.message).toContain('its encoder aac');
  });

  it('fail as an answer, not as half a file, when there is nothing to encode', async () => {
    const answer = await speak({ response_format: 'flac', input: '...' });
    expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'invalid_request']);
  });
});
