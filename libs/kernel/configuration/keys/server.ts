import {
  flag,
  choice,
  integer,
  list,
  optionalChoice,
  optionalText,
  secret,
  text,
  type DefaultFacts,
} from '../definition.js';
import { ABSOLUTE_PATH, DEPLOYMENT_NAME, HTTP_URL, ORIGIN, SHARED_KEY } from '../forms.js';

export function isHardened(facts: DefaultFacts): boolean {
  return facts.value('datapipelines.posture') === 'hardened';
}

export const deploymentKeys = {
  'datapipelines.env': text({
    default: 'local',
    form: DEPLOYMENT_NAME,
    about: 'Label of this deployment. Nothing but `local` is treated differently.',
    aliases: { keys: ['datapipelines.deployment.name'] },
  }),
  'datapipelines.posture': optionalChoice(['development', 'hardened'], {
    default: {
      says: '`development` if env is `local`, otherwise required',
      from: (facts) => (facts.value('datapipelines.env') === 'local' ? 'development' : undefined),
    },
    about:
      '`hardened` refuses demo content, seeded passwords, a database or Redis on loopback, and plain http; it also switches authoring and introspection off by default.',
  }),
  'datapipelines.deployment.authoring-enabled': flag({
    default: { says: 'false if hardened, else true', from: (facts) => !isHardened(facts) },
    about: 'Whether drafts may be written here. Off: content arrives by import and promotion only.',
  }),
  'datapipelines.deployment.promotion.server-key': secret({
    form: SHARED_KEY,
    about:
      'Shared value that a promoting deployment may present as `DP-Promotion-Key`. Prefer a key of kind `server`: it can be revoked, expires and names its sender.',
  }),
  'datapipelines.deployment.promotion.target.base-url': optionalText({
    form: ORIGIN,
    about: 'The deployment that this one promotes to. Needs the key beside it.',
  }),
  'datapipelines.deployment.promotion.target.server-key': secret({
    form: SHARED_KEY,
    about: 'What this deployment presents there as `DP-Promotion-Key`: a key of kind `server` that was made there.',
  }),
  'datapipelines.deployment.promotion.timeout-seconds': integer({
    default: 60,
    min: 1,
    max: 600,
    about:
      'Longest wait for an answer of the target. A push that outlasts it may still arrive: promote again, what has arrived is skipped.',
  }),
  'datapipelines.deployment.promotion.max-batch-entries': integer({
    default: 500,
    min: 1,
    max: 10_000,
    about: 'Most templates, pipelines and endpoints of one promotion, with everything they need.',
  }),
  'datapipelines.demo': flag({
    default: false,
    about: 'Create the demo workspace with its content at the first start.',
  }),
};

export const serverKeys = {
  'datapipelines.server.port': integer({
    default: 8080,
    min: 0,
    max: 65535,
    about: 'Port of the product (REST, GraphQL, endpoints, console); 0 takes any free one.',
    aliases: { env: ['SERVER_PORT'] },
  }),
  'datapipelines.server.address': text({
    default: {
      says: '127.0.0.1 when embedded, else every address',
      from: (facts) => (facts.embedded ? '127.0.0.1' : '::'),
    },
    about: 'Address the product listens on. Embedded, a stranger on the network should not find a fresh server.',
    aliases: { env: ['SERVER_ADDRESS'] },
  }),
  'datapipelines.management.port': integer({
    default: 9090,
    min: 0,
    max: 65535,
    about: 'Port of metrics, apart from the product; 0 takes any free one.',
    aliases: { env: ['MANAGEMENT_SERVER_PORT'] },
  }),
  'datapipelines.management.address': text({
    default: '127.0.0.1',
    about: 'Address the management port listens on.',
    aliases: { env: ['MANAGEMENT_SERVER_ADDRESS'] },
  }),
  'datapipelines.shutdown.drain-wait-seconds': integer({
    default: 0,
    min: 0,
    max: 86_400,
    about: 'At shutdown, seconds to wait for running executions to end by themselves.',
  }),
  'datapipelines.server.shutdown-drain-seconds': integer({
    default: 20,
    min: 1,
    max: 300,
    about: 'At shutdown, seconds given to write the last rows and events of cancelled executions.',
  }),
  'datapipelines.jobs.enabled': flag({
    default: true,
    about: 'Run retention and recovery jobs in this process; off leaves them to an external runner.',
  }),
};

export const webKeys = {
  'datapipelines.limits.max-request-bytes': integer({
    default: 2_097_152,
    min: 65_536,
    max: 67_108_864,
    about: 'Largest request body in bytes.',
  }),
  'datapipelines.limits.max-import-bytes': integer({
    default: 33_554_432,
    min: 65_536,
    max: 268_435_456,
    about: 'Largest body of a pipeline or template import, and of a promotion that is received, in bytes.',
  }),
  'datapipelines.limits.max-import-entries': integer({
    default: 500,
    min: 1,
    max: 10_000,
    about: 'Most templates that one import may bring, and most entries of each kind that one promotion may.',
  }),
  'datapipelines.web.page-default-limit': integer({
    default: 50,
    min: 1,
    max: 1000,
    about: 'Rows of a list page when the request names none.',
  }),
  'datapipelines.web.page-max-limit': integer({
    default: 200,
    min: 1,
    max: 1000,
    about: 'Most rows of a list page; a larger request is cut to it.',
  }),
  'datapipelines.cors.allowed-origins': list({
    form: ORIGIN,
    about: 'Origins besides the base URL whose pages may call the API with credentials. `*` is refused.',
  }),
  'datapipelines.ui.theme': choice(['dark', 'light'], {
    default: 'dark',
    about: 'Theme of people who chose none.',
  }),
};

export const loggingKeys = {
  'datapipelines.observability.logging.format': choice(['json', 'text'], {
    default: 'json',
    about: 'One JSON object a line, or lines for reading.',
  }),
  'datapipelines.observability.logging.level': choice(['debug', 'info', 'warn', 'error'], {
    default: 'info',
    about: 'Least level that is logged.',
  }),
};

export const tracingKeys = {
  'datapipelines.observability.tracing.enabled': flag({
    default: false,
    about: 'Sends traces over OTLP: every execution with its nodes, and a share of the other requests.',
  }),
  'datapipelines.observability.tracing.endpoint': text({
    default: 'http://127.0.0.1:4318/v1/traces',
    form: HTTP_URL,
    about:
      'Where traces go, OTLP over HTTP. Headers, a token of the collector say, come from OTEL_EXPORTER_OTLP_HEADERS.',
  }),
  'datapipelines.observability.tracing.request-percent': integer({
    default: 10,
    min: 0,
    max: 100,
    about: 'Share of requests that are traced. Executions always are.',
  }),
};

export const graphqlKeys = {
  'datapipelines.graphql.introspection': choice(['authenticated', 'off'], {
    default: {
      says: '`off` if hardened, else `authenticated`',
      from: (facts) => (isHardened(facts) ? 'off' : 'authenticated'),
    },
    about: 'Who may read the schema over GraphQL.',
  }),
  'datapipelines.graphql.graphiql': flag({
    default: { says: 'false if hardened, else true', from: (facts) => !isHardened(facts) },
    about: 'Whether GET /graphql serves the GraphQL console.',
  }),
  'datapipelines.graphql.max-depth': integer({
    default: 10,
    min: 1,
    max: 100,
    about: 'Most nested levels of an operation, fragments expanded.',
  }),
  'datapipelines.graphql.max-complexity': integer({
    default: 1000,
    min: 1,
    max: 1_000_000,
    about: 'Highest cost of an operation, judged before it runs.',
  }),
  'datapipelines.graphql.max-aliases': integer({
    default: 15,
    min: 0,
    max: 1000,
    about: 'Most aliases of an operation.',
  }),
  'datapipelines.graphql.max-root-fields': integer({
    default: 20,
    min: 1,
    max: 1000,
    about: 'Most root fields of a query.',
  }),
  'datapipelines.graphql.max-tokens': integer({
    default: 4000,
    min: 100,
    max: 1_000_000,
    about: 'Most tokens of a document; reading stops there.',
  }),
  'datapipelines.graphql.max-document-bytes': integer({
    default: 65_536,
    min: 1024,
    max: 16_777_216,
    about: 'Largest document in bytes.',
  }),
  'datapipelines.graphql.max-body-bytes': integer({
    default: 1_048_576,
    min: 1024,
    max: 67_108_864,
    about: 'Largest request body of /graphql in bytes.',
  }),
  'datapipelines.graphql.page-max': integer({
    default: 200,
    min: 1,
    max: 1000,
    about: 'Most edges of a connection page.',
  }),
  'datapipelines.graphql.timeout-seconds': integer({
    default: 30,
    min: 1,
    max: 600,
    about: 'Seconds an operation may take; fields still open then fail.',
  }),
  'datapipelines.graphql.apq-enabled': flag({
    default: true,
    about: 'Whether clients may send the hash of a document instead of the document, once the server has seen it.',
  }),
  'datapipelines.graphql.trusted-documents': choice(['off', 'log', 'require'], {
    default: 'off',
    about: '`require` runs only the documents of graphql.trusted-documents-file; `log` warns of every other that runs.',
  }),
  'datapipelines.graphql.trusted-documents-file': optionalText({
    form: ABSOLUTE_PATH,
    about: 'The documents of the console, as its build writes them: `{"<hash>": "<document>"}`.',
  }),
};
