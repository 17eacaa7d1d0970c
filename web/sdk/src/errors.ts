/** One error for everything that goes wrong, with the server's own code and words. */

export class MajlisError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  /** Seconds after which another try makes sense, where the server has said so. */
  readonly retryAfter: number

  constructor(status: number, code: string, message: string, details: Record<string, unknown> = {}, retryAfter = 0) {
    super(message)
    this.name = 'MajlisError'
    this.status = status
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
  }

  /** Whether the same call may succeed later: nobody there, too often, or a part of the server is down. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

export function unreachable(): MajlisError {
  return new MajlisError(0, 'unreachable', 'Majlis cannot be reached. Check your connection and try again.')
}

/** From an answer that is no success, whoever has sent it: a proxy's page is an error too. */
export function errorOf(status: number, body: unknown, retryAfter: string | null): MajlisError {
  const error = (body as { error?: { code?: string; message?: string; details?: Record<string, unknown> } } | null)?.error
  const message = error?.message ?? `The server answered with status ${status}.`
  return new MajlisError(status, error?.code ?? 'unexpected_answer', message, error?.details, Number(retryAfter) || 0)
}
