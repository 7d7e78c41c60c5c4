import { Counter, register } from 'prom-client';
import type { PenstockError } from '#libs/kernel';

const NAME = 'datapipelines_errors_total';

/** One more failed answer, at whichever door, counted by the first word of its code (02 §12). */
export function countError({ code }: PenstockError): void {
  const [domain = code] = code.split('.');
  counter().inc({ domain });
}

/** There from the start, so that a dashboard has the name before the first failure. */
export function counter(): Counter<'domain'> {
  return (
    (register.getSingleMetric(NAME) as Counter<'domain'> | undefined) ??
    new Counter({ name: NAME, help: 'Answers that were errors, by the domain of their code.', labelNames: ['domain'] })
  );
}
