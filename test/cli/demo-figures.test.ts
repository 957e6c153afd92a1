import { describe, expect, it } from 'vitest';
import { printLatencies, printSpeed } from '../../src/cli/demo-figures.ts';
import { captureTerminal } from '../helpers/terminal.ts';

const COST = { audioMs: 20_000, elapsedMs: 4000, runSeconds: 3 };
const LATENCIES = { firstPartial: [500, 300, 400], partialLag: [40, 60], speechToFinal: [450] };

describe('the figures of the demo', () => {
  it('say the usual and the worst delay, and what the models cost', () => {
    const { terminal, out } = captureTerminal();
    printLatencies(LATENCIES, COST, { ENDPOINT_CAPTIONS_MS: 400 }, terminal.out);
    expect(out.text).toMatch(/First words.* 400 ms +500 ms\n/);
    expect(out.text).toMatch(/New words.* 40 ms +60 ms\n/);
    expect(out.text).toMatch(/A whole sentence.* 450 ms +450 ms\n.*400 ms .*ENDPOINT_CAPTIONS_MS/);
    expect(out.text).toMatch(/ 15 % of one core\n$/);
  });

  it('leave out what was not measured', () => {
    const { terminal, out } = captureTerminal();
    const none = { firstPartial: [], partialLag: [], speechToFinal: [] };
    printLatencies(none, COST, { ENDPOINT_CAPTIONS_MS: 400 }, terminal.out);
    expect(out.text).not.toMatch(/ ms/);
    expect(out.text).toContain('15 % of one core');
  });

  it('say of a fast call only how long it took', () => {
    const { terminal, out } = captureTerminal();
    printSpeed(COST, terminal.out);
    expect(out.text).toContain('20 s of call in 4.0 s');
    expect(out.text).not.toContain('First words');
  });
});
