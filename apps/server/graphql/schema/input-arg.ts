import { Args } from '@nestjs/graphql';

/** The one argument of a mutation: what the body and the address of a REST request say together (03 §13). */
export function InputArg(): ParameterDecorator {
  return Args('input', { description: 'The whole request as one object: which thing it is about, and what to do.' });
}
