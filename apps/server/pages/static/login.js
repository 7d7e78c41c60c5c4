import { call, returnPath, submitting } from './session.js';

const SENTENCES = {
  credentials: 'E-mail or password is wrong.',
  locked: 'Too many wrong passwords: this account is locked for a while.',
  inactive: 'This account is not active. Ask an administrator.',
};
const refused = new URLSearchParams(window.location.search).get('error');
document.querySelector('[role=alert]').textContent = SENTENCES[refused] ?? '';

submitting(document.getElementById('login'), async ({ email, password }) => {
  const me = await call('POST', '/login', { email, password });
  window.location.assign(
    me.must_change_password ? `/settings/password?return_to=${encodeURIComponent(returnPath())}` : returnPath(),
  );
});
