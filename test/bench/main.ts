/**
 * `npm run bench -- <name>`: measures on this machine and prints tables; `--write` keeps them under
 * docs/internals/benchmarks/.
 */
import { Command, Option } from 'commander';
import { EngineError } from '../../src/engine-client/engine.ts';
import { benchAccuracy } from './accuracy.ts';
import { benchAnswered } from './answered.ts';
import { benchBackground } from './background.ts';
import { benchBatches } from './batches.ts';
import { benchBatching } from './batching.ts';
import { benchCalls } from './calls.ts';
import { BENCH_CARRIERS, type BenchCarrierName } from './carriers.ts';
import { benchCluster } from './cluster.ts';
import { benchCold } from './cold.ts';
import { benchCompare } from './compare.ts';
import { benchConfidence } from './confidence.ts';
import { benchCuts } from './cuts.ts';
import { benchEcho } from './echo.ts';
import { requireEngineEnvironment } from './engine-environment.ts';
import { benchEquality } from './equality.ts';
import { benchFiles } from './files.ts';
import { benchFloor } from './floor.ts';
import { benchGpu } from './gpu.ts';
import { benchHotWords } from './hot-words.ts';
import { benchIvr } from './ivr.ts';
import { benchChoices } from './ivr-choices.ts';
import { benchKeys } from './keys.ts';
import { benchListen } from './listen.ts';
import { benchLiveWords } from './live-words.ts';
import { benchLoss } from './loss.ts';
import { benchMemory } from './memory.ts';
import { benchMixed } from './mixed.ts';
import { benchModelAccuracy } from './model-accuracy.ts';
import { benchOverload } from './overload.ts';
import { benchPath } from './path.ts';
import { benchRecognisers } from './recognisers.ts';
import { benchRecords } from './records.ts';
import { benchRedaction } from './redaction.ts';
import { benchRemote } from './remote.ts';
import { publish, type Report } from './report.ts';
import { benchSearch } from './search.ts';
import { benchSound } from './sound.ts';
import { benchSpeech } from './speech.ts';
import { benchTurns } from './turns.ts';
import { benchVoices } from './voices.ts';
import { benchWall } from './wall.ts';
import { benchWeights } from './weights.ts';
import { benchWords } from './words.ts';

const program = new Command('npm run bench --').description('Benchmarks of Trunkline on this machine');

/** Adds a benchmark. `extra` flags, each with what it means, are handed to `run` by their names. */
function bench(
  name: string,
  about: string,
  run: (quick: boolean, flags: Readonly<Record<string, boolean>>) => Promise<Report>,
  extra: Readonly<Record<string, string>> = {},
): Command {
  const command = program
    .command(name)
    .description(about)
    .option('--quick', 'a short run, to see that it works; its figures mean little', false)
    .option('--write', `keep the result as docs/internals/benchmarks/${name}.md`, false);
  for (const [flag, meaning] of Object.entries(extra)) command.option(`--${flag}`, meaning, false);
  command.action(async (options: { quick: boolean; write: boolean } & Record<string, boolean>) => {
    const found = await run(options.quick, options);
    const { python } = command.opts<{ python?: string }>();
    const asked = process.argv
      .slice(2)
      .filter((argument) => argument !== '--write')
      .map((argument) => (argument === python ? 'PATH' : argument));
    publish(found, { command: `npm run bench -- ${asked.join(' ')}`, write: options.write });
  });
  return command;
}

const accuracy = bench('accuracy', 'word error rate, steadiness of partials, captions on non-speech', (quick) => {
  const { model, final } = accuracy.opts<{ model?: string; final?: string }>();
  const every = quick ? 10 : 1;
  return model === undefined ? benchAccuracy({ every }) : benchModelAccuracy({ model, final, every });
});
accuracy
  .option('--model <folder>', 'the word error rate of the recogniser in this folder, beside that of the embedded one')
  .option('--final <folder>', 'with --model: another recogniser for finals and recordings');
bench('background', 'callers with others behind them: wrong words, ends of turns, false interruptions', (quick) =>
  benchBackground(
    quick
      ? { prompts: 8, kinds: ['man'], belowDb: [10, 15, 25] }
      : { prompts: 30, kinds: ['man', 'woman', 'babble', 'music'], belowDb: [5, 10, 15, 20, 30] },
  ),
);
bench(
  'answered',
  'who answers a call that we make: simulated people, machines, fax machines, silence, menus',
  (quick, { tuned }) => benchAnswered({ every: quick ? 5 : 1, tuned: tuned === true }),
  { tuned: 'callees who say what the rules were tuned on' },
);
bench('batches', 'one large batch on two gateways that are killed while they work', (quick) =>
  benchBatches(quick ? { files: 300, workMs: 30, kills: 2 } : { files: 10_000, workMs: 20, kills: 4 }),
);
bench('batching', 'what it brings that jobs share model runs, and what an urgent one pays for it', (quick) =>
  benchBatching(quick ? { seconds: 10, rounds: 1 } : { seconds: 120, rounds: 8 }),
);
const calls = bench('calls', 'how many live calls this machine holds', (quick) => {
  const { carrier } = calls.opts<{ carrier: BenchCarrierName }>();
  return benchCalls({ carrier, ...(quick ? { seconds: 15, steps: [1, 4] } : { seconds: 30 }) });
});
calls.addOption(
  new Option('--carrier <carrier>', 'who places them').choices(Object.keys(BENCH_CARRIERS)).default('twilio'),
);
bench(
  'choices',
  'what an IVR makes of spoken answers through noise and losses, and of noise into its prompts',
  (quick) => benchChoices({ every: quick ? 4 : 1 }),
);
bench(
  'cluster',
  'several gateways on one PostgreSQL: how late events of one are at another, what the store costs',
  (quick) =>
    benchCluster(
      quick
        ? { seconds: 3, gateways: [1, 2], rates: [1000], calls: 10 }
        : { seconds: 15, gateways: [1, 2, 3, 4], rates: [1000, 2000, 4000, 6000], calls: 60 },
    ),
);
bench('cold', 'the first words after the engines were stopped: of a call, a session, a recording', (quick) =>
  benchCold({ rounds: quick ? 1 : 7 }),
);
bench(
  'compare',
  'this engine beside other ways of running the same weights: time, real-time factor, memory, word error rate',
  (quick) => benchCompare(quick ? { every: 20, rounds: 2, stretches: 1 } : { every: 1, rounds: 6, stretches: 5 }),
);
bench(
  'remote',
  'another Trunkline as recogniser: what a request costs, how late finals are when it dies, 40 calls on one',
  (quick) =>
    benchRemote(
      quick
        ? { rounds: 1, requests: 100, calls: 4, recordings: 4, seconds: 15, fileSeconds: 60 }
        : { rounds: 5, requests: 1000, calls: 40, recordings: 20, seconds: 120, fileSeconds: 300 },
    ),
);
bench('cuts', 'where speech without pauses is cut: wrong words, and how long words wait', (quick) =>
  benchCuts({ talks: quick ? 2 : 6 }),
);
bench('sound', 'what recording calls costs: CPU, event loop, size', (quick) =>
  benchSound(quick ? { calls: 4, seconds: 10, rounds: 1 } : { calls: 20, seconds: 30, rounds: 3 }),
);
bench(
  'ivr',
  'how fast flows answer keys and speech, 40 calls at once; what a restart finds of their prompts',
  (quick) => benchIvr(quick ? { calls: 4, keys: 4, turns: 2 } : { calls: 40, keys: 20, turns: 20 }),
);
bench('confidence', 'how far confidences hold, texts that nobody said, other languages', (quick) =>
  benchConfidence({ every: quick ? 12 : 3 }),
);
bench(
  'echo',
  'whether our own voice, sent back by the line, is obeyed; how callers who speak meanwhile are heard',
  (quick, { off }) =>
    benchEcho(
      quick ? { silent: 3, talking: 0, seconds: 20, atOnce: 3 } : { silent: 200, talking: 24, seconds: 30, atOnce: 20 },
      off === true ? 'off' : 'auto',
    ),
  { off: 'without the echo canceller, to compare' },
);
bench('equality', 'rewritten graphs beside the shipped ones: agreement, word error rate, time, memory', (quick) =>
  benchEquality(quick ? { every: 10, rounds: 3 } : { every: 1, rounds: 15 }),
);
bench(
  'voices',
  'every English voice over the phone: what our recogniser misunderstands, cost, first frame, memory, loudness',
  (quick, { files }) => benchVoices({ every: quick ? 8 : 1, writesFiles: files === true }),
  { files: 'also writes five sentences of each voice, as the phone has them, to a new folder' },
);
bench(
  'files',
  'how fast recordings are transcribed, in what memory, and what cutting and joining costs',
  (quick, { hour }) =>
    benchFiles(
      quick
        ? { lengths: [10, 60], joinSeconds: 120 }
        : { lengths: [10, 60, 600, ...(hour ? [3600] : [])], joinSeconds: 1200 },
    ),
  { hour: 'also a recording of an hour, which takes some minutes' },
);
bench('floor', 'what scheduler, contract and ear add to the model runs, stage by stage', (quick) => {
  requireEngineEnvironment();
  return benchFloor(quick ? { prompts: 6, rounds: 2 } : { prompts: 60, rounds: 6 });
});
const gpu = bench(
  'gpu',
  'a GPU: what CUDA lacks, where nodes run, whether it says what the CPU says, time',
  (quick) => {
    requireEngineEnvironment();
    const { provider, device, model, reference, clips } = gpu.opts<{
      provider: 'cpu' | 'cuda';
      device: string;
      model?: string;
      reference?: string;
      clips?: string;
    }>();
    return benchGpu({ provider, deviceId: Number.parseInt(device, 10), model, reference, clips, quick });
  },
);
gpu
  .addOption(
    new Option('--provider <provider>', 'cpu = go through all of it without a GPU')
      .choices(['cuda', 'cpu'])
      .default('cuda'),
  )
  .option('--device <index>', 'which GPU', '0')
  .option('--model <folder>', 'measure the Qwen3-ASR in this folder')
  .option('--reference <folder>', 'with --model: the same weights in float32, for the CPU')
  .option('--clips <folder>', 'WAV files for the recogniser, in place of sound made by arithmetic');
bench('hot-words', 'names that are hardly known, with and without hot words, and what stays as it is', (quick) =>
  benchHotWords({ every: quick ? 4 : 1 }),
);
bench('listen', 'live audio through every way in, beside the same audio as Twilio calls', (quick) =>
  benchListen(quick ? { sessions: 2, promptsEach: 2 } : { sessions: 10, promptsEach: 12 }),
);
bench('keys', 'whether speech presses keys, where these come as tones', (quick) =>
  benchKeys({ every: quick ? 10 : 1 }),
);
bench('loss', 'what lost and overtaken packets cost the recogniser', (quick) => benchLoss({ every: quick ? 10 : 2 }));
bench('memory', 'whether gateway and engine stay what they are over an hour of calls, played fast', (quick) =>
  benchMemory(quick ? { minutes: 4, callMinutes: 1 } : { minutes: 60, callMinutes: 3 }),
);
bench('mixed', 'what live calls feel of recordings in the queue', (quick) =>
  benchMixed(quick ? { seconds: 15, fileSeconds: 60 } : { seconds: 150, fileSeconds: 300 }),
);
bench('overload', 'what becomes of calls on a machine that loses a part of its CPU for a while', (quick) =>
  benchOverload(
    quick
      ? { lines: 6, shares: [0.9], calmSeconds: 10, starvedSeconds: 15, afterSeconds: 15, callSeconds: 12 }
      : { lines: 40, shares: [0.5, 0.75, 0.9], calmSeconds: 30, starvedSeconds: 60, afterSeconds: 40, callSeconds: 30 },
  ),
);
bench('path', 'cost of one frame in the gateway, overhead from endpoint to final', (quick) =>
  benchPath({ seconds: quick ? 10 : 40 }),
);
const recognisers = bench(
  'recognisers',
  'what each recogniser costs, and how many calls a core holds with it',
  (quick) =>
    benchRecognisers({
      python: recognisers.opts<{ python?: string }>().python,
      ...(quick ? { parakeetLayers: 2, rounds: 2, peerRounds: 1 } : { parakeetLayers: 24, rounds: 4, peerRounds: 3 }),
    }),
);
recognisers.option('--python <path>', 'an interpreter with what engine/export/*/requirements.txt names');
bench('redaction', 'what is masked of card numbers and the like, written, spoken and dictated', (quick) =>
  benchRedaction(quick ? { each: 20, spoken: 12 } : { each: 200, spoken: 120 }),
);
bench(
  'search',
  'finding calls by each filter among very many',
  (quick, { full, postgres }) =>
    benchSearch({
      calls: full === true ? 1_000_000 : quick ? 20_000 : 100_000,
      rounds: quick ? 3 : 20,
      postgres: postgres === true,
    }),
  {
    full: 'among a million calls with five million events, which are stored first: some minutes',
    postgres: 'also in PostgreSQL, on a server of its own, near and far',
  },
);
bench(
  'records',
  'the records of calls: writing, live calls, a start with many of them, searches',
  (quick, { full, postgres }) =>
    benchRecords(
      quick
        ? {
            writing: { hours: 2, seconds: 3 },
            live: { seconds: 5, rounds: 1 },
            start: { calls: 2000, starts: 1 },
            search: { captions: [20_000], rounds: 5 },
            postgres: postgres === true,
          }
        : {
            writing: { hours: 50, seconds: 20 },
            live: { seconds: 20, rounds: 3 },
            start: { calls: 100_000, starts: 5 },
            search: { captions: full === true ? [100_000, 1_000_000] : [100_000], rounds: 40 },
            postgres: postgres === true,
          },
    ),
  {
    full: 'also searches in a million captions, which takes some minutes',
    postgres: 'also in PostgreSQL, on a server of its own',
  },
);
bench('speech', 'say to first frame, gaps between frames, interrupt to silence', (quick) =>
  benchSpeech({ texts: quick ? 5 : 30, long: quick ? 1 : 4 }),
);
bench('turns', 'whether a caller has finished: the turn model, rules on it, and what it costs calls', (quick) =>
  benchTurns(quick ? { every: 16, turns: 4, seconds: 8, rounds: 1 } : { every: 2, turns: 30, seconds: 20, rounds: 2 }),
);
bench('wall', 'the console in Chromium: script and layout per update of a hundred live calls', (quick) =>
  benchWall({ seconds: quick ? 4 : 20 }),
);
const weights = bench('weights', 'memory of several engine processes with the same recogniser', (quick) => {
  const { model } = weights.opts<{ model: string }>();
  return benchWeights({ model, processes: quick ? [2] : [1, 2, 3] });
});
weights.requiredOption('--model <folder>', 'a recogniser of more than 64 MB');
bench('live-words', 'when the words of live finals were said: letters, the estimate, the recogniser', (quick) =>
  benchLiveWords({ voices: quick ? ['rms'] : ['rms', 'slt'] }),
);
bench('words', 'when words were said: the recogniser beside the estimate', (quick) =>
  benchWords({ every: quick ? 8 : 1 }),
);

// npm hands a second `--` on.
const words = process.argv.slice(2).filter((word) => word !== '--');
await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => {
  if (!(error instanceof EngineError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
