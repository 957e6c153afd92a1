/** The thread that writes sound: disks block, and each file is made durable every few seconds. */
import { parentPort, workerData } from 'node:worker_threads';
import { isDiskTrouble } from '../../foundation/folders/disk.ts';
import type { WritingReply, WritingRequest, WritingResult, WritingSetup, WritingTask } from './sound-messages.ts';
import { checkRoom, SoundWriter } from './sound-writer.ts';

const { folder, key } = workerData as WritingSetup;
const files = new Map<number, SoundWriter>();

function run(task: WritingTask): WritingResult {
  switch (task.type) {
    case 'create':
      files.set(task.file, SoundWriter.create(folder, task.sound, key));
      return null;
    case 'add':
      return fileOf(task.file).add(task.stretches);
    case 'finish': {
      // Without a file: it could never be made.
      const finished = files.get(task.file)?.finish(task.totalSamples) ?? null;
      files.delete(task.file);
      return finished;
    }
    case 'discard':
      files.get(task.file)?.discard();
      files.delete(task.file);
      return null;
    case 'probe':
      checkRoom(folder);
      return null;
    case 'recover':
      return SoundWriter.recover(folder, task.name, key);
  }
}

function fileOf(file: number): SoundWriter {
  const writer = files.get(file);
  if (writer === undefined) throw new Error(`there is no file ${file}`);
  return writer;
}

parentPort?.on('message', ({ id, task }: WritingRequest) => {
  let reply: WritingReply;
  try {
    reply = { id, result: run(task) };
  } catch (error) {
    reply = { id, error: nameOf(error), isDisk: isDiskTrouble(error) };
  }
  parentPort?.postMessage(reply);
});

/** Without the path, which is the operator's. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return (error as NodeJS.ErrnoException).code ?? error.message;
}
