/** Runs npm scripts at the same time, shows the output of each in one piece, and fails when one of them did. */
import { spawn } from 'node:child_process';

function run(name) {
  const child = spawn('npm', ['run', '--silent', name], { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on('close', (code) => {
      process.stdout.write(`${name}: ${code === 0 ? 'ok' : 'failed'}\n${output}`);
      resolve(code ?? 1);
    });
  });
}

const codes = await Promise.all(process.argv.slice(2).map(run));
process.exitCode = codes.find((code) => code !== 0) ?? 0;
