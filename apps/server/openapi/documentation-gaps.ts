import { OPERATIONS } from '#libs/identity';
import type { HandlerRoute } from '../http/routes-of.js';

/** Where a path addresses a row, somebody will address one that is not there. */
const ADDRESSES = /:\w+/;
/** How handlers read their input, by what stands in their text. */
const READS = {
  query: /query(?:Text|Values|Flag|Integer)\(request, '(\w+)'/g,
  header: /request\.get\('(If-Match|If-None-Match|Idempotency-Key|Prefer|Last-Event-ID)'\)/g,
  body: /request\.body|bodyObject\(request\)/,
  pages: /this\.paging\.(?:list|level)\(request/,
};

/** What a route's documentation lacks, in words that say what to write; what its handler reads has to be declared. */
export function documentationGaps(route: HandlerRoute): string[] {
  const { description, operation, handler, path, source } = route;
  const at = `${handler} (${route.method} ${path})`;
  if (operation !== 'public' && !(operation in OPERATIONS)) {
    return [`${at}: the operation “${operation}” has no row in libs/identity/operations.ts and docs/operations.md.`];
  }
  if (!description) {
    return [
      `${at} has no @Describe. Write below its @Operation:
  @Describe('Read one widget.', { answers: { 200: widgetView }, errors: ['widget.not_found'] })
with \`query\`, \`headers\`, \`body\` (the zod shape the handler parses by) where it reads them; shapes of answers stand in
apps/server/openapi/shapes; nothing(…), redirection(…) and raw(media, …) are for what is no JSON envelope.`,
    ];
  }
  const { summary, query = {}, headers = [], body, answers, errors, absentIsDone } = description;
  const gaps: string[] = [];
  if (!/^[A-Z].{8,118}\.$/.test(summary))
    gaps.push('the summary must be one sentence of 10 to 120 characters, with a full stop');
  if (Object.keys(answers).length === 0) gaps.push('`answers` names no status');
  if (operation !== 'public' && ADDRESSES.test(path) && errors.length === 0 && !absentIsDone) {
    gaps.push('`errors` is empty, and the path addresses a row: name at least the code of its 404');
  }
  const undeclared = [...source.matchAll(READS.query)].map(([, name]) => name ?? '').filter((name) => !(name in query));
  if (undeclared.length > 0)
    gaps.push(`the query parameters ${undeclared.join(', ')} are read and not declared in \`query\``);
  const headless = [...source.matchAll(READS.header)]
    .map(([, name]) => name)
    .filter((name) => !headers.some((each) => each === name));
  if (headless.length > 0) gaps.push(`the headers ${headless.join(', ')} are read and not declared in \`headers\``);
  const unpaged = READS.pages.test(source) ? ['offset', 'limit', 'after'].filter((name) => !(name in query)) : [];
  if (unpaged.length > 0) gaps.push(`a list is read in pages, and ${unpaged.join(', ')} are not declared in \`query\``);
  if (READS.pages.test(source) && !errors.includes('graphql.cursor_invalid'))
    gaps.push('a list is read in pages, and `errors` does not name graphql.cursor_invalid');
  if (!body && READS.body.test(source)) gaps.push('the body is read and not declared in `body`');
  return gaps.map((gap) => `${at}: ${gap}.`);
}
