import { call, submitting } from './session.js';

const SECTIONS = ['ask', 'asked', 'choose', 'done', 'off'];

function show(section) {
  for (const id of SECTIONS) document.getElementById(id).hidden = id !== section;
  document.querySelector(`#${section} input`)?.focus();
}

const token = new URLSearchParams(window.location.hash.slice(1)).get('token');
// The address bar and the history forget the token; this page keeps it.
if (token !== null) window.history.replaceState(null, '', '/reset-password');

submitting(document.getElementById('request'), async ({ email }) => {
  await call('POST', '/api/v1/auth/password-reset/request', { email });
  document.getElementById('address').textContent = email;
  show('asked');
});

submitting(document.getElementById('confirm'), async ({ new_password }) => {
  await call('POST', '/api/v1/auth/password-reset/confirm', { token, new_password });
  show('done');
});

const { password_reset: offered } = await call('GET', '/api/v1/auth/providers').catch(() => ({ password_reset: true }));
show(offered ? (token === null ? 'ask' : 'choose') : 'off');
