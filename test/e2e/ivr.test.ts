/**
 * The flows of dialplans/ivr with callers who speak, press and are silent, over each way that a call can come. Each
 * caller is one of the flows' own tests.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTests } from '../../src/cli/flow/find-tests.ts';
import { type OpenLine, TestLine } from '../../src/cli/flow/line-tests.ts';
import { casesOf } from '../../src/cli/flow/test-cases.ts';
import { twilioLine } from '../../src/cli/flow/twilio-line.ts';
import { ownGateway } from '../../src/cli/own-gateway.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { freePort, freeUdpPorts } from '../helpers/ports.ts';
import { asteriskLine, browserLine, sipLine } from './ivr-lines.ts';

const FOLDER = packagePath('dialplans', 'ivr');
/** One caller of each flow who speaks, presses keys or does both. */
const CALLERS = [
  'somebody asks for the hours with a key',
  'the salon has another name in this call',
  'an order that is on its way, typed',
];
const WAYS = ['twilio', 'asterisk', 'sip', 'browser'] as const;

let line: TestLine | undefined;
let dataDir = '';
/** The way of the next call. */
let way: (typeof WAYS)[number] = 'twilio';
let sipPort = 0;

const openLine: OpenLine = (call) => {
  if (way === 'asterisk') return asteriskLine(call);
  if (way === 'sip') return sipLine(sipPort, call);
  return way === 'browser' ? browserLine(call) : twilioLine(call);
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'trunkline-ivr-'));
  sipPort = await freePort();
  const { first, last } = await freeUdpPorts(20);
  const settings = readSettings({ MODELS_DIR: 'none', RTP_PORTS: `${first}-${last}` });
  line = await TestLine.open(
    { ...ownGateway(settings), DATA_DIR: dataDir, FLOWS_DIR: FOLDER, SIP_PORT: sipPort },
    openLine,
  );
});
afterAll(async () => {
  await line?.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe('the flows of dialplans/ivr', () => {
  it.concurrent.each(WAYS)('talk with their callers over %s', async (name) => {
    const found = await findTests([FOLDER]);
    const cases = (await casesOf(FOLDER, found)).filter(({ test }) => CALLERS.includes(test.name));
    const results = await Promise.all(
      cases.map(({ file, ...one }) => {
        way = name;
        return line?.run({ ...one, file: file.shown, tests: file.tests });
      }),
    );
    const failed = results.flatMap((result) =>
      result !== undefined && result.failures.length > 0 ? [[...result.failures, ...result.dialogue]] : [],
    );
    expect(failed).toEqual([]);
    expect(results).toHaveLength(CALLERS.length);
  });
});
