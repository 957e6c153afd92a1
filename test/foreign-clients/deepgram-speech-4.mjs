// Deepgram's SDK for Node, versions 3 and 4: a recording, speech by REST and by socket; what is spoken is heard again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { createClient } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const SENTENCE = 'Please leave a message after the tone.';
const VOICE = 'aura-2-thalia-en';
const BARE = { encoding: 'linear16', sample_rate: 8000 };
const connect = (key) => createClient(key, { global: { url: TRUNKLINE_URL } });
const deepgram = connect(TRUNKLINE_KEY);

async function textOf(sound, options) {
  const { result, error } = await deepgram.listen.prerecorded.transcribeFile(sound, { punctuate: true, ...options });
  if (error) throw error;
  return result.results.channels[0].alternatives[0];
}

async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

async function speakLive() {
  const socket = deepgram.speak.live({ model: VOICE, ...BARE });
  const events = [];
  const sound = [];
  socket.on('Open', () => {
    for (const word of SENTENCE.split(' ')) socket.sendText(`${word} `);
    socket.flush();
  });
  socket.on('Metadata', () => events.push('Metadata'));
  socket.on('Warning', () => events.push('Warning'));
  socket.on('Error', () => events.push('Error'));
  socket.on('Audio', (data) => {
    if (events.at(-1) !== 'sound') events.push('sound');
    sound.push(Buffer.from(data));
  });
  const closed = new Promise((resolve) => socket.on('Close', resolve));
  socket.on('Flushed', () => {
    events.push('Flushed');
    socket.requestClose();
  });
  await closed;
  return { events: [...events, 'Close'], sound: Buffer.concat(sound) };
}

const file = await textOf(readFileSync(join(AUDIO_DIR, 'short.wav')));
const rubbish = await deepgram.listen.prerecorded.transcribeFile(Buffer.from('no sound at all'), {});
const spoken = await deepgram.speak.request({ text: SENTENCE }, { model: VOICE, ...BARE, container: 'none' });
const live = await speakLive();
const refused = await connect('a-wrong-key').listen.prerecorded.transcribeFile(Buffer.from('none'), {});
console.log(
  JSON.stringify({
    text: file.transcript,
    words: file.words.length,
    rubbish: rubbish.error?.status,
    spoken: (await textOf(await collect(await spoken.getStream()), BARE)).transcript,
    events: live.events,
    spokenLive: (await textOf(live.sound, BARE)).transcript,
    refusal: refused.error?.status,
  }),
);
process.exit(0);
