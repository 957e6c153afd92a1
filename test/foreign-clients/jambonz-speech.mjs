// jambonz's own package for speech: a custom vendor's text to speech, with the cache off, as its feature server asks.
import { readFileSync, unlinkSync } from 'node:fs';
import { extname } from 'node:path';

const { default: speechUtils } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY } = process.env;
const SENTENCE = 'Please leave a message after the tone.';

const logger = { info() {}, error() {}, debug() {}, warn() {} };
const stats = { increment() {}, histogram() {} };
// There is no Redis: what is spoken is kept nowhere.
const { client, synthAudio } = speechUtils({ host: '127.0.0.1', port: 1 }, logger);
client.on?.('error', () => {});

async function speak(text, key) {
  const { filePath } = await synthAudio(stats, {
    account_sid: 'account',
    vendor: 'custom:trunkline',
    language: 'en-US',
    voice: 'default',
    text,
    salt: text.length,
    credentials: { vendor: 'custom:trunkline', auth_token: key, custom_tts_url: `${TRUNKLINE_URL}/jambonz/tts` },
    disableTtsCache: true,
    renderForCaching: true,
  });
  const sound = readFileSync(filePath);
  unlinkSync(filePath);
  return { type: extname(filePath), sound };
}

async function hear(sound) {
  const response = await fetch(`${TRUNKLINE_URL}/v1/listen?punctuate=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TRUNKLINE_KEY}` },
    body: sound,
  });
  return (await response.json()).results.channels[0].alternatives[0].transcript;
}

const text = await speak(SENTENCE, TRUNKLINE_KEY);
const ssml = await speak(`<speak><p>${SENTENCE}</p></speak>`, TRUNKLINE_KEY);
const refusal = await speak(SENTENCE, 'wrong').catch((error) => error.statusCode ?? error.message);
console.log(
  JSON.stringify({ type: text.type, spoken: await hear(text.sound), fromSsml: await hear(ssml.sound), refusal }),
);
process.exit(0);
