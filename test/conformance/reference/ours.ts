import { parseTemplate, renderText } from '#libs/ftl';
import { SHARED_CONTEXT } from '../ftl/shared-context.js';
import type { Outcome } from './engines.js';

const context = new Map(Object.entries(SHARED_CONTEXT));

/** Renders a template with the product's engine under the shared Context. */
export function renderOurs(template: string): Outcome {
  const parsed = parseTemplate(template);
  if (!parsed.ok) {
    const [{ message, line, column }] = parsed.problems as [(typeof parsed.problems)[0]];
    return { ok: false, message, line, column };
  }
  const outcome = renderText(parsed.template, { dialect: 'POSTGRES', now: '2026-08-05T14:30:00Z', context });
  if (outcome.ok) return { ok: true, text: outcome.text };
  const { message, line, column } = outcome.problem;
  return { ok: false, message, line, column };
}
