import { Counter, register } from 'prom-client';
import type { PenstockError } from '#libs/kernel';

const NAME = 'datapipelines_errors_total';
const REJECTIONS = 'datapipelines_rate_limit_rejections_total';

/**
 * One more failed answer, at whichever door, counted by the first word of its code (02 §12); one over a limit by the
 * window that was full as well (03 §8).
 */
export function countError({ code, details }: PenstockError): void {
  const [domain = code] = code.split('.');
  counter().inc({ domain });
  const { window } = details;
  if (code === 'rate_limit.exceeded' && typeof window === 'string') rejections().inc({ window });
}

/** There from the start, like {@link counter}. The windows are a closed set: no caller can invent one. */
export function rejections(): Counter<'window'> {
  return (
    (register.getSingleMetric(REJECTIONS) as Counter<'window'> | undefined) ??
    new Counter({
      name: REJECTIONS,
      help: 'Answers that were refused over a limit, by its window.',
      labelNames: ['window'],
    })
  );
}

/** There from the start, so that a dashboard has the name before the first failure. */
export function counter(): Counter<'domain'> {
  return (
    (register.getSingleMetric(NAME) as Counter<'domain'> | undefined) ??
    new Counter({ name: NAME, help: 'Answers that were errors, by the domain of their code.', labelNames: ['domain'] })
  );
}
