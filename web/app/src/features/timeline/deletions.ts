/** Deletions that can still be undone: they are sent after five seconds. */
import type { Message, Store } from '@majlis/client'
import { useSyncExternalStore } from 'react'

import { toast } from '../../ui/toast.tsx'

const UNDO_MS = 5000
const waiting = new Map<string, ReturnType<typeof setTimeout>>()
const listeners = new Set<() => void>()

export function deleteSoon(store: Store, message: Message): void {
  if (waiting.has(message.id)) return
  const send = () =>
    store.client.messages
      .delete(message.id)
      .catch((error: Error) => toast(error.message))
      .finally(() => forget(message.id))
  waiting.set(message.id, setTimeout(() => void send(), UNDO_MS))
  listeners.forEach((each) => each())
}

export function undoDeletion(messageId: string): void {
  clearTimeout(waiting.get(messageId))
  forget(messageId)
}

export function useIsLeaving(messageId: string): boolean {
  return useSyncExternalStore(subscribe, () => waiting.has(messageId))
}

function forget(messageId: string): void {
  waiting.delete(messageId)
  listeners.forEach((each) => each())
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
