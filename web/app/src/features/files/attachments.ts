/**
 * The files of drafts: uploaded as soon as they are chosen, also while the person looks at another space. Finished ones
 * are stored with the draft, per person and space.
 */
import { MajlisError, type Client, type FileInfo } from '@majlis/client'
import { useSyncExternalStore } from 'react'

import { t } from '../../language/words.ts'
import { loadItem, removeItem, saveItem } from '../../ui/storage.ts'

export interface Attachment {
  /** Chosen here; an upload that is tried again keeps it, so that the server stores it once. */
  readonly key: string
  readonly name: string
  readonly bytes: number
  readonly status: 'waiting' | 'uploading' | 'done' | 'failed'
  /** From 0 to 1. */
  readonly progress: number
  readonly problem?: string
  /** The same upload can succeed later. */
  readonly retryable?: boolean
  readonly file?: FileInfo
}

export const MAX_FILES = 20
const AT_ONCE = 3
const NONE: readonly Attachment[] = []

const drafts = new Map<string, readonly Attachment[]>()
const uploads = new Map<string, { source: File; abort: AbortController }>()
const listeners = new Set<() => void>()

export const useAttachments = (me: string, spaceId: string): readonly Attachment[] => useSyncExternalStore(subscribe, () => attachmentsOf(me, spaceId))

export function attachmentsOf(me: string, spaceId: string): readonly Attachment[] {
  const id = idOf(me, spaceId)
  if (!drafts.has(id)) drafts.set(id, stored(id))
  return drafts.get(id)!
}

/** Starts to upload files. Returns what is wrong, if they cannot be attached. */
export function attach(client: Client, me: string, spaceId: string, files: readonly File[]): string | null {
  const before = attachmentsOf(me, spaceId)
  if (before.length + files.length > MAX_FILES) return t('A message can have up to {MAX_FILES} files.', { MAX_FILES })
  const added = files.map((source): Attachment => {
    const key = crypto.getRandomValues(new Uint32Array(4)).join('-')
    uploads.set(key, { source, abort: new AbortController() })
    return { key, name: source.name, bytes: source.size, status: 'waiting', progress: 0 }
  })
  put(idOf(me, spaceId), [...before, ...added])
  startWaiting(client, me, spaceId)
  return null
}

/** Cancels the upload, or takes the finished file off the draft. */
export function detach(client: Client, me: string, spaceId: string, key: string): void {
  uploads.get(key)?.abort.abort()
  uploads.delete(key)
  put(idOf(me, spaceId), attachmentsOf(me, spaceId).filter((each) => each.key !== key))
  startWaiting(client, me, spaceId)
}

export function retryUpload(client: Client, me: string, spaceId: string, key: string): void {
  set(idOf(me, spaceId), key, { status: 'waiting', progress: 0 })
  startWaiting(client, me, spaceId)
}

/** The files of a message that is about to be sent. They leave the draft. */
export function takeFiles(me: string, spaceId: string): FileInfo[] {
  const files = attachmentsOf(me, spaceId).flatMap((each) => each.file ?? [])
  put(idOf(me, spaceId), NONE)
  return files
}

/** Puts the files of a message that was not sent back into the draft. */
export function restoreFiles(me: string, spaceId: string, files: readonly FileInfo[]): void {
  put(idOf(me, spaceId), [...attachmentsOf(me, spaceId), ...files.map(finished)])
}

function startWaiting(client: Client, me: string, spaceId: string): void {
  const all = attachmentsOf(me, spaceId)
  const room = AT_ONCE - all.filter((each) => each.status === 'uploading').length
  for (const each of all.filter(({ status }) => status === 'waiting').slice(0, Math.max(0, room))) void start(client, me, spaceId, each.key)
}

async function start(client: Client, me: string, spaceId: string, key: string): Promise<void> {
  const [id, running] = [idOf(me, spaceId), uploads.get(key)]
  if (!running) return
  set(id, key, { status: 'uploading' })
  try {
    const onProgress = (progress: number) => set(id, key, { progress })
    const file = await client.files.upload(spaceId, running.source, { key, signal: running.abort.signal, onProgress })
    set(id, key, { status: 'done', progress: 1, name: file.name, file })
    uploads.delete(key)
  } catch (error) {
    if (!running.abort.signal.aborted) set(id, key, { status: 'failed', problem: (error as Error).message, retryable: !(error instanceof MajlisError) || error.retryable })
  }
  startWaiting(client, me, spaceId)
}

function set(id: string, key: string, change: Partial<Attachment>): void {
  const all = drafts.get(id) ?? NONE
  if (all.some((each) => each.key === key)) put(id, all.map((each) => (each.key === key ? { ...each, ...change } : each)))
}

function put(id: string, attachments: readonly Attachment[]): void {
  const before = drafts.get(id) ?? NONE
  drafts.set(id, attachments)
  const files = attachments.flatMap((each) => each.file ?? [])
  if (files.length > 0) saveItem(id, JSON.stringify(files))
  else if (before.some((each) => each.file)) removeItem(id)
  listeners.forEach((each) => each())
}

function stored(id: string): readonly Attachment[] {
  try {
    return (JSON.parse(loadItem(id) ?? '[]') as FileInfo[]).map(finished)
  } catch {
    return NONE
  }
}

const finished = (file: FileInfo): Attachment => ({ key: file.id, name: file.name, bytes: file.bytes, status: 'done', progress: 1, file })

const idOf = (me: string, spaceId: string): string => `majlis.files.${me}.${spaceId}`

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
