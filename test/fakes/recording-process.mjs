/** Records calls in the database at argv[2] for ever. Prints the ids of stored events, a line for each write. */
import { randomUUID } from 'node:crypto';
import { Feed } from '../../dist/src/calls/feed/feed.js';
import { systemClock } from '../../dist/src/foundation/clock.js';
import { createLog } from '../../dist/src/foundation/log/log.js';
import { Metrics } from '../../dist/src/foundation/metrics.js';
import { migrate } from '../../dist/src/records/migrations/migrations.js';
import { recordRedaction } from '../../dist/src/records/record-redaction.js';
import { Records } from '../../dist/src/records/records.js';
import { openSqliteRecords } from '../../dist/src/records/sqlite-records.js';

const database = await openSqliteRecords(process.argv[2]);
await migrate(database.db, 'sqlite');
const records = new Records({
  database,
  folder: null,
  retentionDays: 30,
  isShared: false,
  redaction: recordRedaction({ REDACT: 'off', REDACT_PATTERNS_FILE: '' }, systemClock),
  clock: systemClock,
  log: createLog('silent'),
  metrics: new Metrics(),
});
const feed = new Feed({ history: 1, epoch: randomUUID() });
records.follow(feed, { get: () => undefined, parameters: () => undefined });
await records.recover(feed);

let told = [];
feed.subscribe({}, ({ id }) => told.push(id));
for (let call = 1; ; call++) {
  const callId = `CA-${feed.epoch}-${call}`;
  const startedAt = new Date().toISOString();
  const names = { inbound: null, outbound: null };
  const who = { carrier: 'twilio', from: '+1', to: '+2', names, agent: null, queue: null, app: null };
  feed.publish({ type: 'call.started', callId, startedAt, tracks: ['inbound'], ...who });
  for (let utterance = 1; utterance <= 20; utterance++) {
    const text = `word ${call} of utterance ${utterance} that is said again and again`;
    const times = { startMs: utterance * 1000, endMs: utterance * 1000 + 500, lagMs: 100 };
    const caption = { track: 'inbound', utterance, stable: text, tail: '', text, final: true, ...times };
    feed.publish({ type: 'caption', callId, ...caption });
  }
  if (call % 2 === 0) feed.publish({ type: 'call.ended', callId, reason: 'hangup', durationMs: 9, handoffData: null });
  const stored = told;
  told = [];
  await records.recorder.settled();
  process.stdout.write(`${stored.join(' ')}\n`);
}
