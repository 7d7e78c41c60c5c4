import { call, returnPath, submitting } from './session.js';

submitting(document.getElementById('login'), async ({ email, password }) => {
  const me = await call('POST', '/login', { email, password });
  window.location.assign(
    me.must_change_password ? `/settings/password?return_to=${encodeURIComponent(returnPath())}` : returnPath(),
  );
});
