#!/usr/bin/env node
/**
 * A pretend espeak-ng. It lists three voices and says a text as 10 samples for each of its characters, all of the value
 * 1000 + words per minute, behind 1000 samples of silence. Texts that it obeys: `fail` (exit 1), `hang <file>` (writes
 * its process id there and never ends).
 */
import { readFileSync, writeFileSync } from 'node:fs';

const VOICES = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  de              --/M      German             gmw/de               
 5  fr-fr           --/M      French_(France)    roa/fr               (fr 5)
 5  yue             --/M      Chinese_(Cantonese) sit/yue              (zh-yue 5)(zh 8)
 5  yue             --/M      Chinese_(Cantonese,_latin_as_Jyutping) sit/yue-Latn-jyutping (zh-yue 5)(zh 8)
`;
const SILENCE_SAMPLES = 1000;

const argv = process.argv.slice(2);

function speak(text) {
  const wpm = Number(argv[argv.indexOf('-s') + 1]);
  const samples = new Int16Array(SILENCE_SAMPLES + text.length * 10);
  samples.fill(1000 + wpm, SILENCE_SAMPLES);
  process.stdout.write(Buffer.concat([Buffer.alloc(44), Buffer.from(samples.buffer)]));
}

function obey(text) {
  const [word, file] = text.split(' ');
  if (word === 'fail') process.exitCode = 1;
  else if (word !== 'hang') speak(text);
  else {
    writeFileSync(file, String(process.pid));
    setInterval(() => undefined, 60_000);
  }
}

if (argv[0] === '--voices') process.stdout.write(VOICES);
else if (argv[0] === '--version')
  process.stdout.write('eSpeak NG text-to-speech: 1.51  Data at: /usr/lib/espeak-ng-data\n');
else obey(readFileSync(0, 'utf8'));
