import { call, returnPath, submitting } from './session.js';

const SENTENCES = {
  credentials: 'E-mail or password is wrong.',
  locked: 'Too many wrong passwords: this account is locked for a while.',
  inactive: 'This account is not active. Ask an administrator.',
  oidc_error:
    'Signing in through the provider did not work. Please start again; if it keeps failing, tell your administrator.',
  domain_not_allowed:
    'Addresses of this e-mail domain are not admitted here. Use your work account, or ask the administrator.',
  identity_mismatch:
    'This e-mail address already belongs to an account with another sign-in. Ask an administrator to reset its identity.',
};
const refused = new URLSearchParams(window.location.search).get('error');
document.getElementById('refusal').textContent = SENTENCES[refused] ?? '';

const form = document.getElementById('login');
submitting(form, async ({ email, password }) => {
  const me = await call('POST', '/login', { email, password });
  window.location.assign(
    me.must_change_password ? `/settings/password?return_to=${encodeURIComponent(returnPath())}` : returnPath(),
  );
});

const methods = await call('GET', '/api/v1/auth/providers').catch(() => ({ local: true, providers: [] }));
form.hidden = !methods.local;
document.getElementById('forgotten').hidden = !methods.password_reset;
document.getElementById('first-start').hidden = !methods.local || methods.providers.length > 0;
if (methods.local) document.getElementById('email').focus();

const list = document.getElementById('providers');
list.hidden = methods.providers.length === 0;
list.classList.toggle('after-form', methods.local);
for (const { name, display_name: shown } of methods.providers) {
  const way = document.createElement('a');
  way.className = 'button full';
  way.href = `/oauth2/authorization/${name}?return_to=${encodeURIComponent(returnPath())}`;
  way.textContent = `Continue with ${shown}`;
  list.append(way);
}
