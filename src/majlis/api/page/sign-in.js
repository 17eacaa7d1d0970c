/** Exchanges the token for a session cookie. After a reload the same address shows the app. */

const form = document.getElementById('sign-in');
const token = document.getElementById('token');
const problem = document.getElementById('problem');
const button = form.querySelector('button');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  problem.textContent = '';
  problem.textContent = await signIn(token.value.trim());
  button.disabled = false;
  if (problem.textContent) token.select();
});

async function signIn(value) {
  try {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch('/api/session', { method: 'POST', headers, body: JSON.stringify({ token: value }) });
    if (answer.status === 401 && form.dataset.refused) return form.dataset.refused;
    if (!answer.ok) return (await answer.json()).error.message;
    location.reload();
    return '';
  } catch {
    return form.dataset.unreachable;
  }
}
