import { call } from './session.js';

const element = (id) => document.getElementById(id);

function row(list, name, text, href) {
  const item = document.createElement('li');
  const label = document.createElement(href ? 'a' : 'b');
  label.textContent = name;
  if (href) label.href = href;
  const detail = document.createElement('span');
  detail.textContent = text;
  item.append(label, detail);
  list.append(item);
}

/** A failed read is an error line, never an empty list. */
async function fill(id, path, empty, render) {
  const list = element(id);
  try {
    const { items } = await call('GET', path);
    list.replaceChildren();
    for (const item of items) render(list, item);
    if (items.length === 0) row(list, empty, '');
  } catch (error) {
    list.replaceChildren();
    row(list, 'Could not be loaded', `${error.message} (${error.code ?? 'network'})`);
  }
}

async function start() {
  let me;
  try {
    me = await call('GET', '/api/v1/auth/me');
  } catch (error) {
    if (String(error.code).startsWith('auth.')) return window.location.assign('/login');
    element('failure').textContent = error.message;
    return undefined;
  }
  if (me.must_change_password) return window.location.assign('/settings/password');
  element('who').textContent =
    `${me.display_name} (${me.email})${me.workspace ? ` in workspace ${me.workspace.name}` : ''}`;
  await Promise.all([
    fill(
      'endpoints',
      '/api/v1/endpoints',
      'Nothing is published yet. Release a pipeline, then POST /api/v1/endpoints.',
      (list, endpoint) => row(list, `GET ${endpoint.url}`, endpoint.description || endpoint.pipeline_name || ''),
    ),
    fill(
      'pipelines',
      '/api/v1/pipelines',
      'No pipelines in this workspace yet. POST /api/v1/pipelines makes the first.',
      (list, pipeline) =>
        row(list, pipeline.display_name, `${pipeline.name} · version ${pipeline.version} ${pipeline.status}`),
    ),
  ]);
  return undefined;
}

element('logout').addEventListener('click', async () => {
  await call('POST', '/logout');
  window.location.assign('/login');
});
void start();
