import { expect, it } from 'vitest';
import type { WholeBatchView } from '../../../src/jobs/batch.ts';
import type { BatchNews } from '../../../src/jobs/batch-service.ts';
import { BatchWatch } from '../../../src/jobs/shared/batch-watch.ts';
import { FakeClock } from '../../fakes/clock.ts';

it('a reader of a batch that is cancelled and removed between two looks sees its end', async () => {
  const clock = new FakeClock();
  let found: WholeBatchView | undefined = {
    batch: { id: 'b', state: 'running' },
    files: [],
  } as unknown as WholeBatchView;
  const watch = new BatchWatch({ clock, look: async () => found });
  const news: BatchNews[] = [];
  await watch.add('b', (item) => void news.push(item));
  await clock.run(1000, 1000);
  expect(news).toEqual([]);
  found = undefined;
  await clock.run(1000, 1000);
  expect(news).toMatchObject([{ type: 'end', batch: { id: 'b', state: 'cancelled' } }]);
  await clock.run(5000, 1000);
  expect(news).toHaveLength(1);
  watch.close();
});
