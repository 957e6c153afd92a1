// Deepgram's SDK for Node, version 5: a recording, speech by REST and by socket, heard again, and a short-lived key.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { DeepgramClient } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const SENTENCE = 'Please leave a message after the tone.';
const VOICE = 'aura-2-thalia-en';
const BARE = { encoding: 'linear16', sample_rate: 8000 };
/** Its files have no parameter for the rate of bare samples. */
const HEARD = { encoding: 'linear16', rateHz: BARE.sample_rate };
const deepgram = new DeepgramClient({ apiKey: TRUNKLINE_KEY, baseUrl: TRUNKLINE_URL });

async function textOf(sound, { rateHz, ...options } = {}) {
  const more = rateHz === undefined ? {} : { queryParams: { sample_rate: rateHz } };
  const answer = await deepgram.listen.v1.media.transcribeFile(sound, { punctuate: true, ...options }, more);
  return answer.results.channels[0].alternatives[0];
}

async function bytesOf(data) {
  return Buffer.from(data instanceof Blob ? await data.arrayBuffer() : data);
}

async function speakLive() {
  const sockets = new DeepgramClient({ apiKey: TRUNKLINE_KEY, baseUrl: TRUNKLINE_URL.replace('http', 'ws') });
  const socket = await sockets.speak.v1.connect({ ...BARE, model: VOICE });
  const events = [];
  const sound = [];
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', () => events.push('error'));
  socket.on('message', (message) => {
    const type = message.type && !(message instanceof Blob) ? message.type : 'sound';
    if (type === 'sound') sound.push(message);
    if (type !== 'sound' || events.at(-1) !== 'sound') events.push(type);
    if (type === 'Flushed') socket.sendClose({ type: 'Close' });
  });
  socket.connect();
  await socket.waitForOpen();
  for (const word of SENTENCE.split(' ')) socket.sendText({ type: 'Speak', text: `${word} ` });
  socket.sendFlush({ type: 'Flush' });
  const { code } = await closed;
  return { events: [...events, code], sound: Buffer.concat(await Promise.all(sound.map(bytesOf))) };
}

const file = await textOf(readFileSync(join(AUDIO_DIR, 'short.wav')));
const rubbish = await deepgram.listen.v1.media
  .transcribeFile(Buffer.from('no sound at all'), {})
  .catch((error) => `${error.constructor.name} ${error.statusCode}`);
const spoken = await deepgram.speak.v1.audio.generate({ text: SENTENCE, model: VOICE, ...BARE, container: 'none' });
const live = await speakLive();
const grant = await deepgram.auth.v1.tokens.grant({ ttl_seconds: 30 });
const refusal = await new DeepgramClient({ apiKey: 'a-wrong-key', baseUrl: TRUNKLINE_URL }).listen.v1.media
  .transcribeFile(Buffer.from('none'), {})
  .catch((error) => `${error.constructor.name} ${error.statusCode}`);
console.log(
  JSON.stringify({
    text: file.transcript,
    words: file.words.length,
    rubbish,
    spoken: (await textOf(Buffer.from(await spoken.arrayBuffer()), HEARD)).transcript,
    events: live.events,
    spokenLive: (await textOf(live.sound, HEARD)).transcript,
    grantSeconds: grant.expires_in,
    refusal,
  }),
);
process.exit(0);
