/** Uploads a file and reports the progress, which `fetch` cannot do in a browser. */
import { headersOf, type ClientOptions } from './client.ts'
import { errorOf, unreachable } from './errors.ts'
import type { FileInfo } from './types.ts'

export interface UploadOptions {
  /** By default the name of a `File`. */
  name?: string
  /** Chosen for this file. An upload that is repeated with the same key stores nothing twice. */
  key?: string
  /** Called with a number from 0 to 1. */
  onProgress?: (part: number) => void
  signal?: AbortSignal
}

/** An upload ends when it makes no progress for this long. */
const STALLED_MS = 60_000

export async function upload(options: ClientOptions, spaceId: string, file: Blob, more: UploadOptions = {}): Promise<FileInfo> {
  const url = `${options.baseUrl ?? ''}/api/spaces/${encodeURIComponent(spaceId)}/files`
  const headers = { ...headersOf(options), ...(more.key ? { 'Idempotency-Key': more.key } : {}) }
  const form = new FormData()
  form.append('file', file, more.name ?? (file instanceof File ? file.name : 'file'))
  const send = typeof XMLHttpRequest === 'undefined' ? sendWithoutProgress : sendWithProgress
  const { status, text, retryAfter } = await send(url, headers, form, more, options)
  const body = parsed(text)
  if (status >= 200 && status < 300 && body) return body as FileInfo
  throw errorOf(status, body, retryAfter)
}

interface Answer {
  status: number
  text: string
  retryAfter: string | null
}

function sendWithProgress(url: string, headers: Record<string, string>, form: FormData, { onProgress, signal }: UploadOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    let timer: ReturnType<typeof setTimeout> | undefined
    const isAlive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => request.abort(), STALLED_MS)
    }
    const abort = () => request.abort()
    const fail = () => reject(signal?.aborted ? signal.reason : unreachable())
    request.upload.onprogress = ({ loaded, total }) => {
      isAlive()
      onProgress?.(total > 0 ? loaded / total : 0)
    }
    request.onload = () => resolve({ status: request.status, text: request.responseText, retryAfter: request.getResponseHeader('Retry-After') })
    request.onerror = fail
    request.onabort = fail
    request.onloadend = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    if (signal?.aborted) return fail()
    signal?.addEventListener('abort', abort)
    request.open('POST', url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    isAlive()
    request.send(form)
  })
}

/** For programs outside of a browser. */
async function sendWithoutProgress(url: string, headers: Record<string, string>, form: FormData, { signal, onProgress }: UploadOptions, options: ClientOptions): Promise<Answer> {
  const call = (options.fetch ?? fetch)(new Request(url, { method: 'POST', headers, body: form, ...(signal ? { signal } : {}) }))
  const response = await call.catch(() => {
    throw signal?.aborted ? signal.reason : unreachable()
  })
  onProgress?.(1)
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('Retry-After') }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
