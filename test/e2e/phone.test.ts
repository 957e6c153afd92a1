/**
 * A call of a SIP phone as an operator has it: a gateway of its own process with real models, and a line that loses and
 * reorders packets.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { SipPhone } from '../../src/carriers/sip/simulator/phone.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { samplesToMs } from '../../src/foundation/units.ts';
import { runBuiltCli } from '../helpers/cli.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort, freeUdpPorts } from '../helpers/ports.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { tlsPath } from '../helpers/tls-files.ts';
import { errorRate, recording, recordingPath, sayWhole, textOf, transcribe } from './understanding.ts';

const ANSWER = 'The first green apple is on the wooden table. Please call me back at noon tomorrow.';
/** Synthetic speech on a line that loses a tenth. */
const HEARD_WER_MAX = 25;
const ANSWER_WER_MAX = 15;

let gateway: GatewayProcess | undefined;
let phone: SipPhone | undefined;
afterEach(async () => {
  await phone?.close();
  await gateway?.stop('SIGKILL');
  gateway = undefined;
  phone = undefined;
});

describe('a phone call', () => {
  it('is captioned over a line that loses a tenth of its packets, and hears an answer that can be understood', async () => {
    const port = await freePort();
    const { first, last } = await freeUdpPorts(10);
    gateway = await startGateway({ SIP_PORT: String(port), RTP_PORTS: `${first}-${last}` });
    const feed = await readFeed(gateway.url);
    const speech = recording('demo-caller');
    phone = await SipPhone.open({ clock: systemClock });
    const uri = `sip:bridge@127.0.0.1:${port}`;
    const call = await phone.dial({ uri, audio: speech, endless: true, lossShare: 0.1, reorderShare: 0.05, seed: 4 });
    await call.answered;
    await expect
      .poll(() => call.media?.sentMs ?? 0, { timeout: 120_000 })
      .toBeGreaterThan(samplesToMs(speech.length, LINE_RATE_HZ));
    await sayWhole(gateway, call.callId, ANSWER);
    await feed.until((event) => event.type === 'spoken' && !event.interrupted);
    const sound = call.media?.sound ?? new Int16Array(0);
    call.hangup();
    await feed.until((event) => event.type === 'call.ended' && event.reason === 'hangup');
    const captions = feed.finals(call.callId).map(({ text }) => text);
    expect(errorRate(textOf('demo-caller'), captions.join(' '))).toBeLessThan(HEARD_WER_MAX);
    expect(errorRate(ANSWER, await transcribe(gateway, sound))).toBeLessThan(ANSWER_WER_MAX);
    feed.close();
  });

  it('is placed by the command line', async () => {
    const port = await freePort();
    const { first, last } = await freeUdpPorts(10);
    gateway = await startGateway({ SIP_PORT: String(port), RTP_PORTS: `${first}-${last}` });
    const { code, out } = await runBuiltCli(['call', recordingPath('short'), '--carrier', 'sip', '--json'], {
      SIP_PORT: String(port),
    });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ endedBy: 'phone', status: 200 });
  });

  it('is placed by the command line over TLS, with SRTP', async () => {
    const port = await freePort();
    const { first, last } = await freeUdpPorts(10);
    const files = {
      SIP_TLS_PORT: String(port),
      SIP_TLS_CERT: tlsPath('gateway.pem'),
      SIP_TLS_KEY: tlsPath('gateway.key'),
      SIP_TLS_CA: tlsPath('ca.pem'),
      SIP_TLS_CLIENTS: 'verified',
      SIP_SRTP: 'require',
    };
    gateway = await startGateway({ ...files, RTP_PORTS: `${first}-${last}` });
    const call = ['call', recordingPath('short'), '--carrier', 'sip', '--json'];
    const { code, out } = await runBuiltCli(call, files);
    expect(code).toBe(0);
    const { callId } = JSON.parse(out);
    expect(JSON.parse(out)).toMatchObject({ endedBy: 'phone', status: 200 });
    await expect
      .poll(async () => (await fetch(`${gateway?.url}/v1/calls/${callId}/transcript?format=text`)).text(), {
        timeout: 60_000,
      })
      .not.toBe('');
    const clear = await runBuiltCli([...call, '--no-srtp', '--url', `sips:bridge@127.0.0.1:${port}`], files);
    expect(clear).toMatchObject({ code: 1, err: expect.stringContaining('488') });
  });
});
