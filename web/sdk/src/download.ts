/** Reads the content of a file, or a part of it. */
import { headersOf, type ClientOptions } from './client.ts'
import { errorOf, unreachable } from './errors.ts'

export interface Range {
  start?: number
  /** The first byte that is not read. */
  end?: number
}

const TIMEOUT_MS = 30_000

export async function read(options: ClientOptions, id: string, { start = 0, end }: Range): Promise<ArrayBuffer> {
  const part = start > 0 || end !== undefined
  const headers = { ...headersOf(options), ...(part ? { Range: `bytes=${start}-${end === undefined ? '' : end - 1}` } : {}) }
  const call = async () => {
    const request = new Request(`${options.baseUrl ?? ''}/api/files/${encodeURIComponent(id)}`, { headers })
    const response = await (options.fetch ?? fetch)(request, { signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS) })
    return { response, content: await response.arrayBuffer() }
  }
  const { response, content } = await call().catch(() => {
    throw unreachable()
  })
  // A range that begins behind the end, also in an empty file, is empty.
  if (response.status === 416) return new ArrayBuffer(0)
  if (response.ok) return content
  throw errorOf(response.status, parsed(content), response.headers.get('Retry-After'))
}

function parsed(content: ArrayBuffer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(content))
  } catch {
    return null
  }
}
