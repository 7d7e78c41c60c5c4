import { apiUnderLoad } from './api-under-load.js';
import type { BenchPath } from './bench-path.js';
import { browseLevel } from './browse-level.js';
import { cancel } from './cancel.js';
import { crash } from './crash.js';
import { ftlRender } from './ftl-render.js';
import { factsListing } from './facts-listing.js';
import { introspection } from './introspection.js';
import { lakeScan } from './lake-scan.js';
import { graphqlPage } from './graphql-page.js';
import { leak } from './leak.js';
import { loginsBesideEndpoint } from './logins-beside-endpoint.js';
import { memory } from './memory.js';
import { mcp } from './mcp.js';
import { nodeOverhead } from './node-overhead.js';
import { peers } from './peers.js';
import { plans } from './plans.js';
import { publishedEndpoint } from './published-endpoint.js';
import { resultPage } from './result-page.js';
import { sseFanout } from './sse-fanout.js';
import { sseStreams } from './sse-streams.js';
import { staging } from './staging.js';
import { stagingAppend } from './staging-append.js';
import { stagingMemory } from './staging-memory.js';
import { start } from './start.js';
import { steadyLoad } from './steady-load.js';
import { storedResult } from './stored-result.js';
import { trivialRun } from './trivial-run.js';
import { validateDocument } from './validate-document.js';
import { warmKey } from './warm-key.js';

export const PATHS: readonly BenchPath[] = [
  trivialRun,
  nodeOverhead,
  staging,
  stagingAppend,
  stagingMemory,
  apiUnderLoad,
  cancel,
  sseStreams,
  sseFanout,
  crash,
  leak,
  plans,
  peers,
  steadyLoad,
  storedResult,
  resultPage,
  publishedEndpoint,
  graphqlPage,
  validateDocument,
  ftlRender,
  lakeScan,
  browseLevel,
  factsListing,
  introspection,
  loginsBesideEndpoint,
  warmKey,
  mcp,
  memory,
  start,
];
