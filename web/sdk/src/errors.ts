/** The only error of the client, with the server's code and message. */
export class MajlisError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  /** Seconds to wait before a retry, if the server said so. */
  readonly retryAfter: number

  constructor(status: number, code: string, message: string, details: Record<string, unknown> = {}, retryAfter = 0) {
    super(message)
    this.name = 'MajlisError'
    this.status = status
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
  }

  /** The same call can succeed later: the server was unreachable, overloaded or failing. */
  get retryable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

export function unreachable(): MajlisError {
  return new MajlisError(0, 'unreachable', 'Can’t reach Majlis. Check your connection and try again.')
}

/** From any error response, including the HTML page of a proxy. */
export function errorOf(status: number, body: unknown, retryAfter: string | null): MajlisError {
  const error = (body as { error?: { code?: string; message?: string; details?: Record<string, unknown> } } | null)?.error
  const message = error?.message ?? `Unexpected response from the server (status ${status}). Try again later.`
  return new MajlisError(status, error?.code ?? 'unexpected_answer', message, error?.details, Number(retryAfter) || 0)
}
