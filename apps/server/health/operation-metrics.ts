import { Counter, register } from 'prom-client';

const NAME = 'datapipelines_graphql_operations_total';

/** `unknown`: refused before anybody knew which operation was meant. */
export type CountedType = 'query' | 'mutation' | 'subscription' | 'unknown';
/** `errors`: it ran, and at least one field failed. `refused`: nothing of it ran. */
export type CountedOutcome = 'success' | 'errors' | 'refused';

/** One more GraphQL operation (03 §8). */
export function countOperation(type: CountedType, outcome: CountedOutcome): void {
  operations().inc({ type, outcome });
}

/** There from the start, so that a dashboard has the name before the first operation. */
export function operations(): Counter<'type' | 'outcome'> {
  return (
    (register.getSingleMetric(NAME) as Counter<'type' | 'outcome'> | undefined) ??
    new Counter({ name: NAME, help: 'GraphQL operations, by type and outcome.', labelNames: ['type', 'outcome'] })
  );
}
