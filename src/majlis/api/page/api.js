/** Calls to the gateway. Every refusal arrives as an Error whose message is fit to be shown. */

const PATIENCE_MILLIS = 15000;

export async function call(method, path, body) {
  let answer, data;
  try {
    const headers = body ? { 'Content-Type': 'application/json' } : {};
    const signal = AbortSignal.timeout(PATIENCE_MILLIS);
    answer = await fetch(path, { method, headers, body: JSON.stringify(body), signal });
    data = answer.status === 204 ? null : await answer.json();
  } catch {
    throw new Error('Majlis cannot be reached.');
  }
  // The session has ended: this address now holds the page to sign in with.
  if (answer.status === 401) location.reload();
  if (!answer.ok) throw Object.assign(new Error(data.error.message), { status: answer.status });
  return data;
}

/** Not crypto.randomUUID, which browsers keep back from plain http on a local network. */
export function newClientId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
