import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './console.css';
import { GraphiQL } from 'graphiql';
import { createClient } from 'graphql-sse';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { examples } from './examples.js';

function csrfToken() {
  const cookie = document.cookie.split('; ').find((pair) => /^(__Host-)?dp_csrf=/.test(pair));
  return cookie ? decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1)) : '';
}

/** The content type is the stream client's own; naming it here as well would send it twice. */
const stream = createClient({
  url: '/graphql/stream',
  headers: () => ({ 'DP-CSRF-Token': csrfToken() }),
  retryAttempts: 3,
});

/** Subscriptions run over server-sent events, everything else is one POST. */
async function fetcher(parameters, options) {
  if (isSubscription(parameters, options)) return stream.iterate(parameters);
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'DP-CSRF-Token': csrfToken(), ...options?.headers },
    body: JSON.stringify(parameters),
  });
  if (response.status === 401) window.location.assign('/login?return_to=/graphql');
  return response.json();
}

function isSubscription({ operationName }, options) {
  const definitions = options?.documentAST?.definitions ?? [];
  return definitions.some(
    (definition) =>
      definition.kind === 'OperationDefinition' &&
      definition.operation === 'subscription' &&
      (!operationName || definition.name?.value === operationName),
  );
}

createRoot(document.getElementById('console')).render(
  createElement(GraphiQL, {
    fetcher,
    defaultTabs: examples,
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: true,
  }),
);
