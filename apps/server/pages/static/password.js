import { call, returnPath, submitting } from './session.js';

submitting(document.getElementById('password-change'), async (fields) => {
  await call('POST', '/api/v1/auth/password', fields);
  window.location.assign(returnPath());
});
