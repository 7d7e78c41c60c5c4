import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express from 'express';
import { EgressPolicy } from '#libs/egress';
import { Drain, ExecutionInstance, ExecutionJobs, ExecutionPlace } from '#libs/executions';
import {
  AccessTrail,
  Admission,
  Authenticator,
  BootstrapAdmin,
  CsrfTokens,
  OidcLoginService,
  PasswordReset,
  SystemActor,
  UseStamps,
} from '#libs/identity';
import { Clock, Configuration, Logger, PenstockError, SystemClock } from '#libs/kernel';
import { MailDispatcher } from '#libs/mail';
import { Database } from '#libs/persistence';
import { ContentGate, ExampleFile } from '#libs/pipelines';
import { InvalidationBus, TransientStore } from '#libs/transient';
import { AppModule } from '../app.module.js';
import { seedDemo } from '../demo/seed-demo.js';
import { ServingController } from '../endpoints/serving.controller.js';
import { GraphqlController } from '../graphql/graphql.controller.js';
import { BuildInfo } from '../health/build-info.js';
import { ManagementListener } from '../health/management-listener.js';
import { metricsText } from '../health/metrics-text.js';
import { MetadataHealth } from '../health/metadata-health.js';
import { Readiness } from '../health/readiness.js';
import { bodyLimits } from '../http/body.interceptor.js';
import { Cookies } from '../http/cookies.js';
import { directRoute } from '../http/direct-route.js';
import { ErrorFilter } from '../http/error.filter.js';
import { ErrorResponses } from '../http/error-response.js';
import { IdentityJobs } from '../jobs/identity-jobs.js';
import { HttpListener } from '../http/listener.js';
import { installPipeline } from '../http/pipeline.js';
import { RouteTable } from '../http/route-table.js';
import { routesOf } from '../http/routes-of.js';
import { startTracing } from '../observability/tracing.js';
import { serveStatic } from '../pages/static-files.js';
import { executionPlace } from './execution-place.js';
import { keepOneTimePassword, type EmbeddedStores } from './embedded.js';
import type { Stores } from './stores.js';
import { protectStore } from './protect-store.js';

export interface ServerParts {
  configuration: Configuration;
  stores: Stores;
  embedded: EmbeddedStores | undefined;
  log: Logger;
}

/** One serving process: the application, its listeners, and how they end. */
export class RunningServer {
  readonly longestDrainMs: number;
  readonly #management = new ManagementListener();

  private constructor(
    private readonly parts: ServerParts,
    private readonly app: NestExpressApplication,
    private readonly bus: InvalidationBus,
    private readonly stopTracing: () => Promise<void>,
  ) {
    this.longestDrainMs = parts.configuration.get('datapipelines.shutdown.drain-wait-seconds') * 1000;
  }

  /** Everything up to answering requests: caches listen before anything is served. */
  static async start(parts: ServerParts): Promise<RunningServer> {
    const { configuration, stores, log } = parts;
    const bus = new InvalidationBus(stores.transient, log);
    const build = new BuildInfo();
    const door = express();
    door.set('strict routing', true);
    door.set('case sensitive routing', true);
    door.set('etag', false);
    door.disable('x-powered-by');

    const cookies = cookiesOf(configuration);
    const routes = new RouteTable();
    const baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
    const responses = new ErrorResponses(baseUrl, log);
    const module = AppModule.with([
      { provide: Configuration, useValue: configuration },
      { provide: Database, useValue: stores.database },
      { provide: TransientStore, useValue: stores.transient },
      { provide: InvalidationBus, useValue: bus },
      { provide: Clock, useClass: SystemClock },
      { provide: Logger, useValue: log },
      { provide: ExecutionPlace, useValue: executionPlace(configuration, stores, build.version) },
      { provide: Cookies, useValue: cookies },
      { provide: BuildInfo, useValue: build },
      { provide: ErrorFilter, useValue: new ErrorFilter(responses, routes) },
      { provide: MetadataHealth, useValue: { check: async () => void (await stores.database.query('SELECT 1')) } },
    ]);
    const app = await NestFactory.create<NestExpressApplication>(module, new HttpListener(door, baseUrl), {
      bodyParser: false,
      logger: false,
      abortOnError: false,
    });
    const server = new RunningServer(parts, app, bus, await startTracing(configuration, build.version, log));
    try {
      await server.#open(door, cookies, routes);
    } catch (error) {
      await server.#close();
      throw error;
    }
    return server;
  }

  async #open(door: express.Express, cookies: Cookies, routes: RouteTable): Promise<void> {
    const { app, parts } = this;
    const { configuration, stores, log } = parts;
    await this.bus.start();
    installPipeline(door, {
      configuration,
      transient: stores.transient,
      authenticator: app.get(Authenticator),
      csrf: app.get(CsrfTokens),
      trail: app.get(AccessTrail),
      cookies,
      routes,
      log,
    });
    const around = { admission: app.get(Admission), limits: bodyLimits(configuration) };
    const serving = app.get(ServingController);
    door.use(directRoute({ controller: serving, handler: 'serve', pathClass: 'endpoint' }, around));
    const graphql = app.get(GraphqlController);
    door.use(directRoute({ controller: graphql, handler: 'run', pathClass: 'graphql' }, around));
    serveStatic(door);
    await app.init();
    routes.set(routesOf(app));
    await this.#refuseBrokenContent();
    await this.#seed();
    await app.get(ExecutionJobs).start({ alone: parts.embedded !== undefined });
    app.get(IdentityJobs).start();
    await this.#listen();
    app.get(Readiness).serve();
    // Not awaited: an identity provider that is away stops nobody but the people who need it.
    void app.get(OidcLoginService).warm();
  }

  /** Content that could not run, or that this posture does not allow, stops the boot with every offender named. */
  async #refuseBrokenContent(): Promise<void> {
    const problems = await this.app.get(ContentGate).problems();
    if (problems.length > 0) throw new PenstockError('internal', { message: problems.join('\n') });
  }

  async #seed(): Promise<void> {
    const { configuration, embedded, log } = this.parts;
    await this.app.get(SystemActor).id();
    const admin = await this.app.get(BootstrapAdmin).ensure();
    if (admin.oneTimePassword !== undefined && admin.email !== undefined && embedded) {
      const file = await keepOneTimePassword(embedded.directory, admin.email, admin.oneTimePassword);
      process.stdout.write(
        `\nFirst start. Sign in as ${admin.email} with the one-time password ${admin.oneTimePassword}\n(kept in ${file}; you choose your own at the first sign-in)\n\n`,
      );
    }
    if (admin.mismatch) {
      log.warn(
        'auth.bootstrap-admin-email was changed, or set when its account was there already: it gives nobody rights now. An administrator can grant them.',
        { event: 'auth.local.bootstrap_mismatch' },
      );
    }
    if (admin.pending && !embedded) {
      log.warn('The first administrator has not chosen a password yet.', {
        event: 'auth.local.one_time_credential_pending',
      });
    }
    await this.app.get(ExampleFile).bring();
    if (configuration.get('datapipelines.demo')) await seedDemo(this.app, embedded, log);
  }

  async #listen(): Promise<void> {
    const { configuration, log } = this.parts;
    const http = this.app.getHttpServer() as import('node:http').Server;
    const managementPort = await this.#management.listen(
      configuration.get('datapipelines.management.port'),
      configuration.get('datapipelines.management.address'),
      () => metricsText(() => this.app.get(ExecutionInstance, { strict: false }).metricsOfThreads()),
    );
    const host = configuration.get('datapipelines.management.address');
    protectStore(this.app);
    this.app.get(EgressPolicy, { strict: false }).protect(() => ({ rule: 'management', host, port: managementPort }));
    await this.app.listen(
      configuration.get('datapipelines.server.port'),
      configuration.get('datapipelines.server.address'),
    );
    const { port } = http.address() as AddressInfo;
    log.info(`Serving on port ${port}; metrics on ${managementPort}.`, {
      event: 'server.listening',
      port,
      management_port: managementPort,
    });
  }

  /** 02 §9.3: refuse and drain runs while the listener stays, then close streams, HTTP, pools and stores. */
  async stop(options: { hurry: boolean }): Promise<void> {
    this.app.get(Readiness).drain();
    await this.app.get(Drain).begin(options);
    await this.#close();
  }

  /** A dead thread is still inside a native call, which `process.exit` would wait for, for ever. */
  get cannotExit(): boolean {
    return this.app.get(ExecutionInstance, { strict: false }).lingeringThreads > 0;
  }

  async #close(): Promise<void> {
    const { stores, embedded, log } = this.parts;
    const steps: [string, () => Promise<unknown>][] = [
      ['management', () => this.#management.close()],
      ['identity jobs', () => this.app.get(IdentityJobs).stop()],
      ['execution jobs', () => this.app.get(ExecutionJobs).stop()],
      ['application', () => this.#closeApplication()],
      ['tracing', () => this.stopTracing()],
      ['bus', () => this.bus.stop()],
      ['transient', () => stores.transient.close()],
      ['database', () => stores.database.close()],
      ['postgres', async () => embedded?.postgres.stop()],
    ];
    for (const [name, close] of steps) {
      try {
        await close();
      } catch (error) {
        log.warn(`Closing ${name} failed.`, { error });
      }
    }
  }

  async #closeApplication(): Promise<void> {
    await this.app.get(UseStamps).settled();
    await this.app.get(PasswordReset).settled();
    await this.app.get(MailDispatcher).stop();
    const http = this.app.getHttpServer() as import('node:http').Server;
    http.closeIdleConnections();
    http.closeAllConnections();
    await this.app.close();
    // Nothing comes in any more: what the trail owes is complete.
    await this.app.get(AccessTrail).close();
  }
}

function cookiesOf(configuration: Configuration): Cookies {
  return new Cookies(
    configuration.get('datapipelines.auth.cookie-secure'),
    configuration.get('datapipelines.auth.session.host-prefix'),
  );
}
