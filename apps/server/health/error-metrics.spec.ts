import { expect, it } from '@jest/globals';
import { PenstockError } from '#libs/kernel';
import { countError, rejections } from './error-metrics.js';

it('counts what is refused over a limit by its window, and no other failure', async () => {
  const over = (window: string) => new PenstockError('rate_limit.exceeded', { details: { window, limit: 1 } });
  for (const error of [over('minute'), over('minute'), over('concurrent_streams')]) countError(error);
  countError(new PenstockError('rate_limit.unavailable'));
  countError(new PenstockError('pipeline.execution.concurrency_limit', { details: { window: 'second' } }));
  const { values } = await rejections().get();
  expect(values.map(({ labels, value }) => [labels.window, value])).toEqual([
    ['minute', 2],
    ['concurrent_streams', 1],
  ]);
});
