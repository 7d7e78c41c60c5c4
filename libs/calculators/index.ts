export { RESULT, type Calculator, type CalculatorInput, type CalculatorOutput, type InputType } from './calculator.js';
export { CALCULATORS, findCalculator } from './catalogue.js';
export { evaluate, type Evaluation } from './evaluate.js';
export { readLiteral, referenceOf } from './literals.js';
export { outputType, suppliedJson, suppliedText } from './output-types.js';
export {
  describeCalculator,
  isRequired,
  isSingle,
  renderCalculatorReference,
  type CalculatorReference,
} from './reference.js';
