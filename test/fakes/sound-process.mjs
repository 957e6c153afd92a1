/**
 * Records the sound of calls into the folder that its first argument names, as fast as they speak, and prints how many
 * ms of each call are on disk. It goes on until it is killed. The second argument is RECORD_KEY.
 */
const dist = new URL('../../dist/src/', import.meta.url);
const load = (path) => import(new URL(path, dist).href);
const { SoundStore } = await load('records/sound/sound-store.js');
const { readSoundKey } = await load('records/sound/sound-key.js');
const { systemClock } = await load('foundation/clock.js');
const { createLog } = await load('foundation/log/log.js');
const { Metrics } = await load('foundation/metrics.js');

const CALLS = 20;
const FRAME_MS = 20;
const MULAW = { name: 'mulaw', rateHz: 8000, channels: 1, bytesPerSample: 1 };
/** So that calls of some seconds are written several times. */
const FASTER = 20;

const [folder, recordKey = ''] = process.argv.slice(2);
const clock = { ...systemClock, every: (periodMs, action) => systemClock.every(periodMs / FASTER, action) };
const store = await SoundStore.open({
  folder,
  key: await readSoundKey(recordKey),
  clock,
  log: createLog('silent', { write: () => undefined }),
  metrics: new Metrics(),
  keptBytes: 0,
  noteBytes: async () => undefined,
});
// Noise, which nothing makes smaller.
const noise = Int16Array.from({ length: 16_000 }, () => Math.random() * 16_000 - 8000);
const sinks = Array.from({ length: CALLS }, (_, i) =>
  store.open({
    callId: `CA${i}`,
    startedAt: new Date(Date.UTC(2026, 2, 14)),
    codec: MULAW,
    onTrouble: (trouble) => process.stdout.write(`${trouble}\n`),
    onRecovered: () => process.stdout.write('recovered\n'),
  }),
);
let atMs = 0;
let lastBytes = 0;
setInterval(() => {
  for (let n = 0; n < FASTER; n++, atMs += FRAME_MS) {
    const from = (atMs * 8) % noise.length;
    const samples = noise.subarray(from, from + 160);
    for (const sink of sinks) {
      sink.add('caller', samples, atMs);
      sink.add('heard', samples, atMs);
    }
  }
  if (store.bytes > lastBytes) process.stdout.write(`bytes ${store.bytes}\n`);
  lastBytes = store.bytes;
}, FRAME_MS);
