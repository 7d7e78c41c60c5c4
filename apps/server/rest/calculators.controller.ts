import { Controller, Get, Param } from '@nestjs/common';
import { CALCULATORS, describeCalculator, findCalculator, type CalculatorReference } from '#libs/calculators';
import { PenstockError } from '#libs/kernel';
import { quoteForMessage } from '#libs/typesystem';
import { Operation } from '../http/operation.decorator.js';
import { z } from 'zod';
import { Describe } from '../http/describe.decorator.js';
import { calculator } from '../openapi/shapes/calculators.js';

/** The reference of calculators (03 §4): the same for everybody, from the catalogue that runs. */
@Controller('/api/v1/calculators')
export class CalculatorsController {
  @Get()
  @Operation('reference.read')
  @Describe('List what CALCULATOR nodes can compute.', {
    answers: { 200: z.object({ calculators: z.array(calculator) }) },
    errors: [],
  })
  list(): { calculators: CalculatorReference[] } {
    return { calculators: CALCULATORS.map(describeCalculator) };
  }

  @Get(':kind')
  @Operation('reference.read')
  @Describe('Read one kind of calculator.', { answers: { 200: calculator }, errors: ['request.not_found'] })
  read(@Param('kind') kind: string): CalculatorReference {
    const calculator = findCalculator(kind);
    if (calculator) return describeCalculator(calculator);
    throw new PenstockError('request.not_found', {
      message: `There is no calculator ${quoteForMessage(kind)}: GET /api/v1/calculators lists them.`,
      details: { allowed: CALCULATORS.map((each) => each.kind) },
    });
  }
}
