/* global SwaggerUIBundle */

/** The published endpoint to show instead of the whole API: `?endpoint=/fleet/idle`. */
const endpoint = new URLSearchParams(window.location.search).get('endpoint');

const cookie = (name) =>
  document.cookie
    .split('; ')
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

SwaggerUIBundle({
  url: endpoint ? `/api/v1/endpoints/openapi.json?path=${encodeURIComponent(endpoint)}` : '/docs/openapi.json',
  dom_id: '#api',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  validatorUrl: null,
  deepLinking: true,
  // Hundreds of routes drawn at once keep a slow machine busy for half a minute: a group is drawn when it is opened.
  docExpansion: endpoint ? 'full' : 'none',
  defaultModelsExpandDepth: 0,
  filter: !endpoint,
  tryItOutEnabled: true,
  requestInterceptor: (request) => {
    const token = cookie('__Host-dp_csrf') ?? cookie('dp_csrf');
    if (token && !['GET', 'HEAD'].includes(String(request.method ?? 'GET').toUpperCase())) {
      request.headers['DP-CSRF-Token'] = token;
    }
    return request;
  },
});

const caller = document.getElementById('caller');
const signIn = () => {
  const link = document.createElement('a');
  link.href = `/login?return_to=${encodeURIComponent(window.location.pathname + window.location.search)}`;
  link.textContent = 'Sign in';
  caller.replaceChildren(link, ' to run requests as yourself, or give an API key under Authorize.');
};
fetch('/api/v1/auth/me', { headers: { Accept: 'application/json' } })
  .then(async (answer) => {
    if (!answer.ok) return signIn();
    const { data } = await answer.json();
    caller.textContent = `Requests run as ${data.display_name}${data.workspace ? ` in ${data.workspace.name}` : ''}.`;
  })
  .catch(() => {
    caller.textContent = 'The server does not answer.';
  });
