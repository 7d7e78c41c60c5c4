import { call, submitting } from './session.js';

const SECTIONS = ['ask', 'asked', 'choose', 'done', 'off'];
let token = null;

function show(section) {
  for (const id of SECTIONS) document.getElementById(id).hidden = id !== section;
  document.querySelector(`#${section} input`)?.focus();
}

/** The address bar and the history forget the token; this page keeps it. */
function takeToken() {
  const found = new URLSearchParams(window.location.hash.slice(1)).get('token');
  if (found === null) return false;
  token = found;
  window.history.replaceState(null, '', '/reset-password');
  return true;
}

submitting(document.getElementById('request'), async ({ email }) => {
  await call('POST', '/api/v1/auth/password-reset/request', { email });
  document.getElementById('address').textContent = email;
  show('asked');
});

submitting(document.getElementById('confirm'), async ({ new_password }) => {
  await call('POST', '/api/v1/auth/password-reset/confirm', { token, new_password });
  show('done');
});

// A link that is opened where this page is open already loads nothing anew.
window.addEventListener('hashchange', () => {
  if (takeToken()) show('choose');
});

const linked = takeToken();
const { password_reset: offered } = await call('GET', '/api/v1/auth/providers').catch(() => ({ password_reset: true }));
show(offered ? (linked ? 'choose' : 'ask') : 'off');
