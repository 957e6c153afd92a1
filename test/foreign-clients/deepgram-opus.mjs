// Deepgram's SDK for Node: Opus, packet by packet and in Ogg.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { DeepgramClient } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const PACKET_MS = 20;
const PIECE_MS = 100;
const PIECE_BYTES = 300;
const PAGE_HEAD_BYTES = 27;
const SEGMENT_MAX_BYTES = 255;
/** OpusHead and OpusTags are no sound. */
const HEADERS = 2;

const file = readFileSync(join(AUDIO_DIR, 'short.opus'));
const client = new DeepgramClient({ apiKey: TRUNKLINE_KEY, baseUrl: TRUNKLINE_URL.replace('http', 'ws') });

/** The packets in Ogg, RFC 3533. */
function packets() {
  const all = [];
  let parts = [];
  for (let at = 0; at < file.length; ) {
    const count = file[at + PAGE_HEAD_BYTES - 1];
    const sizes = file.subarray(at + PAGE_HEAD_BYTES, at + PAGE_HEAD_BYTES + count);
    at += PAGE_HEAD_BYTES + count;
    for (const size of sizes) {
      parts.push(file.subarray(at, at + size));
      at += size;
      if (size === SEGMENT_MAX_BYTES) continue;
      all.push(Buffer.concat(parts));
      parts = [];
    }
  }
  return all.slice(HEADERS);
}

function pieces() {
  const count = Math.ceil(file.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, at) => file.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES));
}

async function hear(messages, pauseMs, options) {
  const socket = await client.listen.v1.connect({ model: 'nova-3', punctuate: 'true', ...options });
  const texts = [];
  let errors = 0;
  socket.on('message', (message) => {
    if (message.type === 'Results' && message.is_final) texts.push(message.channel.alternatives[0].transcript);
  });
  socket.on('error', () => errors++);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.connect();
  await socket.waitForOpen();
  for (const message of messages) {
    socket.sendMedia(message);
    await pause(pauseMs);
  }
  socket.sendCloseStream({ type: 'CloseStream' });
  const { code } = await closed;
  return { text: texts.join(' ').trim(), closed: code, errors };
}

console.log(
  JSON.stringify({
    packets: await hear(packets(), PACKET_MS, { encoding: 'opus', sample_rate: 48000 }),
    ogg: await hear(pieces(), PIECE_MS, {}),
  }),
);
process.exit(0);
