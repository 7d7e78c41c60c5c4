/** What the pages share: the CSRF header and one way to call the server and read its errors. */
export function csrfToken() {
  const cookie = document.cookie.split('; ').find((pair) => /^(__Host-)?dp_csrf=/.test(pair));
  return cookie ? decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1)) : '';
}

export async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'DP-CSRF-Token': csrfToken() },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (response.status === 204) return undefined;
  const answer = await response.json();
  if (response.ok) return answer.data;
  throw Object.assign(new Error(answer.error.message), {
    code: answer.error.code,
    hint: answer.error.user_message,
    details: answer.error.details,
  });
}

/** Where to go next: only a path of this server. */
export function returnPath() {
  const wanted = new URLSearchParams(window.location.search).get('return_to') ?? '/';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) && !wanted.includes('\\') ? wanted : '/';
}

export function submitting(form, work) {
  const alert = form.querySelector('[role=alert]');
  const button = form.querySelector('button');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    alert.textContent = '';
    button.disabled = true;
    try {
      await work(Object.fromEntries(new FormData(form)));
    } catch (error) {
      alert.textContent = error.hint ? `${error.message} ${error.hint}` : error.message;
      button.disabled = false;
    }
  });
}
