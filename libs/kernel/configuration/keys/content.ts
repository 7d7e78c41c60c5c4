import { resolve } from 'node:path';
import { choice, integer, list, optionalText, text, type DefaultFacts } from '../definition.js';
import { ABSOLUTE_PATH, CIDR, MONTH_DAY, TIME_ZONE } from '../forms.js';

export const templateKeys = {
  'datapipelines.templates.interpolated-parameters': choice(['refuse', 'bind'], {
    default: 'refuse',
    about: 'What happens to `${parameter}` in a template at save: refused, or accepted and bound like `:parameter`.',
  }),
  'datapipelines.templates.render-isolation': choice(['worker', 'inline'], {
    default: 'worker',
    about: 'Where templates are rendered: in worker threads that can be stopped, or in the main thread (for tests).',
  }),
  'datapipelines.templates.cache-size': integer({
    default: 500,
    min: 0,
    max: 100_000,
    about: 'Parsed templates kept in memory.',
  }),
  'datapipelines.templates.render-timeout-ms': integer({
    default: 5000,
    min: 10,
    max: 600_000,
    about: 'Milliseconds one render may take, waiting included.',
  }),
  'datapipelines.templates.max-body-chars': integer({
    default: 262_144,
    min: 1,
    max: 4_194_304,
    about: 'Longest template.',
  }),
  'datapipelines.templates.max-output-chars': integer({
    default: 4_194_304,
    min: 1,
    max: 268_435_456,
    about: 'Longest rendered text, captured blocks included.',
  }),
  'datapipelines.templates.max-steps': integer({
    default: 2_000_000,
    min: 1,
    max: 1_000_000_000,
    about: 'Evaluation steps of one render.',
  }),
  'datapipelines.templates.max-iterations': integer({
    default: 100_000,
    min: 1,
    max: 1_000_000_000,
    about: 'Loop turns of one render, all loops together.',
  }),
  'datapipelines.templates.max-call-depth': integer({
    default: 200,
    min: 1,
    max: 1000,
    about: 'Nested macro and function calls.',
  }),
  'datapipelines.templates.max-string-chars': integer({
    default: 1_048_576,
    min: 1,
    max: 268_435_456,
    about: 'Longest text a template may build on the way.',
  }),
  'datapipelines.templates.max-collection-items': integer({
    default: 100_000,
    min: 1,
    max: 10_000_000,
    about: 'Most items of a sequence or hash a template may build.',
  }),
  'datapipelines.templates.max-nesting': integer({
    default: 200,
    min: 1,
    max: 1000,
    about: 'Nested expressions or tags of a template.',
  }),
  'datapipelines.templates.max-list-binds': integer({
    default: 1000,
    min: 1,
    max: 30_000,
    about: 'Most values of one `?sql_list`.',
  }),
  'datapipelines.templates.dry-render-variants': integer({
    default: 8,
    min: 1,
    max: 64,
    about: 'Combinations of boolean parameters tried when a pipeline is saved.',
  }),
};

export const pipelineKeys = {
  'datapipelines.checks.gate-timeout-seconds': integer({
    default: 120,
    min: 1,
    max: 3600,
    about: 'Seconds all checks of one release may take together; those not run by then count as errors.',
  }),
  'datapipelines.pipelines.max-composition-depth': integer({
    default: 5,
    min: 1,
    max: 20,
    about: 'Pipelines that may call each other, one below the other, the caller counted; judged at save and at run.',
  }),
  'datapipelines.org.currency.name': text({ default: 'Dollar', about: 'Context value `org_currency_name`.' }),
  'datapipelines.org.currency.symbol': text({ default: '$', about: 'Context value `org_currency_symbol`.' }),
  'datapipelines.org.fiscal-start-date': text({
    default: '01-01',
    form: MONTH_DAY,
    about: 'Context value `org_fiscal_start_date`: first day of the fiscal year.',
  }),
  'datapipelines.org.week-start': choice(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
    { default: 'monday', about: 'Context value `org_week_start`.' },
  ),
  'datapipelines.org.timezone': text({
    default: 'UTC',
    form: TIME_ZONE,
    about: 'Context value `org_timezone`; `current_date` is the date there.',
  }),
};

/** Where the demo keeps its databases: below the embedded server's folder. */
function demoFolder(facts: DefaultFacts): string {
  return resolve(String(facts.value('datapipelines.embedded.directory')), 'demo');
}

export const datasourceKeys = {
  'datapipelines.datasources.file-roots': list({
    default: {
      says: 'none; with the demo, the folder of its databases',
      from: (facts) => (facts.value('datapipelines.demo') === true ? [demoFolder(facts)] : []),
    },
    form: ABSOLUTE_PATH,
    about: 'Folders whose files may be registered as SQLite and DuckDB datasources.',
  }),
  'datapipelines.datasources.egress.allow': list({
    form: CIDR,
    about: 'Address blocks datasources may be in. Empty: every block that is not refused.',
  }),
  'datapipelines.datasources.egress.deny': list({
    form: CIDR,
    about: 'Address blocks datasources may never be in; stronger than allow.',
  }),
  'datapipelines.datasources.retire-ceiling-seconds': integer({
    default: {
      says: '`executor.node-timeout-seconds` + 30',
      from: (facts) => Number(facts.value('datapipelines.executor.node-timeout-seconds')) + 30,
    },
    min: 1,
    max: 172_800,
    about: 'Seconds connections of a changed or deleted datasource may finish their work before they are closed.',
  }),
  'datapipelines.bootstrap.datasources-file': optionalText({
    form: ABSOLUTE_PATH,
    about: 'YAML file of datasources that are registered at start.',
  }),
  'datapipelines.bootstrap.examples-file': optionalText({
    form: ABSOLUTE_PATH,
    about:
      'JSON file of exported pipelines, one or a list, that are imported into the workspace `default` at start unless their names are there.',
  }),
};
